"""The k nearest rows of each query, over slice lists."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.slice_expand import CANDIDATES, COMPARISONS, WORK, SliceTable, distance_to, look
from sosie.kernels.slice_rules import ALL, EARLY, Effort, Shape, most_promising, settle
from sosie.kernels.slice_sums import Sums, clear, known, live_rows

UNFILLED = np.iinfo(np.int64).max


@kernel
def slice_top(table: SliceTable, queries: U64, effort: Effort, sums: Sums, best: I64) -> I64:
    """Fill `best[query]` with `distance << 48 | row`, ascending, as far as rows are found; return the `WORK`."""
    shape = Shape(table.lists.edges[-1], table.lists.edges.size - 1, table.present)
    k = best.shape[1]
    work = np.zeros(len(WORK), np.int64)
    for query in range(queries.shape[0]):
        rule, chosen = EARLY, np.empty(0, np.uint32)
        for radius in range(effort.breadth + 1):
            look(table, queries, query, radius, radius <= effort.admit, sums, work)
            if effort.stop != EARLY:
                rule, chosen = settle(live_rows(sums, table.live), sums, shape, k, radius, effort)
                if rule != EARLY:
                    break
        if rule == EARLY:
            chosen = most_promising(live_rows(sums, table.live), sums, shape, effort.breadth, effort)
        keys = np.empty(chosen.size, np.int64)
        for i in range(chosen.size):
            row = np.int64(chosen[i])
            distance = known(sums.of[row]) if rule == ALL else distance_to(table, row, queries, query)
            keys[i] = distance << 48 | row
        keys.sort()
        best[query, : min(k, keys.size)] = keys[:k]
        work[rule] += 1
        work[CANDIDATES] += keys.size
        work[COMPARISONS] += 0 if rule == ALL else keys.size
        clear(sums)
    return work
