"""What slice lists have told about each row: in how many slices it was seen, at which distance, with which score.

The three sums share a word, so that a posting is one addition. `radius` is always the largest that was expanded: a
slice in which a row was not seen differs in more bits than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import I64, U32, U64, Bools
from sosie.kernels.compile import kernel

_FIELD = 0xFFFF  # score, distance and slices have 16 bits each: enough for signatures of 4096 bits


class Sums(NamedTuple):
    """`of[row]` is score | distance << 16 | slices << 32; the rows seen are `seen[: count[0]]`, as they came.

    As soon as that are many, they need not be noted any more: then a pass over all rows costs less.
    """

    of: U64
    seen: U32
    count: I64


def no_sums(rows: int) -> Sums:
    """Return sums of rows that were not seen yet; no kernel, so that memory is taken only where rows are seen."""
    return Sums(np.zeros(rows, np.uint64), np.empty(rows + 1, np.uint32), np.zeros(1, np.int64))


@kernel
def are_many(count: int, rows: int) -> bool:
    """Say whether a pass over all rows costs less than one over those that were seen, in order."""
    return 64 * count > rows


@kernel
def clear(sums: Sums) -> None:
    """Forget every row that was seen."""
    if are_many(sums.count[0], sums.of.size):
        sums.of[:] = np.uint64(0)
    else:
        for i in range(sums.count[0]):
            sums.of[sums.seen[i]] = np.uint64(0)
    sums.count[0] = 0


@kernel
def score(of: int) -> int:
    """Return how many bits are known to agree; in the worst case (the pessimistic distance) all others differ."""
    return np.int64(of) & _FIELD


@kernel
def known(of: int) -> int:
    """Return the distance in the slices that were seen."""
    return np.int64(of) >> 16 & _FIELD


@kernel
def slices_seen(of: int) -> int:
    """Return in how many slices the row was seen."""
    return np.int64(of) >> 32


@kernel
def optimistic(of: int, slices: int, radius: int) -> int:
    """Return the least distance that the row may have (TOPK 2.1): every other slice is seen at the next radius."""
    return known(of) + (radius + 1) * (slices - slices_seen(of))


@kernel
def gain_of(width: int, radius: int) -> np.uint64:
    """Return what a row gains by being seen at `radius` bits from a slice."""
    return np.uint64((1 << 32) | (radius << 16) | (width - radius))


@kernel
def live_rows(sums: Sums, live: Bools) -> U32:
    """Return the live rows that were seen, in order; they may be changed when others are seen."""
    found = 0
    if are_many(sums.count[0], live.size):
        for row in range(live.size):
            if sums.of[row] != np.uint64(0) and live[row]:
                sums.seen[found] = row
                found += 1
        return sums.seen[:found]
    rows = np.empty(sums.count[0], np.uint32)
    for i in range(rows.size):
        if live[sums.seen[i]]:
            rows[found] = sums.seen[i]
            found += 1
    rows = rows[:found]
    rows.sort()
    return rows
