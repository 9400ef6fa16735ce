"""What is asked of an index: how many queries, how far their answers are, and what that takes beside finding them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sosie.planner.facts import Facts, Spread
from sosie.planner.machine import Machine
from sosie.planner.models.distances import random_kth, random_nearest, random_within
from sosie.planner.wish import Wish

K = 10  # rows that are asked for where neither a number nor a radius is given


@dataclass(frozen=True, eq=False)
class Asked:
    """A wish to search, with what is known of the rows."""

    wish: Wish
    facts: Facts

    @property
    def rows(self) -> int:
        """The rows that are searched."""
        return self.wish.rows

    @property
    def bits(self) -> int:
        """The bits of a signature."""
        return self.wish.bits or 64

    @property
    def queries(self) -> int:
        """How many queries there are; one, if nothing is said."""
        return max(self.wish.others, 1)

    @property
    def calls(self) -> int:
        """How many calls of a search they come in."""
        return self.queries if self.wish.single else 1

    @property
    def together(self) -> int:
        """How many queries come in one call."""
        return self.queries // self.calls

    @property
    def k(self) -> int | None:
        """How many nearest rows are asked for; None if it is all within a radius."""
        if self.wish.k is None and self.wish.radius is not None:
            return None
        return min(self.wish.k or K, self.rows)

    @cached_property
    def bound(self) -> Spread:
        """Up to which distance a search has to look: the radius, or where the k-th nearest row is."""
        if self.k is None:
            return Spread.at(self.wish.radius or 0)
        return self.facts.nearest or self.facts.distances or random_kth(self.rows, self.bits, self.k)

    @cached_property
    def wanted(self) -> Spread:
        """How far the rows are that are to be found: if nothing is known, as far as the radius, the hardest to find."""
        if self.facts.distances is not None:
            return self.facts.distances
        if self.k is None:
            return Spread.at(self.wish.radius or 0)
        return random_nearest(self.rows, self.bits, self.k)

    @cached_property
    def matches(self) -> float:
        """How many rows are to be found for a query."""
        if self.k is not None:
            return float(self.k)
        if self.facts.matches is not None:
            return self.facts.matches
        return 1.0 + self.rows * random_within(self.bits, self.wish.radius or 0)

    def beyond(self, radius: int) -> float:
        """Return the share of the queries whose answer is farther than a radius."""
        return self.bound.mean(lambda distances: distances > radius)

    def farther(self, radius: int) -> float:
        """Return how far the answers are on average that are farther than a radius."""
        far = self.bound.values > radius
        return float((self.bound.values * self.bound.weights)[far].sum() / max(self.bound.weights[far].sum(), 1e-300))

    def bound_of(self, share: float) -> int:
        """Return the distance that a share of the queries does not have to look beyond."""
        order = np.argsort(self.bound.values)
        reached = np.cumsum(self.bound.weights[order]) >= share * self.bound.total * (1 - 1e-9)
        return int(self.bound.values[order][int(np.argmax(reached))])

    def seconds(self, machine: Machine, call: str, work: float, *, at_once: int = 1 << 10) -> float:
        """Return what all queries take, given the nanoseconds of each and what a call takes; a batch is on threads.

        Of `at_once` queries a piece of work is made, and as many threads are busy as there are pieces.
        """
        threads = min(self.wish.threads, -(-self.together // at_once))
        return (self.calls * machine.ns(call) + self.queries * work / machine.speedup(threads)) / 1e9


def blocks_of(rows: int, unit: int) -> int:
    """Return how many units hold so many rows.

    >>> blocks_of(513, 512)
    2
    """
    return -(-rows // unit)


def around(value: int, least: int, most: int, factors: Iterable[float] = (0.75, 1.0, 1.35)) -> list[int]:
    """Return whole numbers around one, within limits, each once.

    >>> around(4, 3, 64), around(20, 1, 24)
    ([3, 4, 5], [15, 20, 24])
    """
    return sorted({min(max(round(value * factor), least), most) for factor in factors})
