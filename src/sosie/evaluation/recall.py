"""Recall measured on a sample, with its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

CONFIDENCE = 1.959964  # standard deviations on both sides of 95 %


@dataclass(frozen=True)
class SampledRecall:
    """What exact search says about a result, for the pairs of `sampled` random documents of `documents`.

    `true_pairs` are the similar pairs with a sampled document, `found_pairs` those of them that the result lists,
    `wrong_pairs` the listed ones that are not similar. For a de-duplication, of `unsettled_pairs` both documents stay;
    `kept` of the sampled documents stay, and `missed` of these are similar to another document that stays.

    More than 64 identical documents are listed as a star: of such a group all pairs count as listed if one is.
    """

    documents: int
    sampled: int
    true_pairs: int
    found_pairs: int
    wrong_pairs: int
    unsettled_pairs: int | None = None
    kept: int | None = None
    missed: int | None = None

    @property
    def recall(self) -> float | None:
        """The share of the true pairs that was found; None if the sample has none."""
        return self.found_pairs / self.true_pairs if self.true_pairs else None

    @property
    def settled(self) -> float | None:
        """The share of the true pairs of which not both documents stay; None for a join, or without true pairs."""
        if self.unsettled_pairs is None or not self.true_pairs:
            return None
        return 1 - self.unsettled_pairs / self.true_pairs

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the recall (Wilson), as if pairs were independent."""
        return wilson(self.found_pairs, self.true_pairs)

    def described(self) -> dict[str, Any]:
        """Return all numbers as data."""
        said: dict[str, Any] = {
            "documents": self.documents,
            "sampled": self.sampled,
            "true_pairs": self.true_pairs,
            "found_pairs": self.found_pairs,
            "wrong_pairs": self.wrong_pairs,
            "recall": self.recall,
            "interval": list(self.interval),
        }
        if self.kept is not None:
            said |= {"settled": self.settled, "unsettled_pairs": self.unsettled_pairs}
            said |= {"kept": self.kept, "missed": self.missed}
        return said


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a proportion (Wilson 1927).

    >>> tuple(round(bound, 4) for bound in wilson(9, 10))
    (0.5958, 0.9821)
    """
    if not trials:
        return 0.0, 1.0
    share, z2 = successes / trials, CONFIDENCE**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = CONFIDENCE / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)
