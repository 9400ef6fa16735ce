"""Beads: which parts of a text are those of its translation, by their lengths (Gale and Church 1993).

A bead is up to two parts of one text that stand for up to two of the other. What is likely: the length of a translation
is normally distributed around a multiple of that of the text, the ratio of the two languages. Other than with Gale and
Church, what has no counterpart may be of any length: an added paragraph is not the less likely for being long. The
alignment is the cheapest list of beads, by dynamic programming in a band around where both texts have come as far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from sosie.types import F64, I64

Score = Callable[[Sequence[int], Sequence[int]], float]

# How likely beads are that have so many parts on either side (Gale and Church 1993, Table 5; either of two has half).
_SHAPES = ((1, 1), (1, 0), (2, 1), (1, 2), (2, 2), (0, 1))
_PRIORS = -np.log([0.89, 0.0099 / 2, 0.089 / 2, 0.089 / 2, 0.011, 0.0099 / 2])
_ADDED = _SHAPES.index((0, 1))  # the shape that stays in a row; all others come from one before
_UP, _LEFT = np.array(_SHAPES[:_ADDED]).T
# The variance of a length for each character (theirs is 6.8), and how far the ratio of two texts is from that of their
# languages: without it, long paragraphs would have to be as long as the ratio says to a few percent.
_VARIANCE, _SPREAD = 6.8, 0.15
# Beyond this deviation two lengths are not those of translations: one pair of them in a thousand is.
UNLIKELY = 3.29
# Real texts have outliers, which normal distributions have not: no lengths are less likely than that.
_MOST = -math.log(1e-4)
# What a score adds: this for 0, nothing for 0.5, and as much less for 1. So a score that is certain outweighs lengths,
# which cost 9.2 at most, and a score of 0 alone does not part two of the same length, which would cost 10.6.
WEIGHT = 10.0
_LEAST_BAND, _MOST_BAND = 40, 500  # parts to either side of the place where both texts have come as far
_BLOCK = 1 << 15  # pairs of parts whose lengths are compared at a time


class Bead(NamedTuple):
    """Parts `source[first:last]` stand for `target[start:end]`; one of them may be empty."""

    first: int
    last: int
    start: int
    end: int

    @property
    def is_pair(self) -> bool:
        """Whether there is something on both sides."""
        return self.first < self.last and self.start < self.end


def deviation(source: float, target: float) -> float:
    """Return how far two lengths, in the same measure, are from each other, in standard deviations.

    >>> round(deviation(100, 120), 2), round(deviation(100, 0), 2)
    (0.63, 5.02)
    """
    mean = (source + target) / 2
    return abs(target - source) / math.sqrt(_VARIANCE * mean + (_SPREAD * mean) ** 2) if mean else 0.0


def in_one_measure(source: Sequence[int], target: Sequence[int], ratio: float) -> tuple[F64, F64]:
    """Return lengths in characters of the language that needs more of them, so that no side is preferred.

    >>> [lengths.tolist() for lengths in in_one_measure([10], [30], 2.0)]
    [[20.0], [30.0]]
    """
    ours, theirs = np.array(source, np.float64), np.array(target, np.float64)
    return (ours * ratio, theirs) if ratio >= 1 else (ours, theirs / ratio)


def align(source: F64, target: F64, score: Score | None = None) -> list[Bead]:
    """Return the beads of two texts in order: each part is in one of them, and none is before an earlier one.

    `source` and `target` are the lengths of the parts, in one measure. `score` says of some parts of each how certainly
    they are translations, from 0 to 1; it is asked for nothing whose lengths are beyond likelihood.

    >>> align(np.array([40.0, 60.0, 55.0]), np.array([98.0, 50.0]))
    [Bead(first=0, last=2, start=0, end=1), Bead(first=2, last=3, start=1, end=2)]
    """
    ours, theirs = np.concatenate([[0], np.cumsum(source)]), np.concatenate([[0], np.cumsum(target)])
    low, high = _band(ours, theirs)
    # Costs of the last rows, with two columns before the first, so that every shape comes from somewhere.
    last, second = np.full((2, len(theirs) + 2), np.inf)
    taken: list[NDArray[np.uint8]] = []
    for row, lengths in enumerate(_lengths_by_row(ours, theirs, low, high)):
        start, stop = int(low[row]) + 2, int(high[row]) + 3
        costs = np.stack([(last, second)[up - 1][start - left : stop - left] for up, left in _SHAPES[:_ADDED]])
        costs += lengths
        if row == 0:
            costs[0, 0] = 0.0  # where all begins
        elif score is not None:
            _add_scores(costs, lengths, score, row, start - 2)
        best, shapes = costs.min(axis=0), costs.argmin(axis=0)
        best, shapes = _with_added(best, shapes.astype(np.uint8))
        last, second = second, last
        if row > 1:
            last[low[row - 2] + 2 : high[row - 2] + 3] = np.inf
        last[start:stop] = best
        taken.append(shapes)
    return _path(taken, low, len(theirs) - 1)


def _band(ours: F64, theirs: F64) -> tuple[I64, I64]:
    """Return from which to which target each source part is looked for; neighbours overlap, and the ends are inside."""
    width = min(_LEAST_BAND + max(len(ours), len(theirs)) // 20, _MOST_BAND)
    scale = theirs[-1] / ours[-1] if ours[-1] else 0.0
    centre = np.searchsorted(theirs, ours * scale)
    high = np.minimum(centre + width, len(theirs) - 1)
    low = np.maximum(centre - width, 0)
    low[1:] = np.minimum(low[1:], high[:-1])
    low[0], high[-1] = 0, len(theirs) - 1
    return low.astype(np.int64), high.astype(np.int64)


def _lengths_by_row(ours: F64, theirs: F64, low: I64, high: I64) -> Iterator[F64]:
    """Yield what beads cost, by their shapes and lengths, that end in each row and the columns of its band."""
    start = 0
    while start < len(ours):
        stop = start + 1
        while stop < len(ours) and (stop + 1 - start) * (high[stop] - low[start] + 1) <= _BLOCK:
            stop += 1
        rows, columns = np.arange(start, stop), np.arange(low[start], high[stop - 1] + 1)
        sources = ours[rows] - ours[np.maximum(rows - _UP[:, None], 0)]
        targets = theirs[columns] - theirs[np.maximum(columns - _LEFT[:, None], 0)]
        costs = _lengths(sources[:, :, None], targets[:, None, :])
        costs[_LEFT == 0] = 0.0
        costs += _PRIORS[:_ADDED, None, None]
        for row in rows.tolist():
            yield costs[:, row - start, low[row] - columns[0] : high[row] - columns[0] + 1]
        start = stop


def _with_added(best: F64, taken: NDArray[np.uint8]) -> tuple[F64, NDArray[np.uint8]]:
    """Return the costs where parts of the target alone may follow: all at once, by running minima of differences."""
    so_far = _PRIORS[_ADDED] * np.arange(len(best))
    with_added = np.minimum.accumulate(best - so_far) + so_far
    better = with_added < best - 1e-9
    return np.where(better, with_added, best), np.where(better, np.uint8(_ADDED), taken)


def _lengths(source: F64, target: F64) -> F64:
    """Return what lengths cost: the logarithm of how unlikely so great a deviation is."""
    mean = (source + target) / 2
    deviations = np.abs(target - source) / np.sqrt(np.maximum(_VARIANCE * mean + (_SPREAD * mean) ** 2, 1e-9))
    costs: F64 = np.minimum(-(math.log(2) + log_ndtr(-deviations)), _MOST)
    return costs


def _add_scores(costs: F64, lengths: F64, score: Score, row: int, first: int) -> None:
    """Add what scores say to the costs, where lengths are likely; elsewhere they count as 0."""
    for shape, (up, left) in enumerate(_SHAPES[:_ADDED]):
        if not left:
            continue
        likely = np.isfinite(costs[shape]) & (lengths[shape] < _PRIORS[shape] + _MOST)
        costs[shape] += WEIGHT
        for place in np.flatnonzero(likely).tolist():
            column = first + place
            costs[shape, place] -= 2 * WEIGHT * score(range(row - up, row), range(column - left, column))


def _path(taken: list[NDArray[np.uint8]], low: I64, column: int) -> list[Bead]:
    beads = []
    row = len(taken) - 1
    while row or column:
        up, left = _SHAPES[taken[row][column - int(low[row])]]
        beads.append(Bead(row - up, row, column - left, column))
        row, column = row - up, column - left
    return beads[::-1]
