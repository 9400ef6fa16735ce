from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, listed, near, nearest, queries_near, signatures

from sosie.errors import UsageError
from sosie.index import blocks
from sosie.index.block_run import UNCUT
from sosie.index.blocks import BlockIndex
from sosie.planner.methods.blocks import least_room
from sosie.types import Signatures


@pytest.fixture(autouse=True, scope="module")
def few_rows_have_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SHORT", 8)
        yield


@pytest.mark.parametrize("shape", ({"radius": 3}, {"radius": 3, "header": 2}, {"radius": 2, "blocks": 7, "header": 4}))
@pytest.mark.parametrize("bits", (12, 64, 67))
def test_every_difference_up_to_the_radius_is_found_by_tables(bits, shape):
    row = Signatures(signatures("random", 1, bits).words.repeat(40, axis=0), bits)
    index = BlockIndex(row, **shape)
    flips = [
        chosen for count in range(index.radius + 1) for chosen in combinations(range(0, bits, 1 + bits // 20), count)
    ]
    queries = np.array([[int(word) for word in row.words[0]] for _ in flips], np.uint64)
    for query, chosen in enumerate(flips):
        for bit in chosen:
            queries[query, bit // 64] ^= np.uint64(1 << bit % 64)
    found = index.within(Signatures(queries, bits), index.radius)
    assert np.array_equal(np.diff(found.offsets), np.full(len(flips), 40))
    assert found.distances[::40].tolist() == [len(chosen) for chosen in flips]
    assert found.counters["probes"] > 0


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    bits=st.sampled_from((2, 5, 16, 64, 65, 130)),
    pieces=st.lists(st.integers(0, 60), max_size=5),
    data=st.data(),
)
def test_any_cut_gives_what_comparing_all_gives(kind, bits, pieces, data):
    header = data.draw(st.integers(1, min(bits, 3)))
    radius = data.draw(st.integers(0, min(bits - header, 4)))
    count = data.draw(st.integers(radius + header, min(bits, radius + header + 2)))
    rows = signatures(kind, sum(pieces), bits)
    queries = queries_near(rows, 4)
    index = BlockIndex(Signatures(rows.words[:0], bits), radius, count, header)
    assert index.radius == count - header
    for start, piece in zip(np.cumsum([0, *pieces]), pieces, strict=False):
        index.add(Signatures(rows.words[start : start + piece], bits))
    gone = data.draw(st.sets(st.integers(0, max(0, len(rows) - 1)), max_size=len(rows)))
    index.remove(sorted(gone))
    live = [row for row in range(len(rows)) if row not in gone]
    for wanted in range(min(bits, index.radius + 1) + 1):
        expected = near(queries, rows, wanted, live)
        assert listed(index.within(queries, wanted)) == expected
        firsts = [[min(pairs, key=lambda pair: pair[1])] if pairs else [] for pairs in expected]
        assert listed(index.within(queries, wanted, first=True)) == firsts
    for k in (1, 5):
        assert listed(index.search(queries, k)) == nearest(queries, rows, k, live)


def test_only_queries_that_the_tables_cannot_answer_are_compared_with_all_rows():
    rows = signatures("random", 3000, 64)
    index = BlockIndex(rows)
    near_one, far_one = Signatures(rows.words[:1]), Signatures(~rows.words[:1])
    assert index.search(near_one, 1).counters["comparisons"] < 3000
    assert index.search(near_one, 2).counters["comparisons"] >= 3000
    assert index.search(far_one, 1).counters["comparisons"] >= 3000
    looked_up = index.within(near_one, 3).counters
    assert looked_up["probes"] == 4 and 4 <= looked_up["comparisons"] < 40
    assert index.within(near_one, 4).counters == {"comparisons": 3000}


def test_added_one_by_one_there_are_few_runs_and_few_copies():
    rows = signatures("random", 700, 64)
    index = BlockIndex(Signatures(rows.words[:0]))
    stores = set()
    for row in range(700):
        index.add(Signatures(rows.words[row : row + 1]))
        assert len(index._state.stored.runs) <= 8
        stores.add(len(index._state.stored.words))
    assert len(stores) <= 20
    assert sum(len(run) for run in index._state.stored.runs) == 700
    queries = queries_near(rows)
    assert listed(index.within(queries, 3)) == near(queries, rows, 3)


def test_tables_are_chosen_by_the_number_of_rows(monkeypatch):
    index = BlockIndex(signatures("random", 100, 64))
    assert index._shape(7) == UNCUT
    assert index._shape(1 << 20) == (4, 1)
    assert index._shape(1 << 24) == (5, 2)
    assert BlockIndex(signatures("random", 9, 64), header=3)._shape(100) == (6, 3)
    assert BlockIndex(signatures("random", 9, 64), blocks=9)._shape(100) == (9, 6)
    assert BlockIndex(signatures("random", 9, 4096), radius=80)._shape(1 << 20) == (81, 1)


def test_a_match_is_found_once_and_folded_headers_do_no_harm():
    """Equal rows agree in all headers; headers of 500 bits are folded into addresses of a few."""
    rows = signatures("duplicated", 64, 1000)
    index = BlockIndex(rows, radius=1)
    assert index._state.stored.runs.runs[0].tables.addresses.bits == 6
    assert listed(index.within(rows, 1)) == near(rows, rows, 1)


@pytest.mark.parametrize(
    "wrong",
    (
        {"radius": -1},
        {"radius": 3, "blocks": 3},
        {"radius": 3, "header": 0},
        {"radius": 3, "header": 62},
        {"radius": 3, "blocks": 65},
        {"radius": 3, "blocks": 5, "header": 3},
        {"radius": 0, "blocks": 3, "header": 4},
        {"radius": 20, "header": 20},
    ),
)
def test_a_cut_that_cannot_be_is_refused(wrong):
    with pytest.raises(UsageError, match=r"radius|tables"):
        BlockIndex(signatures("random", 9, 64), **wrong)


def test_more_than_the_machine_can_hold_is_refused_and_nothing_changes(monkeypatch):
    rows = signatures("random", 100, 64)
    index = BlockIndex(rows, header=1)
    needed = least_room(200, 64, 4)
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed - 1)
    with pytest.raises(UsageError, match=r"200 rows in 4 tables need about 0\.0 MB .* FlatIndex"):
        index.add(rows)
    assert len(index) == 100 and len(index.ids) == 100
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed)
    index.add(rows)
    assert len(index) == 200


