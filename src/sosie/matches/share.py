"""What share of all pairs was found, told by the pairs that were (Horvitz and Thompson 1952)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sosie.types import F64, I64

LEAST = 0.05  # a chance below which one pair stands for too many others
NORMAL = 1.96  # the 97.5 % point of the normal distribution


class Share(NamedTuple):
    """The estimated share of all pairs that was found, and the interval that holds the true one in 95 of 100 runs."""

    recall: float
    interval: tuple[float, float]


def weighted_share(chances: F64, crowds: I64, times: I64, certain: int = 0) -> Share | None:
    """Estimate the share that was found from the chance that each found pair had; None if chances are too small.

    A pair that had the chance p stands for 1 / p pairs. Pairs of one of the `crowds`, which are numbered, were found by
    the same bits: they may all have been lucky together, so their errors are added, not their squares. Each pair counts
    so many `times`; others were `certain` to be found.

    >>> weighted_share(np.array([0.5, 1.0, 0.5]), np.array([0, 0, 1]), np.ones(3, np.int64)).recall
    0.6
    >>> weighted_share(np.array([0.01, 1.0]), np.array([0, 1]), np.ones(2, np.int64)) is None
    True
    """
    if not len(chances) or chances.min() < LEAST:
        return None
    found = float(times.sum() + certain)
    every = float((times / chances).sum() + certain)
    errors = np.bincount(crowds, times * np.sqrt(1 - chances) / chances)
    error = NORMAL * math.sqrt(float((errors**2).sum()))
    return Share(found / every, (found / (every + error), min(1.0, found / max(every - error, found))))


def crowds_of(a: I64, b: I64, rows: int) -> I64:
    """Return which pairs chains of pairs connect: of each, the first of all rows that it is connected with.

    >>> crowds_of(np.array([0, 3, 4]), np.array([2, 4, 5]), 6).tolist()
    [0, 3, 3]
    """
    first = np.arange(rows)
    while True:
        lower = np.minimum(first[a], first[b])
        if np.array_equal(lower, first[a]) and np.array_equal(lower, first[b]):
            return lower
        np.minimum.at(first, a, lower)
        np.minimum.at(first, b, lower)
        first = first[first]
