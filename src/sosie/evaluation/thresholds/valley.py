"""The valley between documents that have no near one and those that have: told by counts, or there is none.

Similarities are counted in bins of 0.05. A stretch of bins is a valley if it is significantly emptier than a place to
its left and than a place to its right. Wherever the density has one peak only, a stretch cannot be emptier than both;
so testing both sides, each at the level a, says "valley" with a probability of at most a where there is none (an
intersection-union test: Berger 1982). All stretches and places are looked at, and a is divided by how many they are
(Bonferroni): of collections without a valley, at most one in twenty is said to have one, though two are looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from sosie.types import F64, I64

LEAST = 6  # below this bin, similarities are one count: 0.3
BINS = 20  # from 0 to 1
NARROWEST = 2  # bins of a valley, and of the places beside it: similarities of short texts come in steps
LEVEL = 0.05 / 2


@dataclass(frozen=True)
class Valley:
    """Similarities from `low` to `high` are rarer than on both sides; `threshold` is where they are rarest.

    `inside` of the sampled documents have their nearest one there, `below` and `above` on the sides.
    """

    low: float
    high: float
    threshold: float
    inside: int
    below: int
    above: int


def histogram(similarity: F64) -> I64:
    """Count similarities: all below 0.3 first, then in bins of 0.05; the last one has those of exactly 1, too.

    >>> histogram(np.array([0.0, 0.29, 0.3, 0.95, 1.0])).tolist()
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    """
    # what is the least float not below an edge is in the bin above it
    bins = np.floor(similarity * BINS + 1e-9).astype(np.int64)
    return np.bincount(np.clip(bins, LEAST - 1, BINS - 1) - (LEAST - 1), minlength=BINS - LEAST + 1)


def find_valley(counts: I64, after: float = 0.0) -> Valley | None:
    """Return the valley of a `histogram` for which the counts say most, None if there is none.

    With `after`, nothing below that similarity is looked at.

    >>> find_valley(np.array([700, 9, 4, 2, 1, 0, 0, 1, 0, 1, 2, 9, 30, 60, 90]))
    Valley(low=0.35, high=0.8, threshold=0.55, inside=11, below=709, above=189)
    >>> find_valley(np.array([700, 90, 60, 40, 25, 15, 9, 6, 4, 2, 1, 1, 0, 0, 0])) is None
    True
    """
    ends = np.concatenate([[0], np.cumsum(counts)])
    bins, begin = len(counts) - 1, max(round(after * BINS) - LEAST + 1, 0)
    stretches = [
        (first, last)
        for first in range(1, bins)
        for last in range(first + NARROWEST, bins + 2 - NARROWEST)
        if _left(first, begin)
    ]
    tests = sum(len(_left(first, begin)) * len(_right(last, bins)) for first, last in stretches)
    best: tuple[float, int, int] | None = None
    for first, last in stretches:
        inside, width = int(ends[last] - ends[first]), last - first
        doubt = max(
            min(_chance(inside, width, int(ends[b] - ends[a]), wide) for a, b, wide in places)
            for places in (_left(first, begin), _right(last, bins))
        )
        if doubt <= LEVEL / tests and (best is None or doubt < best[0]):
            best = doubt, first, last
    return None if best is None else _valley(counts, ends, best[1], best[2])


def _left(first: int, begin: int) -> list[tuple[int, int, int]]:
    """Return the places to the left of a stretch, by their counts, and how many bins wide each is."""
    all_below = [(0, 1, LEAST)] if begin == 0 else []
    pairs = range(max(begin, 1), first - NARROWEST + 1)
    return [*all_below, *((at, at + NARROWEST, NARROWEST) for at in pairs)]


def _right(last: int, bins: int) -> list[tuple[int, int, int]]:
    return [(at, at + NARROWEST, NARROWEST) for at in range(last, bins + 2 - NARROWEST)]


def _chance(inside: int, width: int, beside: int, wide: int) -> float:
    """Return how probably a stretch is as empty as this beside another, or emptier, if it is as dense: a binomial."""
    return float(bdtr(inside, inside + beside, width / (width + wide)))


def _valley(counts: I64, ends: I64, first: int, last: int) -> Valley:
    """Return a stretch as a valley; its threshold is the middle of where it is emptiest."""
    beside = counts[first - 1 : last - 1] + counts[first:last]  # on both sides of each edge
    edges = np.arange(first + 1, last)
    emptiest = edges[beside[1:] == beside[1:].min()]
    middle = int(emptiest[len(emptiest) // 2])

    def edge(at: int) -> float:
        return round((at - 1 + LEAST) / BINS, 2)

    below, above = int(ends[first]), int(ends[-1] - ends[last])
    return Valley(edge(first), edge(last), edge(middle), int(ends[last] - ends[first]), below, above)
