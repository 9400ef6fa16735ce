"""Pairs that are certain enough to learn from: best of both, and well ahead of the second best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.crosslingual.compared import Compared
from sosie.types import F64, I64

LEAST_MARGIN = 1.05  # times the mean of the second best of both ends


class Confident(NamedTuple):
    """Pairs of a source and a target row, the surest first, and by how much each is ahead of its rivals."""

    a: I64
    b: I64
    margin: F64

    def first(self, count: int) -> Confident:
        """Return the surest of them."""
        return Confident(self.a[:count], self.b[:count], self.margin[:count])

    def same(self, other: Confident) -> float:
        """Return the share of the pairs of both that both have; 1 if neither has any."""
        mine, others = (np.unique(each.a << 32 | each.b) for each in (self, other))
        shared = len(np.intersect1d(mine, others, assume_unique=True))
        every = len(mine) + len(others) - shared
        return shared / every if every else 1.0


def confident(compared: Compared, least: float = LEAST_MARGIN) -> Confident:
    """Return the pairs that are the most similar of both their ends, and ahead of the second best by a margin.

    The margin is the similarity over the mean of the second best similarities of both ends (Artetxe and Schwenk 2019).

    >>> pairs = Compared(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.6, 0.5, 0.9]))
    >>> confident(pairs)
    Confident(a=array([1, 0]), b=array([1, 0]), margin=array([3.6, 2.4]))
    """
    best = [_best_two(rows, compared.similarity) for rows in (compared.a, compared.b)]
    firsts = [first[rows] for (first, _), rows in zip(best, (compared.a, compared.b), strict=True)]
    places = np.flatnonzero((firsts[0] == np.arange(len(compared))) & (firsts[1] == np.arange(len(compared))))
    a, b = compared.a[places], compared.b[places]
    rivals = np.maximum((best[0][1][a] + best[1][1][b]) / 2, 1e-9)
    margin = compared.similarity[places] / rivals
    order = np.lexsort((b, a, -margin))
    order = order[margin[order] >= least]
    return Confident(a[order], b[order], margin[order])


def _best_two(rows: I64, similarity: F64) -> tuple[I64, F64]:
    """Return for each row the place of its greatest similarity, -1 if it has none, and the second greatest, or 0."""
    count = int(rows.max()) + 1 if len(rows) else 0
    order = np.lexsort((np.arange(len(rows)), -similarity, rows))
    ordered = rows[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(rows) else np.empty(0, np.int64)
    first, second = np.full(count, -1), np.zeros(count)
    first[ordered[starts]] = order[starts]
    ends = np.append(starts[1:], len(rows))
    more = starts[ends - starts > 1]
    second[ordered[more]] = similarity[order[more + 1]]
    return first, second
