"""When a search over slice lists may stop, because nothing else can be nearer (TOPK 2.1).

A row is a *contender* while its best case is no worse than the k-th worst case: then it may be among the k nearest.
Rows that were never seen have a best case, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import U32
from sosie.kernels.machine.compile import kernel
from sosie.kernels.slices.choose import greatest
from sosie.kernels.slices.sums import Sums, agreement, optimistic, slices_seen

ALL, CERTAIN, EARLY = 0, 1, 2  # the rules, the strictest first


class Rules(NamedTuple):
    """What is asked: `k` rows of those `present`, out of `bits` in `slices`; and how it may be answered.

    `stop` is the rule, `candidates` the rows that may be compared, `optimistic` the estimate that chooses them.
    """

    k: int
    present: int
    bits: int
    slices: int
    stop: int
    candidates: int
    optimistic: bool


@kernel
def settle(rows: U32, sums: Sums, radius: int, rules: Rules) -> tuple[int, U32]:
    """Return the rule by which the search may stop after `radius`, with the contenders; else EARLY.

    ALL: every contender was seen in all slices, so that its distance is known. (That k rows were is not enough: a row
    that differs in one slice alone, by more than the radius, may be nearer.) CERTAIN: the contenders are few enough to
    be compared.
    """
    worst = _kth_worst(rows, sums, rules)
    if rows.size < rules.present and (radius + 1) * rules.slices <= worst:
        return EARLY, rows[:0]
    contenders = np.empty(rows.size, np.uint32)
    count = 0
    complete = True
    for row in rows:
        if optimistic(sums.of[row], rules.slices, radius) <= worst:
            contenders[count] = row
            count += 1
            complete &= slices_seen(sums.of[row]) == rules.slices
    if complete:
        return ALL, contenders[:count]
    if rules.stop == CERTAIN and count <= rules.candidates:
        return CERTAIN, contenders[:count]
    return EARLY, rows[:0]


@kernel
def _kth_worst(rows: U32, sums: Sums, rules: Rules) -> int:
    """Return the k-th smallest pessimistic distance; of rows that were not seen it is all bits."""
    at = np.zeros(rules.bits + 1, np.int64)
    for row in rows:
        at[rules.bits - agreement(sums.of[row])] += 1
    below = 0
    for distance in range(rules.bits):
        below += at[distance]
        if below >= rules.k:
            return distance
    return rules.bits


@kernel
def most_promising(rows: U32, sums: Sums, radius: int, rules: Rules) -> U32:
    """Return the rows with the smallest estimates, as many as may be compared; ties go to the lower row."""
    merits = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        proof = sums.of[rows[i]]
        if rules.optimistic:
            merits[i] = (radius + 1) * rules.slices - optimistic(proof, rules.slices, radius)
        else:
            merits[i] = agreement(proof)
    return greatest(rows, merits, rules.candidates)
