"""Which documents are looked at: a random sample of them, as large as the time for it allows."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.search import sought
from sosie.matches.equal.groups import Groups
from sosie.types import I64

FEWEST = 5  # documents of a sample, however dense the collection is
MARGIN = Fraction(1, 10)  # how far below the threshold a near miss may be
LEAST = Fraction(1, 10**6)  # any shared feature


def draw(count: int, size: int, seed: int) -> I64:
    """Return a random sample of `size` of `count` rows, or all if there are fewer, in the order of drawing."""
    return np.random.default_rng(seed).choice(count, min(size, count), replace=False)


def affordable(compared: Comparison, groups: Groups, drawn: I64, threshold: Fraction, budget: int) -> I64:
    """Return as many of the rows drawn first as look at `budget` features of other rows, on average; at least FEWEST.

    In a collection where everything resembles everything, each sampled row has as many similar ones as there are rows.
    How many rows are taken depends on what all of them cost, not on their order: to stop at the first one that is too
    dear would leave out those with the most similar rows, and the recall of a sample without them is not the truth.
    """
    group = groups.of_rows(len(compared.sizes))[drawn]
    probes, members = np.unique(group[group >= 0], return_counts=True)
    steps = sought(compared.of_rows(groups.representatives), probes, least_near(threshold)).steps

    def cost(count: int) -> int:
        """Rows of one group are searched for once: what a group costs, as often as one of its rows is among `count`."""
        return int((steps * (1 - (1 - count / len(drawn)) ** members)).sum())

    return drawn[: max(bisect_right(range(1, len(drawn) + 1), budget, key=cost), FEWEST)]


def least_near(threshold: Fraction) -> Fraction:
    """Return the similarity from which on pairs are sought: near misses are, too."""
    return max(threshold - MARGIN, LEAST)
