import numpy as np
import pytest
from tests.kernels.planes.test_cascade import rows_of
from tests.oracle_hamming import bits_of, distances, pack

from sosie.arrays import read_only
from sosie.kernels.planes.cascade_within import cascade_within
from sosie.kernels.planes.majorities import CHAIN_CHUNK, ask_majorities, chain_of
from sosie.kernels.tables.hits import room_for_hits


@pytest.mark.parametrize("kind", ("random", "clustered", "equal"))
def test_every_row_within_the_radius_is_written_as_far_as_there_is_room(kind):
    bits, words = 256, pack(bits_of(kind, 4000, 256))
    queries = words[[3, 1700]]
    asked = ask_majorities(queries, read_only(chain_of(bits)), np.array([32, 32]), CHAIN_CHUNK)
    for radius in (0, 20, 40):
        for most in (2, 10**9):
            room, wanted, block, found, pays = room_for_hits(1500), np.full(2, most), 0, [], True
            while block < 8 and pays:
                task = (rows_of(words, bits), (block, 8), asked, read_only(queries), radius)
                block, count, pays = cascade_within(*task, wanted, room)
                found += zip(room.queries[:count], room.rows[:count], room.distances[:count], strict=True)
            near = distances(queries, words)
            rows = [np.flatnonzero(line[: 512 * block] <= radius)[:most] for line in near]
            assert sorted(found) == [(query, row, near[query, row]) for query in (0, 1) for row in rows[query]]


def test_it_stops_where_too_many_rows_have_few_carries():
    bits, words = 256, pack(bits_of("equal", 9000, 256))
    asked = ask_majorities(words[:1], read_only(chain_of(bits)), np.array([32]), CHAIN_CHUNK)
    task = (rows_of(words, bits), (0, 18), asked, read_only(words[:1]), 9)
    block, count, pays = cascade_within(*task, np.array([10**9]), room_for_hits(20_000))
    assert (block, count, pays) == (9, 9 * 512, False)
    one = cascade_within(*task, np.array([1]), room_for_hits(20_000))
    assert one == (18, 1, True)
