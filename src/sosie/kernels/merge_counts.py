"""Two sorted runs of features with counts become one: counts of equal features are added."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I64, U64
from sosie.kernels.compile import kernel


@kernel
def merge_counts(features: U64, counts: I64, others: U64, other_counts: I64) -> tuple[U64, I64]:
    """Return the features of either run, sorted and distinct, with the sums of their counts; nothing is overallocated.

    >>> a, b = np.array([3, 7], np.uint64), np.array([7, 9], np.uint64)
    >>> [part.tolist() for part in merge_counts(a, np.array([1, 2]), b, np.array([4, 8]))]
    [[3, 7, 9], [1, 6, 8]]
    """
    size = _union_size(features, others)
    merged, sums = np.empty(size, np.uint64), np.empty(size, np.int64)
    i = j = 0
    for place in range(size):
        if j == others.size or (i < features.size and features[i] < others[j]):
            merged[place], sums[place] = features[i], counts[i]
            i += 1
        elif i == features.size or others[j] < features[i]:
            merged[place], sums[place] = others[j], other_counts[j]
            j += 1
        else:
            merged[place], sums[place] = features[i], counts[i] + other_counts[j]
            i += 1
            j += 1
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
