"""Recall and precision of found pairs against known ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.types import I64, Pairs, VerifiedPairs


@dataclass(frozen=True)
class Agreement:
    """How many of the true pairs were found, and how many of the found ones are true."""

    true: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        """The share of the true pairs that were found; 1 where there are none."""
        return self.right / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """The share of the found pairs that are true; 1 where none was found."""
        return self.right / self.found if self.found else 1.0


def agreement(found: Pairs | VerifiedPairs, true: Pairs | VerifiedPairs) -> Agreement:
    """Compare found pairs with the true ones.

    >>> one, two = Pairs(np.array([0]), np.array([1])), Pairs(np.array([0, 0]), np.array([1, 2]))
    >>> agreement(one, two).recall, agreement(one, two).precision
    (0.5, 1.0)
    """
    right = np.intersect1d(_packed(found.a, found.b), _packed(true.a, true.b), assume_unique=True)
    return Agreement(len(true), len(found), len(right))


def _packed(a: I64, b: I64) -> I64:
    return np.minimum(a, b) << 32 | np.maximum(a, b)
