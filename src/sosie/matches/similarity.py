"""What similarity means: the measure, its weights, and thresholds as exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from numpy.typing import NDArray

from sosie.arrays import read_only
from sosie.errors import UsageError

Measure = Literal["jaccard", "cosine", "containment"]

FINEST = 10**6  # denominators beyond this would overflow the integer comparison of large documents
ROUNDING = Fraction(1, 10**12)


@dataclass(frozen=True, eq=False)
class Similarity:
    """How alike two documents are, from 0 to 1.

    jaccard: features that both have, of those that either has; the same text with small changes.
    cosine: of the weights, one for each feature (`weights` is aligned with the hashes); without weights, of the sets:
    shared / sqrt(|A| |B|). Sets, and weights that are integers, are compared exactly; float weights as float64, with
    the similarity rounded to a multiple of 2^-40.
    containment: how much of the smaller document is in the larger one; a quotation in a long page.
    """

    measure: Measure = "jaccard"
    weights: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise UsageError(f"measure must be jaccard, cosine or containment, got {self.measure!r}")
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


def as_fraction(threshold: float | str | Fraction) -> Fraction:
    """Return a threshold as the fraction its decimal form says, so that 0.8 is 4/5 and comparisons are exact.

    >>> as_fraction(0.8)
    Fraction(4, 5)
    """
    try:
        exact = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"threshold must be a number in (0, 1], got {threshold!r}") from None
    fraction = exact.limit_denominator(FINEST)
    if not 0 < exact <= 1:
        raise UsageError(f"threshold must be greater than 0 and at most 1, got {threshold}")
    # 1/3 as a float is meant to be 1/3; 0.9999999 is not meant to be 1
    if fraction == 0 or abs(fraction - exact) > ROUNDING:
        raise UsageError(f"threshold must be given with at most six decimals, got {threshold}")
    return fraction
