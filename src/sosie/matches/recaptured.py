"""How often pairs were found again: that tells how many were never found (capture and recapture).

A join that tries several times, each time in another random order, finds a pair at distance d in each with the same
chance. The pairs that were found tell it by how often they were: their number of findings has the binomial distribution
without its zero. Weighted by one over the chance of being found at all, they estimate how many there are (Horvitz and
Thompson 1952). Nothing is assumed of how the rows lie, as a formula has to (NFL Equation 4). Where pairs at the same
distance differ in their chances, those that were found once and twice say so (Chao 1987).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from sosie.kernels.sign.mix import drawn_words
from sosie.matches.share import Share
from sosie.types import I64, U64

SAMPLE = 1 << 15  # pairs whose findings are counted
GROUPS = 10  # of tries, each of which is left out once, to see how much depends on it
STUDENT = 2.262  # the 97.5 % point of Student's distribution with one degree of freedom less than there are groups
_STRATA = 40  # distances that are told apart, at most
_STRATUM = 50  # pairs of a stratum, at least
_CROWD = 500  # pairs of a stratum of which those found once and twice are counted, which are fewer
_SEEN_TWICE = 5  # pairs of a stratum that were found again, at least


class Recaptured:
    """A sample of the pairs that a join finds in several tries, and how often each was found.

    The pairs with the smallest hashes are the sample. Whoever is in it in the end was in it from the first finding on,
    so that memory is bounded, and every finding is counted, in `GROUPS` groups of tries.

    >>> again = Recaptured(tries=3)
    >>> for number, found in enumerate(([3, 5], [5], [5, 9])):
    ...     again.add(number, np.array(found, np.uint64))
    >>> again.pairs.tolist(), again.times.sum(axis=1).tolist()
    ([3, 5, 9], [1, 3, 1])
    """

    def __init__(self, tries: int, size: int = SAMPLE) -> None:
        self.tries = tries
        self._size = size
        self._lock = threading.Lock()
        self._bound = np.uint64(2**64 - 1)
        self.pairs = np.empty(0, np.uint64)
        self.times = np.empty((0, GROUPS), np.int64)

    def add(self, number: int, pairs: U64) -> None:
        """Count pairs, packed, that were found in one try; each is found at most once in a try. Any thread may add."""
        with self._lock:
            some = pairs[_hashed(pairs) <= self._bound]
            if len(some):
                self._count(number, some)

    def _count(self, number: int, some: U64) -> None:
        together, places = np.unique(np.concatenate([self.pairs, some]), return_inverse=True)
        times = np.zeros((len(together), GROUPS), np.int64)
        times[places[: len(self.pairs)]] = self.times
        times[places[len(self.pairs) :], number % GROUPS] += 1
        self.pairs, self.times = together, times
        if len(together) > 2 * self._size:
            hashes = _hashed(together)
            self._bound = np.partition(hashes, self._size)[self._size]
            smallest = hashes <= self._bound
            self.pairs, self.times = together[smallest], times[smallest]

    def share(self, distances: Callable[[U64], I64]) -> Share | None:
        """Estimate the share that was found; None where too few pairs were found again to say anything.

        `distances` tells how far the rows of packed pairs are apart. Each group of tries is left out once: what then
        changes is what depends on the orders that were drawn.
        """
        if self.tries < GROUPS or not len(self.pairs):
            return None
        far = distances(self.pairs)
        every = _estimate(far, self.times.sum(axis=1), self.tries)
        without = []
        for group in range(GROUPS):
            left_out = len(range(group, self.tries, GROUPS))
            times = self.times.sum(axis=1) - self.times[:, group]
            seen = np.flatnonzero(times)
            without.append(_estimate(far[seen], times[seen], self.tries - left_out))
        if every is None or any(one is None for one in without):
            return None
        spread = np.array(without, np.float64)
        error = STUDENT * math.sqrt((GROUPS - 1) / GROUPS * float(((spread - spread.mean()) ** 2).sum()))
        found = len(self.pairs)
        return Share(min(found / every, 1.0), (found / (every + error), min(1.0, found / max(every - error, found))))


def _estimate(distances: I64, times: I64, tries: int) -> float | None:
    """Estimate how many pairs there are, from those that were found and how often; None if that cannot be said."""
    order = np.argsort(distances, kind="stable")
    alike, waiting = 0.0, order[:0]
    for stratum in _strata(order, _STRATUM):
        waiting = np.concatenate([waiting, stratum])
        if (times[waiting] > 1).sum() >= _SEEN_TWICE:
            alike += len(waiting) / chance_found(float(times[waiting].mean()), tries)
            waiting = order[:0]
    total = max(alike, sum(at_least(times[stratum], tries) for stratum in _strata(order, _CROWD))) if alike else 0.0
    if not len(waiting):
        return total
    if alike == 0 or len(waiting) > _STRATUM:
        return None  # the farthest were hardly found twice: there may be any number of them
    return max(total, alike + len(waiting) * alike / (len(order) - len(waiting)))


def _strata(order: I64, least: int) -> list[I64]:
    """Cut pairs, nearest first, into strata of at least so many."""
    return np.array_split(order, max(1, min(_STRATA, len(order) // least)))


def chance_found(mean: float, tries: int) -> float:
    """Return the chance of being found at least once in so many tries, for what was found `mean` times if at all.

    The mean of a binomial distribution without its zero is n p / (1 - (1 - p)^n).

    >>> round(chance_found(1.5, 2), 4)
    0.8889
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        if tries * p < mean * _once(p, tries):
            low = p
        else:
            high = p
    return _once(high, tries)


def at_least(times: I64, tries: int) -> float:
    """Return how many pairs there are at least, of which so many were found so often, whatever chance each had.

    Those that were found once, squared, over twice those found twice are fewer than were never found, and as many where
    all had the same chance (Chao 1987). In a crowd of near rows the window of each is soon full, so that pairs at one
    distance differ in their chances.

    >>> round(at_least(np.array([1, 1, 1, 2, 2, 5]), 10), 2)
    6.9
    """
    once, twice = int((times == 1).sum()), int((times == 2).sum())
    return len(times) + (tries - 1) / tries * once * (once - 1) / (2 * (twice + 1))


def _once(p: float, tries: int) -> float:
    return 1.0 if p >= 1 else -math.expm1(tries * math.log1p(-p))


def _hashed(pairs: U64) -> U64:
    return drawn_words(drawn_words(pairs >> np.uint64(32)) ^ pairs)
