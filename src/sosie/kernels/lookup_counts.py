"""The counts of given features in a sorted table, through a directory of their leading bits."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel


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
