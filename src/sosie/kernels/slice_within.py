"""All rows within a radius of each query, over slice lists."""

from __future__ import annotations

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.hits import Hits
from sosie.kernels.slice_expand import CANDIDATES, COMPARISONS, SliceTable, distance_to, look
from sosie.kernels.slice_rules import CERTAIN, EARLY
from sosie.kernels.slice_sums import Sums, clear, live_rows, optimistic


@kernel
def slice_within(
    table: SliceTable, queries: U64, start: int, limits: tuple[int, int, bool], sums: Sums, hits: Hits, work: I64
) -> tuple[int, int]:
    """Write the matches of the queries from `start` on, rows in order; return the query to go on with, and how many.

    `limits` are the radius, the breadth, and whether the lowest row is enough. Rows within the radius have a slice
    that differs in at most radius / slices bits: farther lists bring none. It stops when there may not be room in
    `hits` for all that a query finds.
    """
    radius, breadth, first = limits
    slices = table.lists.edges.size - 1
    reach = min(breadth, radius // slices)
    rule = CERTAIN if radius < (breadth + 1) * slices else EARLY
    total = 0
    for query in range(start, queries.shape[0]):
        if total + table.live.size > hits.rows.size:
            return query, total
        for bits in range(reach + 1):
            look(table, queries, query, bits, True, sums, work)
        work[rule] += 1
        for row in live_rows(sums, table.live):
            if optimistic(sums.of[row], slices, reach) > radius:
                continue
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
