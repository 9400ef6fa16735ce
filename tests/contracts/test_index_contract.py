"""One suite over every Hamming index: add a line to INDEXES for a new one."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, WIDTHS, listed, near, nearest, queries_near, signatures

from sosie.errors import MismatchError, UsageError
from sosie.index import blocks, multi
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.flat import FlatIndex
from sosie.index.multi import MultiIndex
from sosie.index.probe_search import ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.types import Signatures


def saved(make):
    """Return what makes an index, saves it and loads it."""

    def load(rows):
        with tempfile.TemporaryDirectory() as folder:
            make(rows).save(folder)
            return load_index(folder)

    return load


def two_of_nine(rows):
    return BlockIndex(rows, radius=5, blocks=9, header=2) if rows.bits >= 9 else BlockIndex(rows, header=1, radius=0)


class NeverScanned(MultiIndex):
    """Answers by its tables alone, whatever that costs."""

    def _patience(self, state, queries):
        return np.full(len(queries), 2**62)


def tables_alone(rows):
    return NeverScanned(rows) if rows.bits <= 256 else MultiIndex(rows)  # hundreds of tables take their time


def all_probes(rows):
    return ProbeIndex(rows, ProbeSearch(2**30))


INDEXES = {
    "flat": FlatIndex,
    "blocks": BlockIndex,
    "blocks, 2 of 9": two_of_nine,
    "flat, loaded": saved(FlatIndex),
    "blocks, loaded": saved(BlockIndex),
    "multi": MultiIndex,
    "multi, tables alone": tables_alone,
    "multi, loaded": saved(MultiIndex),
    "probes, full effort": all_probes,
    "probes, loaded": saved(all_probes),
    "slices, certain": lambda rows: SliceIndex(rows, 9, SliceSearch(breadth=None, candidates=20, stop="certain")),
    "slices, all lists": lambda rows: SliceIndex(rows, 5, SliceSearch(breadth=None, candidates=1)),
    "slices, loaded": saved(lambda rows: SliceIndex(rows, 7, SliceSearch(breadth=None, stop="all"))),
}
SIZES = (0, 1, 255, 256, 257, 511, 512, 513, 1037)


@pytest.fixture(autouse=True, scope="module")
def few_rows_have_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SHORT", 16)
        patch.setattr(multi, "SHORT", 16)
        yield


pytestmark = pytest.mark.parametrize("make", INDEXES.values(), ids=INDEXES.keys())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_search_gives_the_nearest_in_order(make, kind, width):
    rows = signatures(kind, 301, width)
    queries = queries_near(rows)
    index = make(rows)
    for k in (1, 10, 301, 400):
        matches = index.search(queries, k)
        assert listed(matches) == nearest(queries, rows, k)
        assert matches.counters["comparisons"] >= 0


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_within_gives_all_in_order(make, kind, width):
    rows = signatures(kind, 301, width)
    queries = queries_near(rows)
    index = make(rows)
    for radius in sorted({0, 1, width // 20, width // 4, width // 2, width - 1, width}):
        found = near(queries, rows, radius)
        assert listed(index.within(queries, radius)) == found
        firsts = [[min(pairs, key=lambda pair: pair[1])] if pairs else [] for pairs in found]
        assert listed(index.within(queries, radius, first=True)) == firsts


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("width", (3, 64, 1000))
def test_any_number_of_rows(make, count, width):
    rows = signatures("clustered", count, width)
    queries = queries_near(rows, 3)
    index = make(rows)
    assert len(index) == count
    assert index.bits == width
    assert listed(index.search(queries, 7)) == nearest(queries, rows, 7)
    assert listed(index.within(queries, width // 4)) == near(queries, rows, width // 4)
    assert len(index.search(signatures("random", 0, width), 7)) == 0
    assert len(index.within(signatures("random", 0, width), 1)) == 0


@pytest.mark.parametrize("width", (64, 1024))
@pytest.mark.parametrize("count", (1, 63, 64, 65, 300))
def test_threads_change_nothing(make, width, count):
    rows = signatures("clustered", 2600, width)
    queries = queries_near(rows, count)
    index = make(rows)
    for ask in (
        lambda threads: index.search(queries, 10, threads=threads),
        lambda threads: index.within(queries, width // 8, threads=threads),
        lambda threads: index.within(queries, width // 8, first=True, threads=threads),
    ):
        alone = ask(1)
        for threads in (2, 7):
            together = ask(threads)
            assert listed(together) == listed(alone)
            assert together.counters == alone.counters


@pytest.mark.parametrize("width", (64, 300))
def test_many_threads_search_one_index(make, width):
    rows = signatures("clustered", 700, width, ids=[f"doc-{i}" for i in range(700)])
    index = make(rows)
    index.remove(["doc-3", "doc-611"])
    asked = [queries_near(rows, 1 + i % 9, seed=i) for i in range(16)]
    asks = [
        lambda queries: index.search(queries, 10, threads=2),
        lambda queries: index.search(queries, 3, threads=1),
        lambda queries: index.within(queries, width // 12, threads=1),
        lambda queries: index.within(queries, width // 3, first=True, threads=2),
    ]
    tasks = [(ask, queries) for ask in asks for queries in asked]

    def run(task):
        found = task[0](task[1])
        return listed(found), found.ids.to_pylist(), found.counters

    alone = [run(task) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, tasks)) == alone
        assert list(pool.map(run, reversed(tasks))) == alone[::-1]


def test_more_than_the_memory_is_refused_with_the_figure_and_nothing_changes(make, monkeypatch):
    rows = signatures("random", 3000, 64, ids=[f"doc-{i}" for i in range(3000)])
    index = make(rows.take(np.arange(1000)))
    queries = queries_near(rows, 30)
    before = listed(index.within(queries, 2))
    looking = [module for name, module in sys.modules.items() if name.startswith("sosie.index.")]
    for module in (module for module in looking if hasattr(module, "physical_memory")):
        monkeypatch.setattr(module, "physical_memory", lambda: 23_000)
    with pytest.raises(UsageError, match=r"3,000 rows .*\d\.\d [MG]B.*0\.0 MB"):
        index.add(rows.take(np.arange(1000, 3000)))
    assert len(index) == len(index.ids) == 1000
    assert listed(index.within(queries, 2)) == before
    monkeypatch.undo()
    index.add(rows.take(np.arange(1000, 3000)))
    assert listed(index.within(queries, 2)) == near(queries, rows, 2)


def test_all_rows_of_many_queries(make):
    """More matches than any buffer holds."""
    rows = signatures("random", 20_000, 64)
    queries = queries_near(rows, 9)
    matches = make(rows).within(queries, 64, threads=1)
    assert np.all(np.diff(matches.offsets) == len(rows))
    for query in range(len(queries)):
        found, distance = matches.of(query)
        truth = np.bitwise_count(rows.words[:, 0] ^ queries.words[query, 0])
        assert np.array_equal(found, np.argsort(truth, kind="stable"))
        assert np.array_equal(distance, np.sort(truth))


@settings(deadline=None, max_examples=25)
@given(
    pieces=st.lists(st.integers(0, 300), max_size=6),
    width=st.sampled_from((1, 60, 64, 70, 520)),
    seed=st.integers(0, 99),
)
def test_added_in_pieces_is_as_built_at_once(make, pieces, width, seed):
    total = sum(pieces)
    rows = signatures("clustered", total, width, seed)
    queries = queries_near(rows, 4, seed)
    index = make(Signatures(rows.words[:0], width))
    start = 0
    for piece in pieces:
        index.add(Signatures(rows.words[start : start + piece], width))
        start += piece
        assert len(index) == start
    assert listed(index.search(queries, 9)) == nearest(queries, rows, 9)
    assert listed(index.within(queries, width // 3)) == near(queries, rows, width // 3)
    assert np.array_equal(index.signatures.words, rows.words)
    assert index.ids.to_pylist() == list(range(total))


@settings(deadline=None, max_examples=25)
@given(data=st.data(), width=st.sampled_from((3, 64, 257)))
def test_removed_rows_are_never_found(make, data, width):
    rows = signatures("duplicated", 400, width)
    queries = queries_near(rows, 4)
    index = make(rows)
    gone = data.draw(st.sets(st.integers(0, 399)))
    index.remove(sorted(gone))
    live = [row for row in range(400) if row not in gone]
    assert len(index) == len(live)
    assert listed(index.search(queries, 9)) == nearest(queries, rows, 9, live)
    assert listed(index.within(queries, width // 3)) == near(queries, rows, width // 3, live)
    assert np.array_equal(index.signatures.words, rows.words[live])
    assert index.signatures.ids.to_pylist() == live
    index.add(Signatures(rows.words[:5], width))
    assert len(index) == len(live) + 5
    both = Signatures(np.concatenate([rows.words, rows.words[:5]]), width)
    assert listed(index.search(queries, 9)) == nearest(queries, both, 9, [*live, 400, 401, 402, 403, 404])


def test_ids_travel_with_the_rows(make):
    rows = signatures("random", 40, 64, ids=[f"doc-{i}" for i in range(40)])
    index = make(rows)
    matches = index.search(rows, 1)
    assert matches.ids.to_pylist() == rows.ids.to_pylist()
    index.remove(["doc-3"])
    assert index.within(rows, 0).ids.to_pylist() == [f"doc-{i}" for i in range(40) if i != 3]
    index.add(Signatures(rows.words[3:4], ids=["doc-3"]))
    assert index.search(Signatures(rows.words[3:4]), 1).rows.tolist() == [40]
    assert index.ids.to_pylist() == [*rows.ids.to_pylist(), "doc-3"]
    index.remove(pa.array(["doc-3"]))
    assert len(index) == 39


@pytest.mark.parametrize("kind", ("clustered", "duplicated"))
def test_a_query_can_leave_itself_out(make, kind):
    rows = signatures(kind, 120, 64, ids=[f"doc-{i}" for i in range(120)])
    index = make(rows)
    index.remove(["doc-7"])
    live = [row for row in range(120) if row != 7]
    queries = rows.take(np.array([0, 7, 60, 119]))
    others = [[row for row in live if row != own] for own in (0, 7, 60, 119)]
    one = [queries.take(np.array([i])) for i in range(4)]
    for k in (1, 5, 119, 200):
        truth = [nearest(one[i], rows, k, others[i])[0] for i in range(4)]
        assert listed(index.search(queries, k, exclude_self=True)) == truth
    for radius in (0, 9, 64):
        truth = [near(one[i], rows, radius, others[i])[0] for i in range(4)]
        assert listed(index.within(queries, radius, exclude_self=True)) == truth
        firsts = [[min(pairs, key=lambda pair: pair[1])] if pairs else [] for pairs in truth]
        assert listed(index.within(queries, radius, first=True, exclude_self=True)) == firsts
    with pytest.raises(MismatchError, match="nothing can be itself"):
        index.search(Signatures(rows.words), 3, exclude_self=True)


def test_a_refused_change_changes_nothing(make):
    rows = signatures("random", 10, 64, ids=list("abcdefghij"))
    index = make(rows)
    for ids in (["x", "c"], ["x", "x"], ["x", None]):
        with pytest.raises(MismatchError):
            index.add(Signatures(rows.words[:2], ids=ids))
    with pytest.raises(MismatchError):
        index.add(Signatures(rows.words[:2], ids=[5, 6]))
    with pytest.raises(MismatchError):
        index.remove(["a", "unknown"])
    with pytest.raises(UsageError):
        index.remove(["a", "a"])
    assert len(index) == 10
    assert index.search(rows, 1).ids.to_pylist() == rows.ids.to_pylist()


def test_numbers_as_ids(make):
    rows = signatures("random", 4, 64)
    index = make(Signatures(rows.words[:2]))
    index.add(Signatures(rows.words[2:3]))
    index.add(Signatures(rows.words[3:], ids=[77]))
    assert index.ids.to_pylist() == [0, 1, 2, 77]
    with pytest.raises(MismatchError):
        index.add(Signatures(rows.words[:2], ids=[9, 1]))
    index.remove([1])
    with pytest.raises(MismatchError):
        index.remove([1])
    index.add(Signatures(rows.words[1:2], ids=[1]))
    matches = index.search(rows, 1)
    assert matches.rows.tolist() == [0, 4, 2, 3]
    assert matches.ids.to_pylist() == [0, 1, 2, 77]


def test_what_does_not_fit_is_refused(make):
    rows = signatures("random", 10, 64, digest="spec-a")
    index = make(rows)
    with pytest.raises(MismatchError, match="65"):
        index.search(signatures("random", 1, 65), 1)
    with pytest.raises(MismatchError, match="spec-b"):
        index.within(signatures("random", 1, 64, digest="spec-b"), 1)
    with pytest.raises(MismatchError, match="spec-b"):
        index.add(signatures("random", 1, 64, digest="spec-b"))
    index.search(signatures("random", 1, 64), 1)
    for k in (0, -1):
        with pytest.raises(UsageError):
            index.search(rows, k)
    for radius in (-1, 65):
        with pytest.raises(UsageError):
            index.within(rows, radius)
    with pytest.raises(UsageError):
        index.search(rows, 1, threads=0)
    for ask in (index.search, index.within):
        with pytest.raises(UsageError, match=r"is exact: it takes no effort|the effort of a (Slice|Probe)Index is a"):
            ask(rows, 1, effort="much")
    assert (index.effort is None) == isinstance(index, FlatIndex)


@pytest.mark.parametrize("width", (64, 300))
@pytest.mark.parametrize("kind", KINDS)
def test_any_within_finds_one_where_there_is_any(make, kind, width):
    rows = signatures(kind, 301, width, ids=[f"doc-{i}" for i in range(301)])
    queries = queries_near(rows)
    index = make(rows)
    index.remove(["doc-0", "doc-100"])
    live = [row for row in range(301) if row not in (0, 100)]
    for radius in (0, 1, 3, width // 4, width):
        found, truth = index.any_within(queries, radius), near(queries, rows, radius, live)
        assert [len(pairs) for pairs in listed(found)] == [min(1, len(pairs)) for pairs in truth]
        assert all(set(one) <= set(pairs) for one, pairs in zip(listed(found), truth, strict=True))
        assert found.recall == 1 and found.ids.to_pylist() == [f"doc-{row}" for row in found.rows]
        whole = index.within(queries, radius)
        assert all(found.counters[name] <= count for name, count in whole.counters.items()), radius
        own = np.array([5, 60, 100])
        asked, every = rows.take(own), near(rows.take(own), rows, radius, live)
        others = [[pair for pair in pairs if pair[1] != row] for pairs, row in zip(every, own, strict=True)]
        alone = listed(index.any_within(asked, radius, exclude_self=True))
        assert [len(pairs) for pairs in alone] == [min(1, len(pairs)) for pairs in others]
        assert all(set(one) <= set(pairs) for one, pairs in zip(alone, others, strict=True))


def test_any_within_stops_at_the_first_that_is_met(make):
    rows = signatures("random", 3000, 64)
    index = make(rows)
    known = rows.take(np.arange(0, 3000, 10))
    first, whole = (ask(known, 3).counters for ask in (index.any_within, index.within))
    assert first["comparisons"] <= whole["comparisons"]
    if type(index) is BlockIndex:
        tables = whole["probes"] // len(known)
        assert tables > 1 and first["probes"] == len(known), "a query that is a row is met in the first table"
