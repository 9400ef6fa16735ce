"""Similarities in exact fractions, and all pairs by comparing all with all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
from tests import oracle

from sosie import Features

Row = Mapping[int, int]  # features and what they weigh, in eighths


def reaches(measure: str, a: Row, b: Row, threshold: Fraction) -> bool:
    """Whether two rows are similar; only the cosine looks at the weights."""
    if measure == "cosine":
        return oracle.cosine_reaches(a, b, threshold)
    smaller = min(len(a), len(b))
    if measure == "containment":
        return smaller > 0 and Fraction(len(a.keys() & b.keys()), smaller) >= threshold
    return oracle.jaccard(set(a), set(b)) >= threshold


def similar_pairs(measure: str, rows: Sequence[Row], threshold: Fraction) -> list[oracle.Pair]:
    """All pairs a < b."""
    across = similar_across(measure, rows, rows, threshold)
    return [(a, b) for a, b in across if a < b]


def similar_across(measure: str, rows: Sequence[Row], others: Sequence[Row], threshold: Fraction) -> list[oracle.Pair]:
    return [(i, j) for i, a in enumerate(rows) for j, b in enumerate(others) if reaches(measure, a, b, threshold)]


def similar_in_matrix(measure: str, rows: Sequence[Row], threshold: Fraction) -> np.ndarray:
    """Whether each pair is similar, for larger collections: dot products as a product of matrices of integers."""
    matrix = np.zeros((len(rows), 1 + max((item for row in rows for item in row), default=0)), np.int64)
    for at, row in enumerate(rows):
        matrix[at, list(row)] = list(row.values())
    matrix = matrix if measure == "cosine" else np.minimum(matrix, 1)
    dots = matrix @ matrix.T
    norms = np.diag(dots)
    p, q = threshold.numerator, threshold.denominator
    if measure == "cosine":
        return (dots > 0) & (dots**2 * q * q >= p * p * np.multiply.outer(norms, norms))
    of = np.minimum.outer(norms, norms) if measure == "containment" else np.add.outer(norms, norms) - dots
    return (dots > 0) & (dots * q >= p * of)


def spread(item: int) -> int:
    return oracle.splitmix64(item)


def same_low_bits(item: int) -> int:
    """Features that differ in their 16 leading bits only."""
    return item << 48 | 0xABCDEF


def same_high_bits(item: int) -> int:
    """Features that differ in their trailing bits only, which the join's tokens do not hold."""
    return 0xABCDEF << 40 | item


def features_and_weights(rows: Sequence[Row], hashed=spread) -> tuple[Features, np.ndarray]:
    ordered = [sorted((hashed(item), weight) for item, weight in row.items()) for row in rows]
    flat = [*chain.from_iterable(ordered)]
    hashes = np.array([h for h, _ in flat], np.uint64)
    return Features(hashes, np.cumsum([0, *map(len, ordered)])), np.array([w / 8 for _, w in flat], np.float64)
