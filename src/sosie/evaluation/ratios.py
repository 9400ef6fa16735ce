"""How near are the rows that a search found, beside the nearest that there are? (TOPK 4; ISSL 6)."""

from __future__ import annotations

import numpy as np

from sosie.arrays import F64
from sosie.errors import MismatchError, UsageError
from sosie.types import Matches


def recall_at(found: Matches, exact: Matches, k: int) -> float:
    """Return the share of the k nearest rows that were found: rows no farther than the k-th nearest count.

    >>> exact = Matches(np.array([0, 3]), np.array([7, 4, 5]), np.array([2, 3, 3], np.int32))
    >>> found = Matches(np.array([0, 2]), np.array([4, 9]), np.array([3, 5], np.int32))
    >>> recall_at(found, exact, 2), recall_at(exact, exact, 3)
    (0.5, 1.0)
    """
    there, got = _distances(exact, k, np.nan), _distances(found, k, np.inf)
    _check(there, got)
    if not np.any(there >= 0):
        return 1.0
    farthest = np.max(there, axis=1, keepdims=True, where=there >= 0, initial=-1)
    return float(np.sum(got <= farthest) / np.sum(there >= 0))


def cumulative_distance_ratio(found: Matches, exact: Matches, k: int, bits: int) -> float:
    """Return the mean of `distance_ratios` over ranks and queries: CDR@k (ISSL 6), which is HDR (TOPK, Eq. 1).

    It is no recall: random bits are half of all bits away, and so every row is nearly as near as the nearest.

    >>> exact = Matches(np.array([0, 2]), np.array([7, 4]), np.array([0, 3], np.int32))
    >>> found = Matches(np.array([0, 2]), np.array([7, 5]), np.array([0, 4], np.int32))
    >>> cumulative_distance_ratio(found, exact, 2, 64)
    0.875
    """
    ratios = distance_ratios(found, exact, k, bits)
    return float(np.nanmean(ratios)) if np.any(~np.isnan(ratios)) else 1.0


def distance_ratios(found: Matches, exact: Matches, k: int, bits: int) -> F64:
    """Return DR(p) for each query and rank p: the p least distances there are, over those of the p rows found.

    0 / 0 is 1. A row that was not found counts as if all bits differed. Ranks beyond the number of rows are NaN.
    """
    there, got = _distances(exact, k, np.nan), _distances(found, k, bits)
    _check(there, got)
    return ratios_by_rank(there, got)


def ratios_by_rank(least: F64, reached: F64) -> F64:
    """Return DR(p) of rows of distances, in order of rank: T(1) + ... + T(p) over D(1) + ... + D(p) (ISSL 6).

    `least` (T) are the least distances there are, `reached` (D) those of the rows found, of any kind. 0 / 0 is 1.

    >>> ratios_by_rank(np.array([[0.0, 0.25]]), np.array([[0.0, 0.5]])).tolist()
    [[1.0, 0.5]]
    """
    sums, found = np.cumsum(least, axis=1), np.cumsum(reached, axis=1)
    equal = np.where(np.isnan(sums), np.nan, 1.0)
    return np.divide(sums, found, out=equal, where=found > 0)


def _distances(matches: Matches, k: int, missing: float) -> F64:
    if k < 1:
        raise UsageError(f"k must be at least 1, got {k}")
    sizes = np.diff(matches.offsets)
    ranks = np.arange(k)
    places = np.minimum(matches.offsets[:-1, None] + ranks, max(len(matches.distances) - 1, 0))
    distances = np.append(matches.distances, 0)[places]
    return np.where(ranks < sizes[:, None], distances, missing)


def _check(there: F64, got: F64) -> None:
    if len(there) != len(got):
        raise MismatchError(f"{len(got)} queries do not fit an exact answer of {len(there)}: search for the same ones")
