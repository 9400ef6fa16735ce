import numpy as np
from tests.oracle_hamming import listed, nearest, queries_near, signatures

from sosie.index.flat import FlatIndex
from sosie.types import Signatures


def test_room_grows_with_few_copies():
    rows = signatures("random", 3000, 64)
    index = FlatIndex(Signatures(rows.words[:0]))
    rooms = set()
    for row in range(0, 3000, 3):
        index.add(Signatures(rows.words[row : row + 3]))
        rooms.add(len(index._planes))
    assert len(rooms) <= 6
    queries = queries_near(rows)
    assert listed(index.search(queries, 5)) == nearest(queries, rows, 5)


def test_planes_begin_on_a_cache_line():
    index = FlatIndex(signatures("random", 700, 100))
    assert index._planes.ctypes.data % 64 == 0
    assert index._live.ctypes.data % 64 == 0


def test_counters_tell_the_rows_that_had_to_be_looked_at():
    index = FlatIndex(Signatures(np.array([9, 5, 5, 1], np.uint64)))
    queries = Signatures(np.array([5, 2**63], np.uint64))
    assert index.search(queries, 2).counters == {"comparisons": 8}
    assert index.within(queries, 0).counters == {"comparisons": 8}
    assert index.within(queries, 0, first=True).counters == {"comparisons": 2 + 4}
