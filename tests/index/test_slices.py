import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, listed, near, nearest, queries_near, signatures
from tests.oracle_slices import SliceOracle, cut, number, slices_of

from sosie.errors import UsageError
from sosie.index import slice_store
from sosie.index.slice_search import SliceSearch
from sosie.index.slice_store import slice_table
from sosie.index.slices import SliceIndex
from sosie.planner.methods.slices import list_bytes
from sosie.types import Signatures

ADVERSARIAL = ("one slice", "every slice")


def adversarial(kind, count, width):
    """Return rows that differ from 0 in one slice alone, or by one bit in every slice."""
    words = np.zeros((count, 1), np.uint64)
    for row in range(count):
        if kind == "one slice":
            words[row] = row % 2**width << width * (row % (64 // width))
        else:
            words[row] = sum(1 << width * place + (row + place) % width for place in range(64 // width))
    return Signatures(words)


def efforts(width):
    breadths = st.integers(0, width)
    return st.builds(
        SliceSearch,
        breadth=breadths | st.none(),
        candidates=st.integers(1, 40),
        stop=st.sampled_from(("early", "certain", "all")),
        distance=st.sampled_from(("pessimistic", "optimistic")),
    ) | breadths.flatmap(lambda j: st.builds(SliceSearch, st.integers(j, width), st.integers(1, 40), j=st.just(j)))


@settings(max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    count=st.integers(1, 60),
    bits=st.sampled_from((1, 2, 13, 24, 64, 70, 131)),
    width=st.integers(2, 7),
    k=st.integers(1, 70),
    data=st.data(),
)
def test_search_does_what_the_papers_say(kind, count, bits, width, k, data):
    effort = data.draw(efforts(max(high - low for low, high in slices_of(bits, width))))
    rows = signatures(kind, count, bits)
    queries = queries_near(rows, 3)
    oracle = SliceOracle(rows, width)
    index = SliceIndex(rows, width, effort)
    for query in range(len(queries)):
        matches = index.search(Signatures(queries.words[query : query + 1], bits), k)
        found, rule, breadth = oracle.search(number(queries.words[query]), k, effort)
        assert listed(matches) == [found]
        counters = matches.counters
        assert counters["lists"] == oracle.visited
        assert counters["postings"] == oracle.postings
        assert counters["breadth"] == breadth
        assert {name: counters[f"stopped_{name}"] for name in ("all", "certain", "early")} == {
            name: int(name == rule) for name in ("all", "certain", "early")
        }
        truth = nearest(Signatures(queries.words[query : query + 1], bits), rows, k)
        assert matches.recall in (None, 1.0)
        assert matches.recall is None or listed(matches) == truth
        assert matches.recall == 1.0 or rule == "early"


@pytest.mark.parametrize(("bits", "width"), [(1, 2), (63, 16), (64, 16), (100, 28), (1000, 7), (4096, 12)])
def test_the_lists_hold_every_row_once_in_every_slice(bits, width):
    rows = signatures("clustered", 50, bits)
    lists = slice_table(SliceIndex(rows, width)._state).lists
    spans = slices_of(bits, width)
    assert list(zip(lists.edges[:-1], lists.edges[1:], strict=True)) == spans
    for which, span in enumerate(spans):
        for row, words in enumerate(rows.words):
            at = lists.starts[which] + cut(number(words), span)
            assert row in lists.rows[which, lists.offsets[at] : lists.offsets[at + 1]]
        assert sorted(lists.rows[which]) == list(range(50))


@pytest.mark.parametrize("breadth", range(8))
def test_the_number_of_lists(breadth):
    rows = signatures("random", 20, 1000)
    counters = SliceIndex(rows, 7, SliceSearch(breadth=breadth)).search(rows, 3).counters
    widths = [high - low for low, high in slices_of(1000, 7)]
    assert set(widths) == {6, 7}
    assert counters["lists"] == 20 * sum(math.comb(width, i) for width in widths for i in range(breadth + 1))


def test_the_lists_of_the_papers_are_of_their_size():
    documents = 503_895_545  # ISSL Table 2: 92266.03 MiB at 192 bytes each
    for width, mebibytes in ((23, 180029.43), (24, 177417.01), (25, 176260.59), (26, 177346.38)):
        lists = list_bytes(documents, 1024, width) / 2**20
        assert abs(lists + 92266.03 - mebibytes) < 0.02
    counts = np.cumsum([math.comb(16, i) for i in range(17)])
    rows = signatures("random", 2, 1024)
    for breadth in (0, 1, 2, 3, 4, 16):  # TOPK Table 1
        index = SliceIndex(rows, 16, SliceSearch(breadth))
        assert index.search(rows, 1).counters["lists"] == 2 * 64 * counts[breadth]
    assert counts[[0, 1, 2, 3, 4, 8, 16]].tolist() == [1, 17, 137, 697, 2517, 39203, 65536]


def test_k_complete_rows_are_no_proof():
    """The first row is seen in all slices at radius 1, and yet the second, seen at radius 2 in one slice, is nearer."""
    rows = Signatures(np.array([0x0101010101010101, 0x3], np.uint64))
    query = Signatures(np.zeros(1, np.uint64))
    for stop in ("all", "certain"):
        matches = SliceIndex(rows, 8, SliceSearch(breadth=8, stop=stop, candidates=1)).search(query, 1)
        assert listed(matches) == [[(2, 1)]]
        assert matches.counters["breadth"] == 2


@pytest.mark.parametrize("kind", ADVERSARIAL)
@pytest.mark.parametrize("stop", ("early", "certain", "all"))
def test_full_effort_is_exact_on_adversarial_rows(kind, stop):
    rows = adversarial(kind, 300, 8)
    queries = Signatures(np.concatenate([np.zeros((1, 1), np.uint64), rows.words[::60], ~rows.words[:1]]))
    index = SliceIndex(rows, 8, SliceSearch(breadth=8, candidates=10, stop=stop))
    for k in (1, 10, 300):
        assert listed(index.search(queries, k)) == nearest(queries, rows, k)
    for radius in (0, 1, 7, 8, 9, 64):
        assert listed(index.within(queries, radius)) == near(queries, rows, radius)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("j", (None, 1))
def test_more_breadth_finds_no_less(kind, j):
    rows = signatures(kind, 400, 130)
    queries = queries_near(rows, 6)
    before = [set() for _ in range(len(queries))]
    for breadth in range(j or 0, 6):
        index = SliceIndex(rows, 11, SliceSearch(breadth, candidates=400, j=j))
        found = [set(pairs) for pairs in listed(index.within(queries, 60))]
        exact = near(queries, rows, 60)
        assert all(old <= new <= set(truth) for old, new, truth in zip(before, found, exact, strict=True))
        before = found
        if 60 < (min(breadth, 5 if j is None else j) + 1) * index.slices:
            assert found == [set(truth) for truth in exact]
        for got, truth in zip(listed(index.search(queries, 20)), nearest(queries, rows, 400), strict=True):
            assert set(got) <= set(truth)
            assert all(a >= b for (a, _), (b, _) in zip(got, truth, strict=False))
            assert got == sorted(got)


def test_within_reads_no_list_in_vain():
    rows = signatures("random", 200, 64)
    counters = SliceIndex(rows, 8, SliceSearch(breadth=8)).within(rows, 15).counters
    assert counters["lists"] == 200 * 8 * (1 + 8)
    assert (counters["stopped_certain"], counters["breadth"]) == (200, 1)
    counters = SliceIndex(rows, 8, SliceSearch(breadth=0)).within(rows, 15).counters
    assert (counters["stopped_early"], counters["breadth"]) == (200, 0)


@settings(max_examples=25)
@given(
    pieces=st.lists(st.integers(0, 200), min_size=1, max_size=5),
    gone=st.sets(st.integers(0, 9)),
    effort=st.sampled_from((SliceSearch(1), SliceSearch(3, 5, j=1), SliceSearch(2, 7, distance="optimistic"))),
)
def test_an_approximate_result_does_not_depend_on_how_rows_came(pieces, gone, effort):
    rows = signatures("clustered", sum(pieces), 100)
    queries = queries_near(rows, 4)
    gone = sorted(row for row in gone if row < len(rows))
    whole = SliceIndex(rows, 16, effort)
    grown = SliceIndex(Signatures(rows.words[:0], 100), 16, effort)
    start = 0
    for piece in pieces:
        grown.add(Signatures(rows.words[start : start + piece], 100))
        start += piece
    for index in (whole, grown):
        index.remove(gone)
        assert not gone or not set(gone) & set(index.within(queries, 100).rows.tolist())
    assert listed(grown.search(queries, 7)) == listed(whole.search(queries, 7))
    assert listed(grown.within(queries, 30)) == listed(whole.within(queries, 30))


def test_lists_are_made_anew_seldom_and_without_removed_rows(monkeypatch):
    rows = signatures("clustered", 600, 64)
    built = []
    monkeypatch.setattr(slice_store, "build_lists", lambda *args: built.append(0) or build(*args))
    index = SliceIndex(Signatures(rows.words[:100]), 8, SliceSearch(8))
    index.remove(range(50))
    for row in range(100, 600):
        index.add(Signatures(rows.words[row : row + 1]))
    assert 2 <= len(built) <= 30
    table = slice_table(index._state)
    assert table.lists.rows.shape[1] == table.listed - 50
    queries = queries_near(rows)
    matches = index.search(queries, 9)
    assert listed(matches) == nearest(queries, rows, 9, range(50, 600))
    assert matches.counters["comparisons"] == len(queries) * (600 - table.listed) + matches.counters["candidates"]


build = slice_store.build_lists


def test_too_much_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: 10_000_000)
    rows = signatures("random", 10, 56)
    with pytest.raises(UsageError, match=r"28-bit slices need about 2.1 GB of memory, and this machine has 10.0 MB"):
        SliceIndex(rows, 28)
    index = SliceIndex(rows, 8)
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: 10_000)
    with pytest.raises(UsageError, match="110 rows"):
        index.add(signatures("random", 100, 56))
    assert len(index) == len(index.ids) == 10


def test_the_effort_is_an_argument_of_the_search():
    rows = signatures("clustered", 300, 256)
    queries = queries_near(rows)
    index = SliceIndex(rows)
    assert (index.slices, index.width, index.effort) == (16, 16, SliceSearch())
    few = index.search(queries, 5).counters["lists"]
    narrow = SliceSearch(breadth=1)
    assert index.search(queries, 5, effort=narrow).counters["lists"] == 5 * 16 * 17 < few
    assert index.within(queries, 64, effort=narrow).counters["breadth"] == 1
    assert index.search(queries, 5).counters["lists"] == few and index.effort == SliceSearch()
    with pytest.raises(UsageError, match="is a SliceSearch, got 1"):
        index.search(queries, 5, effort=1)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"breadth": -1}, "breadth"),
        ({"candidates": 0}, "candidates"),
        ({"stop": "soon"}, "'soon'"),
        ({"distance": "true"}, "'true'"),
        ({"j": -1}, "j must"),
        ({"breadth": 2, "j": 3}, "j must"),
        ({"breadth": 2, "j": 1, "stop": "certain"}, "stop='early'"),
    ],
)
def test_options_are_checked(options, named):
    with pytest.raises(UsageError, match=named):
        SliceSearch(**options)


