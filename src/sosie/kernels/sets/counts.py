"""Features found by their leading bits: counts of sorted ones, and the places of those that are sought."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64, Bools
from sosie.kernels.machine.compile import kernel


def leading_bits(features: U64) -> tuple[I64, int]:
    """Return a directory of sorted features and its bits: those that begin with d lie from `[d]` to `[d + 1]`.

    >>> directory, bits = leading_bits(np.array([1, 2, 1 << 63], np.uint64))
    >>> directory.tolist(), bits
    ([0, 2, 3], 1)
    """
    bits = max(1, (len(features) // 2).bit_length())
    first = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    return np.append(np.searchsorted(features, first), len(features)), bits


@kernel
def lookup_counts(features: U64, counts: I64, directory: I64, bits: int, hashes: U64, found: I64) -> None:
    """Write the count of each hash to `found`, 0 for those that are not among the sorted features."""
    shift = np.uint64(64 - bits)
    for i in range(hashes.size):
        entry = np.int64(hashes[i] >> shift)
        low, end = directory[entry], directory[entry + 1]
        high = end
        while low < high:
            middle = (low + high) >> 1
            if features[middle] < hashes[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = counts[low] if low < end and features[low] == hashes[i] else 0


@kernel
def merge_counts(features: U64, counts: I64, others: U64, other_counts: I64) -> tuple[U64, I64]:
    """Return the features of either run, sorted and distinct, with the sums of their counts.

    The union is counted first, so that no more memory is taken than the result needs. Which run is next cannot be
    predicted, so there are no branches.

    >>> a, b = np.array([3, 7], np.uint64), np.array([7, 9], np.uint64)
    >>> [part.tolist() for part in merge_counts(a, np.array([1, 2]), b, np.array([4, 8]))]
    [[3, 7, 9], [1, 6, 8]]
    """
    size = _union_size(features, others)
    merged, sums = np.empty(size, np.uint64), np.empty(size, np.int64)
    i = j = place = 0
    while i < features.size and j < others.size:
        a, b = features[i], others[j]
        first, second = np.int64(a <= b), np.int64(b <= a)
        merged[place] = min(a, b)
        sums[place] = first * counts[i] + second * other_counts[j]
        i += first
        j += second
        place += 1
    rest = place + features.size - i
    for at in range(place, rest):
        merged[at], sums[at] = features[i + at - place], counts[i + at - place]
    for at in range(rest, size):
        merged[at], sums[at] = others[j + at - rest], other_counts[j + at - rest]
    return merged, sums


@kernel
def _union_size(a: U64, b: U64) -> int:
    i = j = shared = 0
    while i < a.size and j < b.size:
        x, y = a[i], b[j]
        shared += x == y
        i += x <= y
        j += y <= x
    return a.size + b.size - shared


@kernel
def sought_places(hashes: U64, starts: I64, stops: I64, maybe: Bools, shift: int) -> tuple[I64, I64]:
    """Return the places in `hashes` of features whose leading bits the filter knows, and the row that each is in."""
    bits = np.uint64(shift)
    most = 0
    for row in range(starts.size):
        most += stops[row] - starts[row]
    # Room for all: arrays that grow inside the loop would be counted as references in every step.
    places, rows = np.empty(most, np.int64), np.empty(most, np.int64)
    found = 0
    for row in range(starts.size):
        for at in range(starts[row], stops[row]):
            if maybe[hashes[at] >> bits]:
                places[found], rows[found] = at, row
                found += 1
    return places[:found].copy(), rows[:found].copy()
