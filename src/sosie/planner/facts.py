"""What is known of a collection before it is worked on: counted in it or in a sample, else assumed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.planner.corpus import Corpus

F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """Values with weights: how similar, or how far apart, the pairs are that are wanted.

    `seen` says how many pairs each value was seen at, where the weights are estimated from fewer.

    >>> Spread.at(3).mean(lambda distance: distance + 1.0)
    4.0
    """

    values: F64
    weights: F64
    seen: F64 | None = None

    @classmethod
    def at(cls, value: float) -> Spread:
        """Return the spread of one value: pairs exactly at a threshold, the hardest to find."""
        return cls(np.array([float(value)]), np.ones(1))

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def seen_of(self, there: Any) -> float:
        """Return how many pairs were seen at some of the values; those that are no estimate are all there are."""
        return float((self.weights if self.seen is None else self.seen)[there].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return values and weights as plain data."""
        return {"values": self.values.tolist(), "weights": self.weights.tolist()}

    def mean(self, chance: object) -> float:
        """Return the weighted mean of a function of the values, which takes them as an array."""
        assert callable(chance)
        found = np.asarray(chance(self.values), np.float64)
        return float((np.broadcast_to(found, self.values.shape) * self.weights).sum() / self.total)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a collection; `counted` says whether any of it comes from the collection itself.

    `distances` are those of the pairs or matches wanted, in bits; `similarities` those of documents. `sharing` is how
    many times more often than by chance two rows agree in so many leading bits (pairs of bits and factor), 1 where bits
    are spread evenly. `features` and `text_bytes` are means per document; `corpus` is what else is known of documents.
    """

    counted: bool = False
    features: float = 60.0
    text_bytes: float = 500.0
    distances: Spread | None = None
    similarities: Spread | None = None
    sharing: tuple[tuple[int, float], ...] = ()
    corpus: Corpus | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        named["sharing"] = [list(pair) for pair in self.sharing]
        return {name: each.to_dict() if isinstance(each, Spread | Corpus) else each for name, each in named.items()}

    def factor(self, header_bits: float) -> float:
        """Return how many times more often than by chance two rows agree in a header of so many bits.

        >>> Facts(sharing=((8, 2.0), (16, 8.0))).factor(12)
        4.0
        """
        if not self.sharing:
            return 1.0
        bits, factors = (np.array(each, np.float64) for each in zip(*self.sharing, strict=True))
        return float(np.exp2(np.interp(header_bits, bits, np.log2(np.maximum(factors, 1.0)))))
