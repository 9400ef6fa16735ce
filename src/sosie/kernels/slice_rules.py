"""When a search over slice lists may stop, and which rows it then looks at (TOPK 2.1).

A row is a *contender* while its best case is no worse than the k-th worst case: then it may be among the k nearest.
Rows that were never seen have a best case, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import U32
from sosie.kernels.compile import kernel
from sosie.kernels.slice_sums import Sums, optimistic, score, slices_seen

ALL, CERTAIN, EARLY = 0, 1, 2  # the rules, the strictest first


class Effort(NamedTuple):
    """How far to go: up to `breadth` bits of a slice, with new rows up to `admit` and `candidates` rows compared."""

    breadth: int
    admit: int
    candidates: int
    stop: int
    optimistic: bool


class Shape(NamedTuple):
    """What distances are made of: bits in slices; and how many rows are present."""

    bits: int
    slices: int
    present: int


@kernel
def settle(rows: U32, sums: Sums, shape: Shape, k: int, radius: int, effort: Effort) -> tuple[int, U32]:
    """Return the rule by which the search may stop after `radius`, with the contenders; else EARLY.

    ALL: every contender was seen in all slices, so that its distance is known. (That k rows were is not enough: a row
    that differs in one slice alone, by more than the radius, may be nearer.) CERTAIN: the contenders are few enough to
    be compared.
    """
    worst = _kth_worst(rows, sums, shape.bits, k)
    if rows.size < shape.present and (radius + 1) * shape.slices <= worst:
        return EARLY, rows[:0]
    contenders = np.empty(rows.size, np.uint32)
    count = 0
    complete = True
    for row in rows:
        if optimistic(sums.of[row], shape.slices, radius) <= worst:
            contenders[count] = row
            count += 1
            complete &= slices_seen(sums.of[row]) == shape.slices
    if complete:
        return ALL, contenders[:count]
    if effort.stop == CERTAIN and count <= effort.candidates:
        return CERTAIN, contenders[:count]
    return EARLY, rows[:0]


@kernel
def _kth_worst(rows: U32, sums: Sums, bits: int, k: int) -> int:
    """Return the k-th smallest pessimistic distance; of rows that were not seen it is all bits."""
    at = np.zeros(bits + 1, np.int64)
    for row in rows:
        at[bits - score(sums.of[row])] += 1
    below = 0
    for distance in range(bits):
        below += at[distance]
        if below >= k:
            return distance
    return bits


@kernel
def most_promising(rows: U32, sums: Sums, shape: Shape, radius: int, effort: Effort) -> U32:
    """Return the rows with the smallest estimates, as many as may be compared; ties go to the lower row."""
    if rows.size <= effort.candidates:
        return rows
    estimates = np.empty(rows.size, np.int64)
    at = np.zeros(shape.bits + 1, np.int64)
    for i in range(rows.size):
        of = sums.of[rows[i]]
        estimates[i] = optimistic(of, shape.slices, radius) if effort.optimistic else shape.bits - score(of)
        at[estimates[i]] += 1
    border, left = 0, effort.candidates
    while at[border] <= left:
        left -= at[border]
        border += 1
    chosen = np.empty(effort.candidates, np.uint32)
    count = 0
    for i in range(rows.size):
        if estimates[i] < border or (estimates[i] == border and left > 0):
            left -= np.int64(estimates[i] == border)
            chosen[count] = rows[i]
            count += 1
    return chosen
