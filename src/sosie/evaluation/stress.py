"""Precision stress and recall stress: how far an embedding is off where it matters (STEIN Definition 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.types import F64, Bools


@dataclass(frozen=True)
class Stress:
    """What an embedding does at a threshold: `returned` pairs are above it as embedded, `similar` ones in truth.

    `precision_stress` is the squared error of the similarities of the returned pairs over the sum of their squared true
    similarities; `recall_stress` is the same of the similar pairs. Each is NaN where there are no such pairs.
    """

    threshold: float
    precision_stress: float
    recall_stress: float
    returned: int
    similar: int
    both: int

    @property
    def precision(self) -> float:
        """The share of the returned pairs that are similar; NaN if none is returned."""
        return self.both / self.returned if self.returned else float("nan")

    @property
    def recall(self) -> float:
        """The share of the similar pairs that are returned; NaN if there are none."""
        return self.both / self.similar if self.similar else float("nan")


def stress(similarity: Any, embedded: Any, thresholds: Iterable[float]) -> list[Stress]:
    """Return the stress of each threshold, of pairs with these similarities, in truth and as embedded.

    >>> at, = stress([0.9, 0.8, 0.1], [0.9, 0.4, 0.6], [0.5])
    >>> round(at.precision_stress, 3), round(at.recall_stress, 3), at.precision, at.recall
    (0.305, 0.11, 0.5, 0.5)
    """
    true, found = np.asarray(similarity, np.float64), np.asarray(embedded, np.float64)
    if true.shape != found.shape or true.ndim != 1:
        raise MismatchError(f"similarities of {true.size} pairs in truth, and of {found.size} as embedded")
    return [_stress(true, found, threshold) for threshold in thresholds]


def pairs_of(matrix: F64) -> F64:
    """Return the similarities of all pairs i < j of a symmetric matrix, row by row.

    >>> pairs_of(np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]])).tolist()
    [0.2, 0.3, 0.4]
    """
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


def _stress(true: F64, found: F64, threshold: float) -> Stress:
    if not 0 <= threshold <= 1:
        raise UsageError(f"a threshold is from 0 to 1, got {threshold}")
    similar, returned = true > threshold, found > threshold
    counts = (int(which.sum()) for which in (returned, similar, returned & similar))
    return Stress(threshold, _relative_error(true, found, returned), _relative_error(true, found, similar), *counts)


def _relative_error(true: F64, found: F64, which: Bools) -> float:
    norm = float((true[which] ** 2).sum())
    return float(((true[which] - found[which]) ** 2).sum()) / norm if norm else float("nan")
