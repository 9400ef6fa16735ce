import numpy as np
import pytest
from tests.oracle_hamming import listed, nearest, queries_near, signatures

from sosie.errors import MismatchError, UsageError
from sosie.index.flat import FlatIndex
from sosie.types import Signatures


def test_room_grows_with_few_copies():
    rows = signatures("random", 3000, 64)
    index = FlatIndex(Signatures(rows.words[:0]))
    rooms = set()
    for row in range(0, 3000, 3):
        index.add(Signatures(rows.words[row : row + 3]))
        rooms.add(len(index._state.stored.planes))
    assert len(rooms) <= 6
    queries = queries_near(rows)
    assert listed(index.search(queries, 5)) == nearest(queries, rows, 5)


def test_planes_begin_on_a_cache_line():
    index = FlatIndex(signatures("random", 700, 100))
    assert index._state.stored.planes.ctypes.data % 64 == 0
    assert index._state.ids.live.ctypes.data % 64 == 0


def test_counters_tell_the_rows_that_had_to_be_looked_at():
    index = FlatIndex(Signatures(np.array([9, 5, 5, 1], np.uint64)))
    queries = Signatures(np.array([5, 2**63], np.uint64))
    assert index.search(queries, 2).counters == {"comparisons": 8}
    assert index.within(queries, 0).counters == {"comparisons": 8}
    assert index.within(queries, 0, first=True).counters == {"comparisons": 2 + 4}


def test_the_widest_signatures():
    rows = signatures("clustered", 40, 16384)
    queries = queries_near(rows)
    index = FlatIndex(rows)
    assert listed(index.search(queries, 9)) == nearest(queries, rows, 9)
    opposite = Signatures(~rows.words[:1])
    assert index.within(opposite, 16384).distances.max() == 16384
    with pytest.raises(UsageError):
        FlatIndex(signatures("random", 1, 16385))


def test_a_refused_first_addition_leaves_the_index_free():
    rows = signatures("random", 2, 64)
    index = FlatIndex(Signatures(rows.words[:0]))
    with pytest.raises(MismatchError):
        index.add(Signatures(rows.words, ids=["a", "a"]))
    index.add(rows)
    assert index.ids.to_pylist() == [0, 1]


@pytest.mark.parametrize("count", (1, 64, 65, 200))
def test_threads_change_nothing_even_where_they_do_not_pay(monkeypatch, count):
    rows = signatures("clustered", 2600, 64)
    queries = queries_near(rows, count)
    index = FlatIndex(rows)
    alone = [index.search(queries, 10, threads=1), index.within(queries, 8, first=True, threads=1)]
    monkeypatch.setattr("sosie.planner.methods.flat.WORTH_A_THREAD", 1)
    for threads in (2, 7):
        together = [index.search(queries, 10, threads=threads), index.within(queries, 8, first=True, threads=threads)]
        assert [listed(matches) for matches in together] == [listed(matches) for matches in alone]
        assert [matches.counters for matches in together] == [matches.counters for matches in alone]
