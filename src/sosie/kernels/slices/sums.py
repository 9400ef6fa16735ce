"""What slice lists have told about each row: one addition for each posting.

An early stop needs one number for each row, a score in 16 bits. The rules that want proof need three: in how many
slices a row was seen, at which distance, and how many bits are known to agree. These share a word of 64 bits.
`radius` is always the largest that was expanded: a slice in which a row was not seen differs in more bits than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U16, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.tables.blocks import is_live

_FIELD = 0xFFFF  # agreement, distance and slices have 16 bits each: enough for signatures of 4096 bits
SCORES = 8192  # all scores are below: 3 for each of 2048 slices is the most
_MANY = 256  # one row in so many
_BLOCK = 32  # rows of which mostly none is wanted


class Sums(NamedTuple):
    """What each row has gained, 0 if it was not seen; the rows seen are `seen[: count[0]]`, as they came.

    As soon as they are many, they are not noted any more: then a pass over all rows costs less.
    """

    of: U16 | U64
    seen: U32
    count: I64


def no_scores(rows: int) -> Sums:
    """Return sums that hold scores; no kernel, so that memory is taken only where rows are seen."""
    return Sums(np.zeros(rows, np.uint16), np.empty(rows + 1, np.uint32), np.zeros(1, np.int64))


def no_proofs(rows: int) -> Sums:
    """Return sums that hold agreement | distance << 16 | slices << 32."""
    return Sums(np.zeros(rows, np.uint64), np.empty(rows + 1, np.uint32), np.zeros(1, np.int64))


def pessimistic_gains(width: int, breadth: int) -> U64:
    """Return the bits that agree, by the width of the slice and the radius: the papers' score.

    It takes all bits to differ in slices in which a row was not seen.

    >>> pessimistic_gains(4, 2)[4].tolist()
    [4, 3, 2]
    """
    return np.maximum(np.arange(width + 1)[:, None] - np.arange(breadth + 1), 0).astype(np.uint64)


def optimistic_gains(width: int, breadth: int) -> U64:
    """Return by how many bits a slice is nearer than one in which a row was not seen, if that is at the next radius.

    Never 0; and in the order of `pessimistic_gains` where a slice has no more than `breadth + 1` bits.

    >>> optimistic_gains(4, 2)[4].tolist()
    [3, 2, 1]
    """
    return np.broadcast_to(breadth + 1 - np.arange(breadth + 1), (width + 1, breadth + 1)).astype(np.uint64)


def proof_gains(width: int, breadth: int) -> U64:
    """Return what sums that hold proofs gain."""
    return pessimistic_gains(width, breadth) + ((1 << 32) + (np.arange(breadth + 1) << 16)).astype(np.uint64)


@kernel
def are_many(sums: Sums) -> bool:
    """Say whether a pass over all rows costs less than one over those that were seen."""
    return _MANY * sums.count[0] > sums.of.size


@kernel
def clear(sums: Sums) -> None:
    """Forget every row that was seen."""
    if are_many(sums):
        sums.of[:] = 0
    else:
        for i in range(sums.count[0]):
            sums.of[sums.seen[i]] = 0
    sums.count[0] = 0


@kernel
def rows_with(sums: Sums, live: U64, least: int) -> U32:
    """Return the live rows whose sum is at least `least`, which is not 0; in no order, unless they are many.

    They are in memory that changes when other rows are seen.
    """
    if are_many(sums):
        return _pass(sums, live, sums.of.dtype.type(least))
    rows = np.empty(sums.count[0], np.uint32)
    found = 0
    for row in sums.seen[: rows.size]:
        if sums.of[row] >= least and is_live(live, row):
            rows[found] = row
            found += 1
    return rows[:found]


@kernel
def _pass(sums: Sums, live: U64, least: int) -> U32:
    """Look at all rows in order, some at a time without branches."""
    found = 0
    for first in range(0, sums.of.size, _BLOCK):
        some = first + _BLOCK > sums.of.size
        if not some:
            block = sums.of[first : first + _BLOCK]
            for i in range(_BLOCK):
                some |= block[i] >= least
        if some:
            for row in range(first, min(first + _BLOCK, sums.of.size)):
                if sums.of[row] >= least and is_live(live, row):
                    sums.seen[found] = row
                    found += 1
    return sums.seen[:found]


@kernel
def agreement(proof: int) -> int:
    """Return how many bits are known to agree; in the worst case (the pessimistic distance) all others differ."""
    return np.int64(proof) & _FIELD


@kernel
def known(proof: int) -> int:
    """Return the distance in the slices that were seen."""
    return np.int64(proof) >> 16 & _FIELD


@kernel
def slices_seen(proof: int) -> int:
    """Return in how many slices the row was seen."""
    return np.int64(proof) >> 32


@kernel
def optimistic(proof: int, slices: int, radius: int) -> int:
    """Return the least distance that the row may have (TOPK 2.1): every other slice is seen at the next radius."""
    return known(proof) + (radius + 1) * (slices - slices_seen(proof))
