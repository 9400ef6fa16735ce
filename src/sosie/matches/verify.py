"""Candidates become duplicates only here: the true similarity of every pair, from the features themselves."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np

from sosie.arrays import check_rows
from sosie.kernels.sets.similarity import COLLIDED, Criterion, Sets, WeighedSets, dot_products, measure_pairs
from sosie.matches.sets.rows import sets_of, weighed_sets, weights_of
from sosie.matches.sets.similarity import JACCARD, Measure, Similarity, similarity_of
from sosie.matches.sets.threshold import as_fraction, cosine_reaches, criterion_of
from sosie.parallel import ordered_map
from sosie.types import F64, I64, Features, Pairs, VerifiedPairs

SPAN = 1 << 13  # pairs that one task verifies


def verify(
    pairs: Pairs,
    features: Features,
    other: Features | None = None,
    *,
    threshold: float | str | Fraction,
    measure: Measure = "jaccard",
    threads: int | None = None,
) -> VerifiedPairs:
    """Return the pairs whose similarity is at least the threshold, compared exactly.

    Jaccard and containment compare the sets of features; cosine compares their term counts (1 each where there are
    none).

    >>> features = Features(np.array([1, 2, 3, 4, 1, 2, 3, 4, 5], np.uint64), np.array([0, 4, 9]))
    >>> pairs = verify(Pairs(np.array([0]), np.array([1])), features, threshold=0.8)
    >>> pairs.similarity.tolist(), pairs.shared.tolist(), pairs.total.tolist()
    ([0.8], [4], [5])
    """
    sets, split = sets_of(features, other)
    check_rows("the rows of pairs", pairs.a, len(features))
    check_rows("the rows of pairs", pairs.b, len(features if other is None else other))
    similarity = similarity_of(measure, features, other)
    return verify_rows(sets, pairs, threshold, threads, split=split, similarity=similarity)


def verify_rows(
    sets: Sets,
    pairs: Pairs,
    threshold: float | str | Fraction,
    threads: int | None = None,
    *,
    split: int = 0,
    similarity: Similarity = JACCARD,
) -> VerifiedPairs:
    """Verify pairs of rows; the b side starts at row `split`.

    With tags, they are verified by their words: the counter `collisions` says how many are not similar, because hashes
    that both have stand for other words in each.
    """
    weights = similarity.weights
    if weights is not None and weights.dtype.kind in "iu":
        counts = weights_of(weights, sets, np.int64)
        return _verify_counts(sets, counts, pairs, as_fraction(threshold), threads, split)
    rows, criterion = weighed_sets(sets, similarity), criterion_of(similarity, threshold)
    values, shared = measured(rows, criterion, pairs.a, pairs.b + split, threads)
    collided = int(np.count_nonzero(shared == COLLIDED))
    similar = np.flatnonzero(shared > 0)  # two rows without features share nothing, and match nothing
    a, b, shared = pairs.a[similar], pairs.b[similar], shared[similar]
    sizes = sets.stops - sets.starts
    total = total_of(similarity.measure, sizes[a], sizes[b + split], shared)
    counters = {**pairs.counters, "candidates": len(pairs)}
    if collided:
        counters["collisions"] = collided
    return VerifiedPairs(a, b, values[similar], shared, total, counters, pairs.recall)


def similarities(sets: Sets, a: I64, b: I64, similarity: Similarity, threads: int | None = None) -> F64:
    """Return the similarity of rows a[i] and b[i], whatever it is; 0 where a row has no features.

    >>> from sosie.matches.sets.rows import rows_of
    >>> sets = rows_of(np.array([1, 2, 1, 2, 3, 4, 5, 6, 7, 8], np.uint64), np.array([0, 2]), np.array([2, 10]))
    >>> [similarities(sets, np.array([0]), np.array([1]), Similarity(name)).item() for name in get_args(Measure)]
    [0.25, 0.5, 1.0]
    """
    every = Criterion(get_args(Measure).index(similarity.measure), 0, 1, 0)
    return measured(weighed_sets(sets, similarity), every, a, b, threads)[0]


def measured(rows: WeighedSets, criterion: Criterion, a: I64, b: I64, threads: int | None) -> tuple[F64, I64]:
    """Return the similarity of each pair and how many features it shares; below 0 where it is below the threshold."""

    def measure(start: int) -> tuple[F64, I64]:
        here = slice(start, start + SPAN)
        return measure_pairs(rows, criterion, a[here], b[here])

    found = list(ordered_map(measure, range(0, len(a), SPAN), threads))
    similarity = np.concatenate([np.empty(0, np.float64), *(part[0] for part in found)])
    return similarity, np.concatenate([np.empty(0, np.int64), *(part[1] for part in found)])


def total_of(measure: Measure, sizes_a: I64, sizes_b: I64, shared: I64) -> I64 | None:
    """Return what the shared features are a fraction of."""
    if measure == "containment":
        return np.minimum(sizes_a, sizes_b)
    return sizes_a + sizes_b - shared if measure == "jaccard" else None


def _verify_counts(
    sets: Sets, counts: I64, pairs: Pairs, fraction: Fraction, threads: int | None, split: int
) -> VerifiedPairs:
    a, b = pairs.a, pairs.b + split

    def multiply(start: int) -> I64:
        here = slice(start, start + SPAN)
        return dot_products(sets.hashes, counts, sets.starts, sets.stops, a[here], b[here])

    dots = np.concatenate([np.empty(0, np.int64), *ordered_map(multiply, range(0, len(a), SPAN), threads)])
    squares = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts * counts)])
    norms = squares[sets.stops] - squares[sets.starts]
    cosine = dots / np.sqrt(np.maximum(norms[a].astype(np.float64) * norms[b], 1.0))
    similar = np.flatnonzero(cosine_reaches(cosine, dots, norms[a], norms[b], fraction))
    counters = {**pairs.counters, "candidates": len(pairs)}
    a, b = pairs.a[similar], pairs.b[similar]
    return VerifiedPairs(a, b, cosine[similar], dots[similar], None, counters, pairs.recall)
