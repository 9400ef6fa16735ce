"""The k nearest rows of each query, over slice lists, with an early stop (TOPK 2.1): without proof, as is usual."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.slice_choose import best_scored, keep_least, true_distances
from sosie.kernels.slice_expand import CANDIDATES, COMPARISONS, WORK, Reach, SliceTable, look
from sosie.kernels.slice_rules import EARLY
from sosie.kernels.slice_sums import Sums, clear

UNFILLED = np.iinfo(np.int64).max


@kernel
def slice_top(table: SliceTable, queries: U64, reach: Reach, candidates: int, sums: Sums, best: I64) -> I64:
    """Fill `best[query]` with `distance << 48 | row`, ascending, as far as rows are found; return the `WORK`."""
    work = np.zeros(len(WORK), np.int64)
    for query in range(queries.shape[0]):
        look(table, queries, query, (0, reach.breadth), reach, sums, work)
        chosen = best_scored(sums, table.live, candidates)
        keep_least(true_distances(table, chosen, queries, query), best[query])
        work[EARLY] += 1
        work[CANDIDATES] += chosen.size
        work[COMPARISONS] += chosen.size
        clear(sums)
    return work
