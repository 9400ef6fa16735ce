"""Signatures whose bits are the signs of random sums: the Hamming distance estimates an angle (NFL Equation 2)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.types import F64


class Angular:
    """A spec of which two documents differ in each bit with the probability of their angle / pi."""

    quantisation: ClassVar[str] = "sign"
    encoding: ClassVar[str] = "bits"

    bits: int

    @property
    def code_length(self) -> int:
        """The bits of the signature."""
        return self.bits

    @property
    def multiplicity(self) -> int:
        """One signature for each document: the radius of a search decides what is found."""
        return 1

    def similarity(self, distances: Any, *, keys: bool = False) -> F64:
        """Return the cosine that Hamming distances stand for: cos(pi distance / bits).

        >>> from sosie.signatures.projection import RandomProjection
        >>> RandomProjection(bits=1000).similarity([0, 400, 500]).round(3).tolist()
        [1.0, 0.309, 0.0]
        """
        return np.cos(np.asarray(distances) * (np.pi / self.bits))

    def radius(self, cosine: float, recall: float = 0.99) -> int:
        """Return the smallest radius that holds a pair of this cosine with at least the given probability.

        >>> from sosie.signatures.simhash import Simhash
        >>> Simhash(bits=64).radius(8 / 9), Simhash(bits=256).radius(8 / 9)
        (17, 53)
        """
        if not 0 <= cosine <= 1 or not 0 < recall < 1:
            raise UsageError(f"cosine must be from 0 to 1 and recall between 0 and 1, got {cosine} and {recall}")
        if cosine == 1:
            return 0
        flip = math.acos(cosine) / math.pi
        reached, radius = 0.0, -1
        while reached < recall and radius < self.bits:
            radius += 1
            reached += _binomial(self.bits, radius, flip)
        return radius


def _binomial(n: int, k: int, p: float) -> float:
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))
