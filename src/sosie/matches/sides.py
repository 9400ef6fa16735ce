"""Two sides of one collection: the rows of a reference, which come first and always stay, and the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sosie.matches.equal.groups import Groups
from sosie.types import Bools, Clusters, Pairs, VerifiedPairs

P = TypeVar("P", Pairs, VerifiedPairs)


@dataclass(frozen=True, eq=False)
class Sides:
    """Which groups of identical rows have a row of the reference, and which have one that is not of it.

    With `only`, nothing but pairs with the reference count. The first `count` rows are the reference's, and they come
    first in the groups, too, so that the representative tells.

    >>> sides = Sides.of(Groups(np.array([0, 2, 1, 3]), np.array([0, 2, 3, 4])), count=2)
    >>> sides.reference.tolist(), sides.others.tolist()
    ([True, True, False], [True, False, True])
    """

    count: int
    only: bool
    reference: Bools
    others: Bools

    @classmethod
    def of(cls, groups: Groups, count: int, only: bool = False) -> Sides:
        """Look at groups; without a reference, `count` is 0."""
        inside = np.concatenate([np.zeros(1, np.int64), np.cumsum(groups.rows >= count)])
        others = inside[groups.offsets[1:]] > inside[groups.offsets[:-1]]
        return cls(count, only, np.asarray(groups.representatives < count), others)

    def of_interest(self, pairs: P) -> P:
        """Return the pairs of groups that say something about a row outside the reference."""
        if not self.count and not self.only:
            return pairs
        wanted = self.others[pairs.a] | self.others[pairs.b]
        if self.only:
            wanted &= self.reference[pairs.a] | self.reference[pairs.b]
        return pairs.take(wanted)

    def deciding(self, pairs: VerifiedPairs) -> VerifiedPairs:
        """Return the pairs of groups that decide who stays: all of the reference does."""
        if not self.count and not self.only:
            return pairs
        return pairs.take(~(self.reference[pairs.a] & self.reference[pairs.b]))

    def listed(self, pairs: VerifiedPairs) -> VerifiedPairs:
        """Return the pairs of rows that are listed: none inside the reference; with `only`, one of each."""
        if not self.count and not self.only:
            return pairs
        first, second = pairs.a < self.count, pairs.b < self.count
        return pairs.take(first != second if self.only else ~(first & second))

    def settled(self, clusters: Clusters) -> Clusters:
        """Return clusters of rows in which the reference stays; with `only`, whoever is not similar to it as well."""
        if not self.count and not self.only:
            return clusters
        own = np.arange(len(clusters))
        stays = (own < self.count) | (self.only & (clusters.anchor >= self.count))
        return Clusters(np.where(stays, own, clusters.anchor), np.where(stays, 1.0, clusters.similarity))
