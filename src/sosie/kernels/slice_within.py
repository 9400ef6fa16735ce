"""All rows within a radius of each query, over slice lists."""

from __future__ import annotations

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.hits import Hits
from sosie.kernels.slice_choose import distance_to
from sosie.kernels.slice_expand import CANDIDATES, COMPARISONS, Reach, SliceTable, look
from sosie.kernels.slice_sums import Sums, clear, rows_with


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
        if total + table.live.size > hits.rows.size:
            return query, total
        look(table, queries, query, (0, reach.breadth), reach, sums, work)
        for row in rows_with(sums, table.live, least):
            distance = distance_to(table, row, queries, query)
            work[CANDIDATES] += 1
            work[COMPARISONS] += 1
            if distance <= radius:
                hits.queries[total], hits.rows[total], hits.distances[total] = query, row, distance
                total += 1
                if first:
                    break
        clear(sums)
    return queries.shape[0], total
