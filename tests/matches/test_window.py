"""The sliding window join against its definition, and what it says of its recall."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import distances, pairs_within, signatures

from sosie.errors import MismatchError, UsageError
from sosie.kernels.tables.permuted import draw_permutation
from sosie.matches.chunks import Window
from sosie.matches.window import join_window
from sosie.storage.room import Room
from sosie.types import Signatures


def listed(pairs):
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


def defined(a, b, radius, by):
    """All pairs by the definition: rows in the order of each table, each compared with the B that follow."""
    rows = a if b is None else Signatures(np.concatenate([a.words, b.words]), a.bits)
    split = len(rows) if b is None else len(a)
    bits = np.unpackbits(rows.words.view(np.uint8), axis=1, bitorder="little")
    apart, found, compared = distances(rows.words, rows.words), set(), 0
    for table in range(by.tables):
        places = draw_permutation(a.bits, by.seed, table)
        order = sorted(range(len(rows)), key=lambda row: (bits[row][places].tolist(), row))
        for i in range(len(order)):
            for j in range(i + 1, min(i + by.window, len(order) - 1) + 1):
                x, y = sorted((order[i], order[j]))
                if b is None or x < split <= y:
                    compared += 1
                    if apart[x, y] <= radius:
                        found.add((x, y if b is None else y - split))
    return sorted(found), compared


@settings(deadline=None, max_examples=80)
@given(
    width=st.sampled_from((1, 5, 20, 64, 70, 130)),
    counts=st.tuples(st.integers(0, 45), st.one_of(st.none(), st.integers(0, 45))),
    by=st.builds(Window, st.integers(1, 4), st.integers(1, 60), st.integers(1, 70), st.integers(0, 9)),
    share=st.floats(0, 0.6),
    seed=st.integers(0, 99),
    kind=st.sampled_from(("random", "clustered", "zeros")),
)
def test_the_join_is_its_definition(width, counts, by, share, seed, kind):
    a, radius = signatures(kind, counts[0], width, seed), int(share * width)
    b = None if counts[1] is None else signatures(kind, counts[1], width, seed + seed % 2)
    found = join_window(a, b, radius, by=by)
    pairs, compared = defined(a, b, radius, by)
    assert listed(found) == pairs
    if len(a) and (b is None or len(b)):
        assert found.counters["comparisons"] == compared


@pytest.mark.parametrize("across", (False, True))
def test_chunks_threads_and_memory_change_nothing(across, tmp_path):
    rows = signatures("clustered", 400, 128)
    a, b = (rows.take(np.arange(150)), rows.take(np.arange(150, 400))) if across else (rows, None)
    whole = join_window(a, b, 8, by=Window(6, 50))
    assert len(whole) > 100
    for chunk, threads, memory in (
        (1, 1, 1 << 20),
        (7, 2, 1 << 12),
        (50, 3, 1 << 16),
        (51, 1, 1 << 20),
        (399, 2, 1 << 20),
    ):
        room = Room(tmp_path, memory=memory, threads=threads)
        again = join_window(a, b, 8, by=Window(6, 50, chunk), room=room)
        assert listed(again) == listed(whole)
        assert again.counters["comparisons"] == whole.counters["comparisons"]
        assert again.counters["window_comparisons"] == whole.counters["window_comparisons"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("across", (False, True))
def test_a_window_over_all_rows_is_brute_force_and_says_so(across):
    rows = signatures("clustered", 300, 64)
    other = signatures("clustered", 200, 64) if across else None
    found = join_window(rows, other, 9, by=Window(1, 600, 100))
    assert listed(found) == pairs_within(rows, other, 9)
    assert found.recall == 1.0 and found.interval is None


def test_the_last_rows_of_a_table_are_compared_with_one_another():
    """The paper's Figure 4 stops before them, and compares nothing where there are fewer rows than the window has."""
    rows = Signatures(np.arange(6, dtype=np.uint64))
    assert listed(join_window(rows, None, 64, by=Window(1, 50))) == [(i, j) for i in range(6) for j in range(i + 1, 6)]
    assert len(join_window(rows, None, 64, by=Window(1, 3))) == 3 + 3 + 3 + 2 + 1


def test_counters_tell_what_was_done():
    rows = signatures("random", 1000, 64)
    a, b = rows.take(np.arange(400)), rows.take(np.arange(400, 1000))
    counters = join_window(a, b, 5, by=Window(3, 100, 300)).counters
    assert counters["tables"] == 3 and counters["chunks"] == 12
    assert counters["window_comparisons"] == 3 * (900 * 100 + 100 * 99 // 2)
    assert counters["comparisons"] < counters["window_comparisons"]
    assert counters["brute_comparisons"] == 400 * 600
    assert counters["making_chunks"] > 0
    assert join_window(rows, None, 5, by=Window(1, 10)).counters["brute_comparisons"] == 1000 * 999 // 2


def planted(count, width, pairs, low, high, seed):
    """Random rows, the last of which are copies of the first with so many bits flipped."""
    rng = np.random.default_rng(seed)
    bits = rng.random((count, width)) < 0.5
    for i in range(pairs):
        bits[count - 1 - i] = bits[i]
        bits[count - 1 - i, rng.choice(width, rng.integers(low, high + 1), replace=False)] ^= True
    return Signatures(np.packbits(bits, axis=1, bitorder="little").view(np.uint64), width)


@pytest.mark.parametrize("kind", ("planted", "clustered"))
def test_the_stated_recall_is_the_measured_one(kind):
    width, radius = 256, 90
    rows = planted(2000, width, 700, 50, 90, 1) if kind == "planted" else signatures("clustered", 500, width, 2)
    truth = len(pairs_within(rows, None, radius))
    held, near, tried = 0, 0, list(product((20, 40), (15, 60), (1, 2)))
    for tables, window, seed in tried:
        found = join_window(rows, None, radius, by=Window(tables, window, seed=seed))
        recall = len(found) / truth
        held += found.interval[0] <= recall <= found.interval[1]
        near += abs(found.recall - recall) <= 0.03
    assert held >= len(tried) - 1 and near >= len(tried) - 1


def test_nothing_is_said_of_the_recall_where_nothing_is_known():
    rows = signatures("random", 2000, 256)
    assert join_window(rows, None, 90, by=Window(5, 10)).recall is None  # too few tables
    few = planted(2000, 256, 40, 88, 90, 3)
    assert join_window(few, None, 90, by=Window(10, 2)).recall is None  # hardly any pair is found, none of them twice


@pytest.mark.parametrize(
    "wrong", ({"tables": 0}, {"window": 0}, {"chunk": 0}, {"seed": -1}, {"tables": 1.5}, {"window": True})
)
def test_windows_that_cannot_be_are_refused(wrong):
    with pytest.raises(UsageError, match=f"the {next(iter(wrong))} of a window join must be a whole number"):
        Window(**wrong)


def test_what_does_not_fit_is_refused():
    rows = signatures("random", 10, 64)
    with pytest.raises(UsageError, match="radius"):
        join_window(rows, None, 65, by=Window(1, 1))
    with pytest.raises(MismatchError, match="bits"):
        join_window(rows, signatures("random", 10, 65), 3, by=Window(1, 1))
    with pytest.raises(UsageError, match="more than the 10 that are listed"):
        join_window(signatures("zeros", 50, 64), None, 3, by=Window(1, 20), max_pairs=10)
