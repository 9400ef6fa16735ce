"""All rows within a radius of each query, over bit planes."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import add_planes, mark_below
from sosie.kernels.planes.layout import Asked
from sosie.kernels.tables.hits import Hits, room_for_hits


def room_within(queries: int, planes: int) -> Hits:
    """Return room for twice the matches that `plane_within` may find before it looks at the room again."""
    return room_for_hits(2 * queries * 512 * max(1, 512 // planes))


@kernel
def plane_within(
    planes: U64, live: U64, first: int, last: int, asked: Asked, radius: int, wanted: I64, hits: Hits
) -> tuple[int, int]:
    """Write the matches in the blocks from `first` on; return the block to go on with and the number of matches.

    It stops before `last` when the room in `hits` may not suffice for the next blocks. `wanted[query]` is how many
    more matches a query wants, and is counted down. The other arguments are as in `plane_top`.
    """
    order, units, slices = asked.order, asked.units, asked.slices
    queries, chunks, height = units.shape[0], units.shape[1], slices.shape[1] // 8
    flat, marks = planes.reshape(planes.size), live.reshape(live.size)
    stride = planes.shape[1] * 8
    counting = np.ones(queries, np.bool_)
    found = np.empty(8, np.uint64)
    tile = max(1, 512 // planes.shape[1])
    bound = min(radius + 1, (1 << height) - 1)
    total = 0
    for start in range(first, last, tile):
        if total + queries * 512 * tile > hits.rows.size:
            return start, total
        for chunk in range(chunks):
            ahead = min(4096 * (chunk + 1), max(stride, 4096))  # words to the next chunk: one query asks for it
            for query in range(queries):
                if wanted[query] == 0 or (chunk > 0 and not counting[query]):
                    continue
                counts = slices[query]
                for block in range(start, min(start + tile, last)):
                    if chunk == 0:
                        counts[:] = np.uint64(0)
                    planes_here, units_here = order[query, 512 * chunk :], units[query, chunk]
                    asked_ahead = ahead if query == 0 else 0
                    add_planes(flat, block * stride, planes_here, units_here, counts, height, asked_ahead)
                    counting[query] = mark_below(counts, height, bound, marks, 8 * block, found)
                    if counting[query] and chunk == chunks - 1:
                        more = _write(
                            counts, height, found, 512 * block, wanted[query], hits.rows[total:], hits.distances[total:]
                        )
                        hits.queries[total : total + more] = query
                        wanted[query] -= more
                        total += more
    return last, total


@kernel
def _write(counts: U64, height: int, found: U64, start: int, limit: int, rows: I64, distances: I32) -> int:
    """Write up to `limit` of the rows marked in `found`, with their distances."""
    total = 0
    for lane in range(8):
        marked = found[lane]
        while marked != np.uint64(0) and total < limit:
            lowest = marked & (~marked + np.uint64(1))
            marked ^= lowest
            distance = 0
            for level in range(height):
                if counts[8 * level + lane] & lowest:
                    distance |= 1 << level
            rows[total] = start + 64 * lane + np.int64(popcount(lowest - np.uint64(1)))
            distances[total] = distance
            total += 1
    return total
