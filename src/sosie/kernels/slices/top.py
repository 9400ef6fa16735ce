"""The k nearest rows of each query over slice lists: with an early stop, or as soon as it is certain (TOPK 2.1)."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.slices.choose import best_scored, keep_least, true_distances
from sosie.kernels.slices.expand import CANDIDATES, COMPARISONS, WORK, Reach, SliceTable, look
from sosie.kernels.slices.rules import ALL, EARLY, Rules, most_promising, settle
from sosie.kernels.slices.sums import Sums, clear, known, rows_with

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


@kernel
def slice_certain(table: SliceTable, queries: U64, reach: Reach, rules: Rules, sums: Sums, best: I64) -> I64:
    """Do what `slice_top` does, but with proofs in `sums`: after each radius the rules are asked whether to stop."""
    work = np.zeros(len(WORK), np.int64)
    for query in range(queries.shape[0]):
        rule, radius, chosen = EARLY, 0, np.empty(0, np.uint32)
        while rule == EARLY and radius <= reach.breadth:
            look(table, queries, query, (radius, radius), reach, sums, work)
            rule, chosen = settle(rows_with(sums, table.live, 1), sums, radius, rules)
            radius += 1
        if rule == EARLY:
            chosen = most_promising(rows_with(sums, table.live, 1), sums, reach.breadth, rules)
        keys = _known_distances(chosen, sums) if rule == ALL else true_distances(table, chosen, queries, query)
        keep_least(keys, best[query])
        work[rule] += 1
        work[CANDIDATES] += chosen.size
        work[COMPARISONS] += 0 if rule == ALL else chosen.size
        clear(sums)
    return work


@kernel
def _known_distances(rows: U32, sums: Sums) -> I64:
    """Return `distance << 48 | row` of rows that were seen in all slices."""
    keys = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        keys[i] = known(sums.of[rows[i]]) << 48 | np.int64(rows[i])
    return keys
