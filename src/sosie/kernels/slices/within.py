"""All rows within a radius of each query, over slice lists."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import sort_values
from sosie.kernels.slices.choose import distance_to
from sosie.kernels.slices.expand import CANDIDATES, COMPARISONS, Reach, SliceTable, look
from sosie.kernels.slices.sums import Sums, clear, rows_with
from sosie.kernels.tables.hits import Hits

_ROW, _DISTANCE = 16, 0xFFFF  # the shift of a row, and the bits of a distance


@kernel
def slice_within(
    table: SliceTable, queries: U64, start: int, limits: tuple[int, Reach, bool], sums: Sums, hits: Hits, work: I64
) -> tuple[int, int]:
    """Write the matches of the queries from `start` on, rows in order; return the query to go on with, and how many.

    `limits` are the radius, the reach, whose gains are optimistic, and whether the lowest row is enough. It stops when
    there may not be room in `hits` for all that a query finds.
    """
    radius, reach, first = limits
    least = max(1, (reach.breadth + 1) * (table.lists.edges.size - 1) - radius)  # or else it is farther in any case
    total = 0
    for query in range(start, queries.shape[0]):
        if total + table.words.shape[0] > hits.rows.size:
            return query, total
        look(table, queries, query, (0, reach.breadth), reach, sums, work)
        rows = rows_with(sums, table.live, least)
        near = _near(table, rows, queries, query, radius)
        sort_values(near)
        for key in near[:1] if first else near:
            hits.queries[total], hits.rows[total], hits.distances[total] = query, key >> _ROW, key & _DISTANCE
            total += 1
        work[CANDIDATES] += rows.size
        work[COMPARISONS] += rows.size
        clear(sums)
    return queries.shape[0], total


@kernel
def _near(table: SliceTable, rows: U32, queries: U64, query: int, radius: int) -> I64:
    """Return `row << 16 | distance` of the rows that are within the radius."""
    keys = np.empty(rows.size, np.int64)
    found = 0
    for row in rows:
        distance = distance_to(table, row, queries, query)
        if distance <= radius:
            keys[found] = np.int64(row) << _ROW | distance
            found += 1
    return keys[:found]