@pytest.mark.parametrize("options", ({"breadth": 9}, {"breadth": None, "j": 9}))
def test_a_breadth_beyond_the_slices_is_refused(options):
    rows = signatures("random", 3, 20)  # slices of 6 and 7 bits
    with pytest.raises(UsageError, match=r"=9 is more than the 7 bits.*breadth=None"):
        SliceIndex(rows, 8, SliceSearch(**options))
    index = SliceIndex(rows, 8, SliceSearch(7))
    with pytest.raises(UsageError, match="more than the 7 bits"):
        index.search(rows, 1, effort=SliceSearch(8))
    assert SliceIndex(signatures("random", 3, 2)).effort.breadth == 2


def test_the_recall_is_stated_where_it_is_known():
    rows = signatures("random", 300, 128)
    index = SliceIndex(rows, 16, SliceSearch(1, candidates=10))
    assert index.search(rows, 5).recall is None
    assert (index.within(rows, 15).recall, index.within(rows, 16).recall) == (1.0, None)
    for effort in (SliceSearch(None, 1), SliceSearch(None, stop="certain"), SliceSearch(None, stop="all")):
        assert index.search(rows.take(np.arange(9)), 5, effort=effort).recall == 1.0
        assert index.within(rows.take(np.arange(9)), 60, effort=effort).recall == 1.0
    assert index.search(rows, 5, effort=SliceSearch(None, 5, j=1)).recall is None


def test_many_rows_are_chosen_as_few_are():
    """Rows that were seen are noted, or found by a pass that begins with a sample: never another choice."""
    rows = signatures("clustered", 1500, 100)
    queries = queries_near(rows, 6)
    gone = list(range(0, 1500, 7))
    few, oracle = SliceIndex(rows, 12), SliceOracle(rows, 12)
    for breadth in range(5):
        for candidates in (1, 200):
            effort = SliceSearch(breadth, candidates)
            found = listed(few.search(queries, 30, effort=effort))
            assert found == [oracle.search(number(words), 30, effort)[0] for words in queries.words]
    few.remove(gone)
    oracle.remove(gone)
    for candidates in (30, 2000):
        effort = SliceSearch(3, candidates)
        found = listed(few.search(queries, 30, effort=effort))
        assert found == [oracle.search(number(words), 30, effort)[0] for words in queries.words]


def test_widths_are_checked():
    for width in (0, 1, 29):
        with pytest.raises(UsageError, match="2 to 28"):
            SliceIndex(signatures("random", 3, 64), width)
    with pytest.raises(UsageError, match="4096"):
        SliceIndex(signatures("random", 3, 4097))