@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    bits=st.sampled_from((16, 64, 130)),
    count=st.integers(8, 150),
    header=st.integers(1, 2),
    radius=st.integers(0, 3),
    data=st.data(),
)
def test_any_within_reads_no_table_after_the_one_that_answers(kind, bits, count, header, radius, data):
    rows = signatures(kind, count, bits)
    gone = data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1))
    index = BlockIndex(rows, radius, header=header)
    index.remove(sorted(gone))
    (run,) = index._state.stored.runs
    queries = queries_near(rows, 80)  # more than are looked up together
    places = [[addresses(word, run) for word in as_ints(signed)] for signed in (queries, rows)]
    tables, compared, expected = 0, 0, []
    for query, own in zip(as_ints(queries), places[0], strict=True):
        met = []
        for table, address in enumerate(own):
            there = [row for row in range(count) if places[1][row][table] == address]
            tables, compared = tables + 1, compared + len(there)
            apart = [((as_ints(rows)[row] ^ query).bit_count(), row) for row in there if row not in gone]
            met = [pair for pair in apart if pair[0] <= radius][:1]
            if met:
                break
        expected.append(met)
    found = index.any_within(queries, radius)
    assert listed(found) == expected
    assert found.counters == {"comparisons": compared, "probes": tables}


def test_one_answer_of_several_runs_is_enough():
    rows = signatures("random", 300, 64)
    index = BlockIndex(rows)
    index.add(Signatures(rows.words[:100]))  # equal to the first of the longer run
    assert [len(run) for run in index._state.stored.runs] == [300, 100]
    known, unknown = rows.take(np.arange(100)), signatures("random", 50, 64, seed=9)
    assert index.any_within(known, 3).counters["probes"] == 100
    assert index.any_within(known, 3).rows.tolist() == list(range(100))
    assert index.any_within(unknown, 3).counters["probes"] == 2 * 4 * 50


def as_ints(signed):
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signed.words]


def addresses(signature, run):
    """Where a signature stands in each table: bit i of a header goes to bit i mod `bits` of the address."""
    found = []
    for header in run.cut.headers:
        address = 0
        for i, bit in enumerate(bit for block in header for bit in range(*run.cut.edges[block : block + 2].tolist())):
            address ^= (signature >> bit & 1) << i % run.tables.addresses.bits
        found.append(address)
    return found
