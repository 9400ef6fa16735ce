"""Which pairs of documents are wanted, and how many of them are found if each is with a chance of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sosie.planner.facts import F64, Facts, Spread
from sosie.planner.models.bands import cosine_of
from sosie.planner.wish import Wish

ENOUGH = 20  # pairs that were seen, from which on they stand for all
SUREST = 1 - 1e-6  # what is found by chance is not certain to be


def least_jaccard(wish: Wish) -> float:
    """Return the least Jaccard similarity of sets that reach the threshold; the cosine is at most its square root.

    >>> round(least_jaccard(Wish(task="dedup", rows=1, threshold=0.9, measure="cosine")), 2)
    0.81
    """
    threshold = 0.8 if wish.threshold is None else wish.threshold
    return threshold**2 if wish.measure == "cosine" else threshold


def least_cosine(wish: Wish) -> float:
    """Return the least cosine of documents that reach the threshold.

    >>> round(least_cosine(Wish(task="dedup", rows=1, threshold=0.8)), 4)
    0.8889
    """
    threshold = 0.8 if wish.threshold is None else wish.threshold
    return threshold if wish.measure == "cosine" else float(cosine_of(threshold))


def similar(wish: Wish, facts: Facts) -> Spread | None:
    """Return the similarities of the pairs that reach the threshold; None where too few were seen to stand for all.

    `Facts.similarities` are Jaccard similarities of sets, and cosines of weights.
    """
    known = facts.similarities
    if known is None:
        return None
    least = least_cosine(wish) if wish.weighting != "binary" else least_jaccard(wish)
    there = known.values >= least - 1e-9
    if float(known.seen_of(there)) < ENOUGH:
        return None
    return Spread(known.values[there], known.weights[there])


def recall_of(wish: Wish, facts: Facts, chance: Callable[[F64], F64]) -> tuple[float, tuple[str, ...]]:
    """Return the share of wanted pairs that is found, given the chance of each similarity, and how sure that is.

    Where the similarities of pairs are not known, it is that of a pair exactly at the threshold, the hardest to find.
    """
    wanted = similar(wish, facts)
    if wanted is None:
        least = least_cosine(wish) if wish.weighting != "binary" else least_jaccard(wish)
        return min(float(chance(np.array([least]))[0]), SUREST), ("the recall is that of a pair at the threshold",)
    return min(wanted.mean(chance), SUREST), ()
