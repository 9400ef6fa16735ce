"""What similarity means: the measure, and what features weigh."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.types import U32, Features

Measure = Literal["jaccard", "cosine", "containment"]


@dataclass(frozen=True, eq=False)
class Similarity:
    """How alike two documents are, from 0 to 1.

    jaccard: features that both have, of those that either has; the same text with small changes.
    cosine: of the weights, one for each feature (`weights` is aligned with the hashes); without weights, of the sets:
    shared / sqrt(|A| |B|). Sets, and weights that are integers, are compared exactly; float weights as float64, with
    the similarity rounded to a multiple of 2^-40.
    containment: how much of the smaller document is in the larger one; a quotation in a long page.

    With `tags`, aligned with the hashes, too, a feature is shared only if its words are: equal hashes can be made.
    """

    measure: Measure = "jaccard"
    weights: NDArray[Any] | None = None
    tags: U32 | None = None

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise UsageError(f"the similarity measure must be jaccard, cosine or containment, got {self.measure!r}")
        if self.weights is None:
            return
        if self.measure != "cosine":
            raise UsageError(f"weights are for the cosine; {self.measure} compares sets: leave the weights out")
        object.__setattr__(self, "weights", read_only(self.weights))

    def least_jaccard(self, threshold: Fraction) -> Fraction:
        """Return the least Jaccard similarity of two sets that reach the threshold: what minhash has to find.

        The Jaccard similarity of sets with a cosine of t is at least t^2, reached when one holds the other.

        >>> Similarity("cosine").least_jaccard(Fraction(9, 10))
        Fraction(81, 100)
        """
        self.check_signatures("minhash", self.weights is not None)
        return threshold**2 if self.measure == "cosine" else threshold

    def least_cosine(self, threshold: Fraction) -> Fraction:
        """Return the least cosine of two documents that reach the threshold: what simhash has to find.

        The cosine of sets with a Jaccard similarity of J is at least 2J / (1 + J), reached when they are of one size.

        >>> Similarity("jaccard").least_cosine(Fraction(4, 5))
        Fraction(8, 9)
        """
        self.check_signatures("simhash", self.weights is not None)
        return threshold if self.measure == "cosine" else 2 * threshold / (1 + threshold)

    def check_signatures(self, method: str, weighted: bool) -> None:
        """Raise if signatures say nothing about it: a sentence leaves no trace in the signature of a long page."""
        if self.measure == "containment":
            raise UsageError(f"{method} cannot find containment: use --method exact (method='exact')")
        if weighted and method == "minhash":
            raise UsageError("minhash compares sets, not weights: use --method exact or --method simhash")


JACCARD = Similarity()


def similarity_of(measure: Measure, features: Features, other: Features | None = None) -> Similarity:
    """Return a measure of features; for the cosine, the weights are their term counts where they have them."""
    sides = [side for side in (features, other) if side is not None]
    if measure != "cosine" or all(side.counts is None for side in sides):
        return Similarity(measure)
    ones = [np.ones(len(side.hashes), np.int32) if side.counts is None else side.counts for side in sides]
    return Similarity(measure, np.concatenate(ones).astype(np.int64))
