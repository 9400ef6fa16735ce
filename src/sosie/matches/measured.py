"""Rows and criteria as the kernels take them, and the similarity of given pairs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.arrays import read_only
from sosie.errors import MismatchError, UsageError
from sosie.kernels.sets.measures import Criterion, Rows, measure_pairs, squared_norms
from sosie.kernels.sets.set_join import Sets
from sosie.matches.similarity import Measure, Similarity, as_fraction
from sosie.parallel import ordered_map
from sosie.types import F64, I64, Features

SPAN = 1 << 13  # pairs that one task measures


def similarities(sets: Sets, a: I64, b: I64, similarity: Similarity, threads: int | None = None) -> F64:
    """Return the similarity of rows a[i] and b[i], whatever it is; 0 where a row has no features.

    >>> from sosie.matches.sets import rows_of
    >>> sets = rows_of(np.array([1, 2, 1, 2, 3, 4, 5, 6, 7, 8], np.uint64), np.array([0, 2]), np.array([2, 10]))
    >>> [similarities(sets, np.array([0]), np.array([1]), Similarity(name)).item() for name in get_args(Measure)]
    [0.25, 0.5, 1.0]
    """
    every = Criterion(get_args(Measure).index(similarity.measure), 0, 1, 0)
    return measured(measured_rows(sets, similarity), every, a, b, threads)[0]


def measured(rows: Rows, criterion: Criterion, a: I64, b: I64, threads: int | None) -> tuple[F64, I64]:
    """Return the similarity of each pair and how many features it shares; -1 where it is below the threshold."""

    def measure(start: int) -> tuple[F64, I64]:
        here = slice(start, start + SPAN)
        return measure_pairs(rows, criterion, a[here], b[here])

    found = list(ordered_map(measure, range(0, len(a), SPAN), threads))
    similarity = np.concatenate([np.empty(0, np.float64), *(part[0] for part in found)])
    return similarity, np.concatenate([np.empty(0, np.int64), *(part[1] for part in found)])


def criterion_of(similarity: Similarity, threshold: float | str | Fraction, split: int = 0) -> Criterion:
    """Return what counts as a similar pair."""
    fraction = as_fraction(threshold)
    return Criterion(get_args(Measure).index(similarity.measure), fraction.numerator, fraction.denominator, split)


def similarity_of(measure: Measure, features: Features, other: Features | None = None) -> Similarity:
    """Return a measure of features; for the cosine, the weights are their term counts where they have them."""
    sides = [side for side in (features, other) if side is not None]
    if measure != "cosine" or all(side.counts is None for side in sides):
        return Similarity(measure)
    ones = [np.ones(len(side.hashes), np.int32) if side.counts is None else side.counts for side in sides]
    return Similarity(measure, np.concatenate(ones).astype(np.int64))


def measured_rows(sets: Sets, similarity: Similarity) -> Rows:
    """Return rows with what their features weigh."""
    if similarity.weights is None:
        weights, norms = np.empty(0, np.float64), (sets.stops - sets.starts).astype(np.float64)
    else:
        weights = weights_of(similarity.weights, sets, np.float64)
        norms = squared_norms(weights, sets.starts, sets.stops)
        if not np.isfinite(norms).all():
            raise UsageError("weights must be finite numbers, 0 or more")
    hashes, starts, stops = (read_only(array) for array in sets)
    return Rows(hashes, starts, stops, read_only(weights), read_only(norms))


def weights_of(weights: NDArray[Any], sets: Sets, dtype: DTypeLike) -> NDArray[Any]:
    """Return weights as numbers of one type; raise unless there is one for each feature."""
    if weights.shape != sets.hashes.shape:
        raise MismatchError(f"{list(weights.shape)} weights for {len(sets.hashes)} features: pass one for each")
    return weights.astype(dtype, copy=False)
