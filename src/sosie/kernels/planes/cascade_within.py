"""All rows within a radius of each query, exactly: those with few carries are compared."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.cascade import Rows, count_chunk
from sosie.kernels.planes.count import mark_below
from sosie.kernels.planes.layout import Asked
from sosie.kernels.planes.tighten import distance_of
from sosie.kernels.tables.hits import Hits

_SHARE, _LEAST = 64, 4096  # one row in so many may be compared, and these: more are too many for a cascade


@kernel
def cascade_within(
    rows: Rows, span: tuple[int, int], asked: Asked, queries: U64, radius: int, wanted: I64, hits: Hits
) -> tuple[int, int, bool]:
    """Write the matches in the blocks of `span`; return the block to go on with, the number of matches, and if it pays.

    A row has at most half as many carries as its distance, so none is missed. It stops when the room in `hits` may not
    suffice for the next block, and when too many rows have few carries: then all planes should be counted instead.
    `wanted[query]` is how many more matches a query wants, and is counted down.
    """
    flat, marks = rows.majorities.reshape(rows.majorities.size), rows.live.reshape(rows.live.size)
    stride, height = rows.majorities.shape[1] * 32, asked.slices.shape[1] // 8
    heights, found = np.full(len(queries), height), np.empty(8, np.uint64)
    total, compared = 0, 0
    for block in range(span[0], span[1]):
        if total + len(queries) * 512 > hits.rows.size:
            return block, total, True
        if compared > _LEAST + (block - span[0]) * 512 * len(queries) // _SHARE:
            return block, total, False
        for chunk in range(asked.units.shape[1]):
            count_chunk(flat, block * stride, asked.order, asked.units, chunk, asked.slices, heights)
        for query in range(len(queries)):
            if mark_below(asked.slices[query], height, radius // 2 + 1, marks, 8 * block, found):
                for lane in range(8):
                    marked = found[lane]
                    while marked != np.uint64(0) and wanted[query]:
                        row = 512 * block + 64 * lane + np.int64(trailing_zeros(marked))
                        marked &= marked - np.uint64(1)
                        distance = distance_of(rows.words[row], queries[query])
                        compared += 1
                        if distance <= radius:
                            hits.queries[total], hits.rows[total], hits.distances[total] = query, row, distance
                            wanted[query] -= 1
                            total += 1
    return span[1], total, True
