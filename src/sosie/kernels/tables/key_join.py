"""Groups of rows with equal keys, and the pairs inside them."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.tables.sort_rows import bits_to_tell, gather_equal, sort_by_top_bits


def group_by_key(keys: U64) -> tuple[I64, I64]:
    """Return the groups of at least two rows with equal keys as `offsets, members`, members in order.

    >>> offsets, members = group_by_key(np.array([5, 9, 5, 7], np.uint64))
    >>> offsets.tolist(), members.tolist()
    ([0, 2], [0, 2])
    """
    bits = bits_to_tell(len(keys))
    mixed, rows = sort_by_top_bits(_mix_all(keys), np.arange(len(keys)), bits)
    gather_equal(mixed, rows, bits)
    return _shared_only(mixed, rows)


@kernel
def _mix_all(keys: U64) -> U64:
    """Return keys spread over all bits; the mixing is a bijection, so equal ones stay equal and others do not."""
    mixed = np.empty(keys.size, np.uint64)
    for i in range(keys.size):
        mixed[i] = splitmix64(keys[i])
    return mixed


@kernel
def _shared_only(keys: U64, rows: I64) -> tuple[I64, I64]:
    """Drop the rows that are alone with their key."""
    offsets, members = np.zeros(keys.size + 1, np.int64), np.empty(keys.size, np.int64)
    groups, filled = 0, 0
    begin = 0
    while begin < keys.size:
        end = begin + 1
        while end < keys.size and keys[end] == keys[begin]:
            end += 1
        if end - begin > 1:
            members[filled : filled + end - begin] = rows[begin:end]
            filled += end - begin
            groups += 1
            offsets[groups] = filled
        begin = end
    return offsets[: groups + 1].copy(), members[:filled].copy()


@kernel
def count_pairs(offsets: I64, members: I64, split: int, limit: int) -> int:
    """Return the number of pairs inside groups of at most `limit` rows."""
    total = 0
    for group in range(offsets.size - 1):
        size = offsets[group + 1] - offsets[group]
        if size > limit:
            continue
        if split == 0:
            total += size * (size - 1) // 2
        else:
            first = 0
            for place in range(offsets[group], offsets[group + 1]):
                first += members[place] < split
            total += first * (size - first)
    return total


@kernel
def write_pairs(offsets: I64, members: I64, split: int, limit: int, pairs: U64) -> None:
    """Write the pairs inside groups of at most `limit` rows, packed: a in the upper, b in the lower 32 bits.

    Rows from `split` on are the second collection; with a split of 0 there is only one.
    """
    count = 0
    for group in range(offsets.size - 1):
        begin, end = offsets[group], offsets[group + 1]
        if end - begin > limit:
            continue
        middle = begin
        while middle < end and members[middle] < split:
            middle += 1
        for i in range(begin, end if split == 0 else middle):
            for j in range(max(i + 1, middle), end):
                pairs[count] = np.uint64(members[i]) << np.uint64(32) | np.uint64(members[j])
                count += 1
