"""Pairs collected in runs on disk come out as if they had been sorted in memory."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import StorageError, UsageError
from sosie.matches.collected import PairRuns
from sosie.storage.resident import mapping_of
from sosie.storage.room import Room

rows = st.integers(0, 2**32 - 1) | st.integers(0, 5)
parts = st.lists(st.lists(st.tuples(rows, rows), max_size=30), max_size=8)


def sides(pairs):
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def listed(pairs):
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


@settings(deadline=None)
@given(parts=parts, memory=st.integers(1, 400) | st.none())
def test_whatever_is_added_comes_out_in_order_and_once(tmp_path_factory, parts, memory):
    folder = tmp_path_factory.getbasetemp()
    before = set(os.listdir(folder))
    expected = sorted({pair for part in parts for pair in part})
    with PairRuns(None if memory is None else Room(folder, memory)) as runs:
        for part in parts:
            runs.add(*sides(part))
        found = runs.pairs({"tables": 3}, recall=0.5)
        assert listed(found) == expected
        pieces = list(runs.merged())
        assert [(int(p) >> 32, int(p) & 2**32 - 1) for piece in pieces for p in piece] == expected
        assert runs.added == sum(map(len, parts))
    assert listed(found) == expected and found.counters == {"tables": 3} and found.recall == 0.5
    assert set(os.listdir(folder)) == before


def test_pairs_go_to_disk_beyond_the_memory_and_are_mapped(tmp_path):
    values = np.random.default_rng(0).integers(0, 2**32, (2, 5000))
    with PairRuns(Room(tmp_path, 800)) as runs:
        for start in range(0, 5000, 70):
            runs.add(*values[:, start : start + 70])
        assert runs.spilled_bytes >= 8 * 4900
        found = runs.pairs()
        assert all(len(piece) < 5000 for piece in runs.merged())
        assert mapping_of(found.a) is not None and mapping_of(found.b) is not None
    order = np.lexsort(values[::-1])
    assert np.array_equal(found.a, values[0][order]) and np.array_equal(found.b, values[1][order])
    assert not list(tmp_path.iterdir())


def test_more_can_be_added_after_pairs_were_taken(tmp_path):
    for room in (None, Room(tmp_path, 32)):
        with PairRuns(room) as runs:
            runs.add(np.arange(4), np.arange(4))
            first = runs.pairs()
            runs.add(np.arange(2, 9), np.arange(2, 9))
            assert listed(first) == [(i, i) for i in range(4)]
            assert listed(runs.pairs()) == [(i, i) for i in range(9)]


def test_threads_may_add_at_once(tmp_path):
    values = np.random.default_rng(1).integers(0, 1000, (8, 2, 3000))
    with PairRuns(Room(tmp_path, 4000)) as runs:

        def work(some):
            for start in range(0, 3000, 100):
                runs.add(*some[:, start : start + 100])

        threads = [threading.Thread(target=work, args=(some,)) for some in values]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert listed(runs.pairs()) == sorted(
            {tuple(pair) for some in values.tolist() for pair in zip(*some, strict=True)}
        )


def test_a_full_disk_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    real, room = os.pwrite, Room(tmp_path, 80)

    def full(descriptor, data, offset):
        if offset >= 100:
            raise OSError(28, "No space left on device")
        return real(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StorageError, match=r"spill: .*No space left.*Check space"), PairRuns(room) as runs:
        runs.add(np.arange(100), np.arange(100))
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(os, "pwrite", real)
    with pytest.raises(StorageError, match="No space left"), PairRuns(room) as runs:
        runs.add(np.arange(1000), np.arange(1000))
        monkeypatch.setattr(os, "pwrite", full)  # while it is merged
        runs.pairs()
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), PairRuns(Room(tmp_path, 80)) as runs:
        runs.add(np.arange(100), np.arange(100))
        assert list(tmp_path.iterdir())
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("row", [-1, 2**32])
def test_rows_that_do_not_fit_are_refused(row):
    with PairRuns() as runs, pytest.raises(UsageError, match="fewer than 4,294,967,296 rows"):
        runs.add(np.array([1, row]), np.array([2, 3]))
