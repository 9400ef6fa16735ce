"""How many features two documents share: a merge of two sorted spans that stops when the threshold is out of reach."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel


@kernel
def required_overlap(a: int, b: int, numerator: int, denominator: int) -> int:
    """Return the least c with c / (a + b - c) >= numerator / denominator, in integers."""
    whole = numerator + denominator
    return (numerator * (a + b) + whole - 1) // whole


@kernel
def shared_features(hashes: U64, i: int, i_stop: int, j: int, j_stop: int, need: int) -> int:
    """Return the number of shared features of two sorted spans, or -1 as soon as it cannot reach `need`."""
    misses = (i_stop - i) + (j_stop - j) - 2 * need
    if misses < 0 or min(i_stop - i, j_stop - j) < need:
        return -1
    shared = 0
    while i < i_stop and j < j_stop:
        u = hashes[i]
        v = hashes[j]
        if u == v:  # of similar documents most features are equal: this branch is foreseen
            shared += 1
            i += 1
            j += 1
            continue
        misses -= 1
        if misses < 0:
            return -1
        i += u < v
        j += v < u
    return shared if shared >= need else -1


@kernel
def contained_features(hashes: U64, i: int, i_stop: int, j: int, j_stop: int, need: int) -> int:
    """Return the number of features of a sorted span that a longer one holds, or -1 once it cannot reach `need`.

    The longer span is searched in steps that double: it may be a thousand times as long.
    """
    misses = (i_stop - i) - need
    shared = 0
    while i < i_stop and misses >= 0:
        u = hashes[i]
        step = 1
        while j + step <= j_stop and hashes[j + step - 1] < u:
            j += step
            step *= 2
        high = min(j + step - 1, j_stop)
        while j < high:
            middle = (j + high) // 2
            if hashes[middle] < u:
                j = middle + 1
            else:
                high = middle
        if j < j_stop and hashes[j] == u:
            shared += 1
            j += 1
        else:
            misses -= 1
        i += 1
    return shared if misses >= 0 else -1


@kernel
def overlaps(hashes: U64, starts: I64, stops: I64, a: I64, b: I64, fraction: tuple[int, int]) -> I64:
    """Return the number of shared features of each pair, or -1 where its Jaccard similarity is below the fraction."""
    shared = np.empty(a.size, np.int64)
    for pair in range(a.size):
        i = a[pair]
        j = b[pair]
        need = required_overlap(stops[i] - starts[i], stops[j] - starts[j], fraction[0], fraction[1])
        shared[pair] = shared_features(hashes, starts[i], stops[i], starts[j], stops[j], need)
    return shared


@kernel
def dot_products(hashes: U64, weights: I64, starts: I64, stops: I64, a: I64, b: I64) -> I64:
    """Return the sum of weight * weight over the shared features of each pair."""
    dots = np.zeros(a.size, weights.dtype)
    for pair in range(a.size):
        i = starts[a[pair]]
        i_stop = stops[a[pair]]
        j = starts[b[pair]]
        j_stop = stops[b[pair]]
        while i < i_stop and j < j_stop:
            u = hashes[i]
            v = hashes[j]
            if u == v:
                dots[pair] += weights[i] * weights[j]
            i += u <= v
            j += v <= u
    return dots
