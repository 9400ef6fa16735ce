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

    def pairs(self) -> list[tuple[float, float]]:
        """Return each value with its weight."""
        return [*zip(self.values.tolist(), self.weights.tolist(), strict=True)]

    def few(self, most: int = 12) -> Spread:
        """Return about the same in a few values: means of parts of equal weight, rounded.

        >>> Spread(np.arange(100.0), np.ones(100)).few(4).pairs()
        [(12.0, 25.0), (37.0, 25.0), (62.0, 25.0), (87.0, 25.0)]
        """
        if len(self.values) <= most:
            return self
        order = np.argsort(self.values)
        values, weights = self.values[order], self.weights[order]
        parts = np.minimum((np.cumsum(weights) - weights / 2) / self.total * most, most - 1).astype(np.int64)
        sums, totals = (np.bincount(parts, some, most).astype(np.float64) for some in (values * weights, weights))
        kept = totals > 0
        return Spread(np.round(sums[kept] / totals[kept]), totals[kept])

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
    are spread evenly. `matches` is how many rows within the radius each row has that is asked for, itself left out;
    `copies` is the share of rows that equal an earlier one. `features` and `text_bytes` are means per document;
    `corpus` is what else is known of documents.

    Of what is asked of an index: `nearest` is how far the k-th nearest row of a query is, `background` how far any two
    rows are apart; `volatile` says whether queries come with the sums behind their bits; `probed` is what was measured
    of probes: header bits, probes, recall.
    """

    counted: bool = False
    features: float = 60.0
    text_bytes: float = 500.0
    distances: Spread | None = None
    similarities: Spread | None = None
    sharing: tuple[tuple[int, float], ...] = ()
    matches: float | None = None
    copies: float = 0.0
    nearest: Spread | None = None
    background: Spread | None = None
    volatile: bool = False
    probed: tuple[tuple[int, int, float], ...] = ()
    corpus: Corpus | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        named |= {name: [list(each) for each in named[name]] for name in ("sharing", "probed")}
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
