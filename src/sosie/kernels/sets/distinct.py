"""Rows of hashes with repeats -> rows of sorted distinct hashes, with counts.

Hashes are evenly spread, so one pass by their leading bits puts every hash within a step or two of its place and an
insertion sort does the rest. Where that fails (many repeats, or hashes that are not spread) a radix sort keeps the
time linear.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import read_only
from sosie.kernels.machine.compile import kernel

_CROWDED = 24  # a bucket above this size is sorted by radix


def distinct(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], want_counts: bool = False
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32] | None]:
    """Return the rows with their hashes sorted and distinct, new offsets from 0 on, and how often each occurred.

    >>> values, offsets, counts = distinct(np.array([7, 3, 7, 9], np.uint64), np.array([0, 3, 4]), True)
    >>> values.tolist(), offsets.tolist(), counts.tolist()
    ([3, 7, 9], [0, 2, 3], [1, 2, 1])
    """
    values = np.empty(int(offsets[-1] - offsets[0]), np.uint64)
    kept = np.zeros(len(offsets), np.int64)
    counts = np.empty(len(values) if want_counts else 0, np.int32)
    total = _distinct(read_only(hashes), read_only(offsets), values, kept, counts, want_counts)
    return values[:total], kept, counts[:total] if want_counts else None


@kernel
def _distinct(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    values: NDArray[np.uint64],
    kept: NDArray[np.int64],
    counts: NDArray[np.int32],
    want_counts: bool,
) -> int:
    longest = 1
    for row in range(offsets.size - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    ordered = np.empty(longest, np.uint64)
    spare = np.empty(longest, np.uint64)
    ends = np.empty(2 * longest + 2, np.int64)
    total = 0
    for row in range(offsets.size - 1):
        size = offsets[row + 1] - offsets[row]
        _sort(hashes, offsets[row], size, ordered, ends, spare)
        begin = total
        for i in range(size):
            value = ordered[i]
            values[total] = value
            fresh = i == 0 or value != ordered[i - 1]
            if want_counts:
                if fresh:
                    counts[total] = 1
                else:
                    counts[total - 1] += 1
            total += fresh
        kept[row + 1] = kept[row] + total - begin
    return total


@kernel
def _sort(
    hashes: NDArray[np.uint64],
    start: int,
    size: int,
    ordered: NDArray[np.uint64],
    ends: NDArray[np.int64],
    spare: NDArray[np.uint64],
) -> None:
    """Sort `hashes[start : start + size]` into `ordered[:size]`."""
    bits = 1
    while (1 << bits) < size:
        bits += 1
    shift = np.uint64(64 - bits)
    buckets = 1 << bits
    ends[:buckets] = 0
    for i in range(start, start + size):
        ends[np.int64(hashes[i] >> shift)] += 1
    position = 0
    fullest = 0
    for bucket in range(buckets):
        held = ends[bucket]
        fullest = max(fullest, held)
        ends[bucket] = position
        position += held
    for i in range(start, start + size):
        held_in = np.int64(hashes[i] >> shift)
        ordered[ends[held_in]] = hashes[i]
        ends[held_in] += 1
    if fullest > _CROWDED:
        begin = np.int64(0)
        for bucket in range(buckets):
            if ends[bucket] - begin > _CROWDED:
                _radix(ordered, begin, ends[bucket], spare)
            begin = ends[bucket]
    for i in range(1, size):
        value = ordered[i]
        j = i
        while j > 0 and ordered[j - 1] > value:
            ordered[j] = ordered[j - 1]
            j -= 1
        ordered[j] = value


@kernel
def _radix(values: NDArray[np.uint64], begin: int, end: int, spare: NDArray[np.uint64]) -> None:
    """Sort `values[begin:end]` by one byte after the other."""
    counts = np.empty(257, np.int64)
    for shift in range(0, 64, 8):
        counts[:] = 0
        for i in range(begin, end):
            counts[np.int64((values[i] >> np.uint64(shift)) & np.uint64(255)) + 1] += 1
        for byte in range(256):
            counts[byte + 1] += counts[byte]
        for i in range(begin, end):
            digit = np.int64((values[i] >> np.uint64(shift)) & np.uint64(255))
            spare[counts[digit]] = values[i]
            counts[digit] += 1
        for i in range(begin, end):
            values[i] = spare[i - begin]
