"""How similar two rows of features are, by Jaccard, cosine or containment, and whether that reaches a threshold.

Sets are compared with the threshold in integers: `required_shared` says how many features two sets of given sizes have
to share. Where rows have tags, what they share is words: equal hashes of other words do not count, and a pair that is
below the threshold after that gives COLLIDED. The cosine of weights is computed in float64: products are summed in the
order of the hashes, and the similarity is rounded to a multiple of 2^-40, so that a pair at the threshold is in and
rows of equal direction have exactly 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I64, U32, U64
from sosie.kernels.machine.bits import product
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.tags import UNKNOWN

BELOW, COLLIDED = -1, -2  # instead of how many features are shared: too few, and too few because words differ
JACCARD, COSINE, CONTAINMENT = range(3)  # in the order of the names in `matches.sets.similarity`
FINE = float(1 << 40)


class Sets(NamedTuple):
    """Rows of sorted features, anywhere in one array: row i is `hashes[starts[i]:stops[i]]`."""

    hashes: U64
    starts: I64
    stops: I64


class WeighedSets(NamedTuple):
    """Rows of sorted features anywhere in one array, what each feature weighs, and each row's sum of squared weights.

    Without weights (an empty array) every feature weighs 1, and the sum is the size. Without tags (likewise), equal
    hashes are taken for equal words.
    """

    hashes: U64
    starts: I64
    stops: I64
    weights: F64
    norms: F64
    tags: U32


class Criterion(NamedTuple):
    """What counts as a similar pair: the measure, and at least which similarity as a fraction.

    Rows below `split` are one collection and the others the second (0: one collection joined with itself).
    """

    measure: int
    numerator: int
    denominator: int
    split: int


@kernel
def may_pair(split: int, a: int, b: int) -> bool:
    """Whether two rows are of different collections, or different rows of the only one."""
    return a != b if split == 0 else (a < split) != (b < split)


@kernel
def measure_pairs(rows: WeighedSets, criterion: Criterion, a: I64, b: I64) -> tuple[F64, I64]:
    """Return the similarity of each pair and how many features it shares; below 0 where it is below the threshold."""
    similarity, shared = np.empty(a.size, np.float64), np.empty(a.size, np.int64)
    for pair in range(a.size):
        similarity[pair], shared[pair] = measure_pair(rows, criterion, a[pair], b[pair])
    return similarity, shared


@kernel
def measure_pair(rows: WeighedSets, criterion: Criterion, a: int, b: int) -> tuple[float, int]:
    """Return the similarity of two rows and how many features they share; BELOW or COLLIDED if it is too small."""
    if rows.weights.size > 0:
        return _measure_weights(rows, criterion, a, b)
    return _measure_sets(rows, criterion, a, b)


@kernel
def _measure_sets(rows: WeighedSets, criterion: Criterion, a: int, b: int) -> tuple[float, int]:
    if rows.stops[a] - rows.starts[a] > rows.stops[b] - rows.starts[b]:
        a, b = b, a
    i, i_stop, j, j_stop = rows.starts[a], rows.stops[a], rows.starts[b], rows.stops[b]
    smaller, larger = i_stop - i, j_stop - j
    need = required_shared(criterion, smaller, larger)
    if rows.tags.size > 0:
        if criterion.measure == CONTAINMENT:
            shared = contained_features(rows.hashes, i, i_stop, j, j_stop, need, rows.tags)
        else:
            shared = shared_features(rows.hashes, i, i_stop, j, j_stop, need, rows.tags)
    elif criterion.measure == CONTAINMENT:
        shared = contained_features(rows.hashes, i, i_stop, j, j_stop, need)
    else:
        shared = shared_features(rows.hashes, i, i_stop, j, j_stop, need)
    if shared <= 0:
        return np.float64(shared), shared
    if criterion.measure == COSINE:
        return shared / math.sqrt(np.float64(smaller) * np.float64(larger)), shared
    if criterion.measure == CONTAINMENT:
        return shared / smaller, shared
    return shared / (smaller + larger - shared), shared


@kernel
def _measure_weights(rows: WeighedSets, criterion: Criterion, a: int, b: int) -> tuple[float, int]:
    i, i_stop, j, j_stop = rows.starts[a], rows.stops[a], rows.starts[b], rows.stops[b]
    dot = 0.0
    shared = 0
    below = BELOW
    while i < i_stop and j < j_stop:
        u = rows.hashes[i]
        v = rows.hashes[j]
        if u == v and rows.tags.size > 0 and not same_words(rows.tags, i, j):
            below = COLLIDED
        elif u == v:
            dot += rows.weights[i] * rows.weights[j]
            shared += 1
        i += u <= v
        j += v <= u
    cosine = min(dot / math.sqrt(rows.norms[a] * rows.norms[b]), 1.0) if dot > 0 else 0.0
    cosine = math.floor(cosine * FINE + 0.5) / FINE
    least = math.floor(criterion.numerator / criterion.denominator * FINE + 0.5) / FINE
    return (cosine, shared) if cosine >= least else (-1.0, below)


@kernel
def required_shared(criterion: Criterion, a: int, b: int) -> int:
    """Return how many features two sets of these sizes must share."""
    p, q = criterion.numerator, criterion.denominator
    if criterion.measure == COSINE:
        return required_cosine(a, b, p, q)
    if criterion.measure == CONTAINMENT:
        return (p * min(a, b) + q - 1) // q
    return required_overlap(a, b, p, q)


@kernel
def required_overlap(a: int, b: int, numerator: int, denominator: int) -> int:
    """Return the least c with c / (a + b - c) >= numerator / denominator, in integers."""
    whole = numerator + denominator
    return (numerator * (a + b) + whole - 1) // whole


@kernel
def required_cosine(a: int, b: int, numerator: int, denominator: int) -> int:
    """Return the least c with c / sqrt(a b) >= numerator / denominator, in integers: (c q)^2 >= (p a)(p b)."""
    high, low = product(np.uint64(numerator * a), np.uint64(numerator * b))
    need = int(numerator / denominator * math.sqrt(np.float64(a) * np.float64(b)))
    need -= min(need, 1)
    while True:
        square = product(np.uint64(need * denominator), np.uint64(need * denominator))
        if square[0] > high or (square[0] == high and square[1] >= low):
            return need
        need += 1


@kernel
def same_words(tags: U32, i: int, j: int) -> bool:
    """Whether two features with one hash stand for the same words, as far as these are known."""
    return tags[i] == tags[j] or tags[i] == UNKNOWN or tags[j] == UNKNOWN


@kernel
def shared_features(hashes: U64, i: int, i_stop: int, j: int, j_stop: int, need: int, tags: U32 | None = None) -> int:
    """Return the number of shared features of two sorted spans, or BELOW as soon as it cannot reach `need`.

    With tags, features are shared if their words are, and it is COLLIDED where these were found to differ.
    """
    misses = (i_stop - i) + (j_stop - j) - 2 * need
    if misses < 0 or min(i_stop - i, j_stop - j) < need:
        return BELOW
    shared = 0
    below = BELOW
    while i < i_stop and j < j_stop:
        u = hashes[i]
        v = hashes[j]
        if u == v:  # of similar documents most features are equal: this branch is foreseen
            if tags is not None and not same_words(tags, i, j):
                below = COLLIDED
                misses -= 2
                if misses < 0:
                    return below
            else:
                shared += 1
            i += 1
            j += 1
            continue
        misses -= 1
        if misses < 0:
            return below
        i += u < v
        j += v < u
    return shared if shared >= need else below


@kernel
def contained_features(
    hashes: U64, i: int, i_stop: int, j: int, j_stop: int, need: int, tags: U32 | None = None
) -> int:
    """Return the number of features of a sorted span that a longer one holds, or BELOW once it cannot reach `need`.

    The longer span is searched in steps that double: it may be a thousand times as long. Tags are as for
    `shared_features`.
    """
    misses = (i_stop - i) - need
    shared = 0
    below = BELOW
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
            if tags is not None and not same_words(tags, i, j):
                below = COLLIDED
                misses -= 1
            else:
                shared += 1
            j += 1
        else:
            misses -= 1
        i += 1
    return shared if misses >= 0 else below


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


@kernel
def squared_norms(weights: F64, starts: I64, stops: I64) -> F64:
    """Return each row's sum of squared weights, in the order of the hashes; NaN where a weight is negative or none."""
    norms = np.zeros(starts.size, np.float64)
    for row in range(starts.size):
        for at in range(starts[row], stops[row]):
            weight = weights[at]
            norms[row] += weight * weight if weight >= 0 else np.nan
    return norms
