"""How often pairs were found again: that tells how many were never found (capture and recapture).

A join that tries several times, each time in another random order of the bits, finds a pair in each with the same
chance. The pairs that were found tell it by how often they were: their number of findings has the binomial distribution
without its zero. Weighted by one over the chance of being found at all, they estimate how many there are (Horvitz and
Thompson 1952).

Two rows at distance d, of D bits, agree in n bits drawn at random with the chance (1 - d / D)^n (NFL Equation 4). How
many it takes depends on how the rows lie, of which nothing is assumed: n is not computed from the size of the window,
but fitted to what was found, for near and far pairs apart, and with it what else the chance may be smaller by. So pairs
of many distances tell two numbers, and few are enough. Where pairs at the same distance differ in their chances, their
findings are spread more widely than that; then those that were found once and twice say how many there are at least
(Chao 1987).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sosie.kernels.sign.mix import drawn_words
from sosie.matches.share import Share
from sosie.types import F64, I64, U64

SAMPLE = 1 << 15  # pairs whose findings are counted
GROUPS = 10  # of tries, each of which is left out once, to see how much depends on it
STUDENT = 2.262  # the 97.5 % point of Student's distribution with one degree of freedom less than there are groups
_STRATA = 40  # near and far pairs that are told apart, at most
_STRATUM = 1000  # pairs of a stratum, at least, if there are as many
_SEEN_TWICE = 5  # pairs of a stratum that were found again, at least,
_AGAIN = 0.02  # and as a share of the stratum
_WIDER = 1.645  # standard errors by which findings are spread more than chance does in one of 20 cases
_STEPS = 50  # of a fit, at most,
_CLOSE = 1e-6  # and how small the last is
_RATES = 1e-9, 50.0  # minus the logarithm of a chance
_MOST_SHARE = 1 - 1e-6  # of the bits that differ


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
            some = pairs[hashed(pairs) <= self._bound]
            if len(some):
                self._count(number, some)

    def _count(self, number: int, some: U64) -> None:
        together, places = np.unique(np.concatenate([self.pairs, some]), return_inverse=True)
        times = np.zeros((len(together), GROUPS), np.int64)
        times[places[: len(self.pairs)]] = self.times
        times[places[len(self.pairs) :], number % GROUPS] += 1
        self.pairs, self.times = together, times
        if len(together) > 2 * self._size:
            hashes = hashed(together)
            self._bound = np.partition(hashes, self._size)[self._size]
            smallest = hashes <= self._bound
            self.pairs, self.times = together[smallest], times[smallest]

    def share(self, distances: Callable[[U64], I64], bits: int) -> Share | None:
        """Estimate the share that was found; None where too few pairs were found again to say anything.

        `distances` tells in how many of the `bits` the rows of packed pairs differ. Each group of tries is left out
        once: what then changes is what depends on the orders that were drawn.
        """
        if self.tries < GROUPS or not len(self.pairs):
            return None
        share = distances(self.pairs) / bits
        times = self.times.sum(axis=1)
        fits = _fits(share, times, self.tries)
        if fits is None:
            return None
        crowded = _are_spread(times, fits)
        every, without = _number(fits, times, self.tries, crowded), np.empty(GROUPS)
        for group in range(GROUPS):
            tries = self.tries - len(range(group, self.tries, GROUPS))
            left = times - self.times[:, group]
            seen = np.flatnonzero(left)
            fits = _fits(share[seen], left[seen], tries)
            if fits is None:
                return None
            without[group] = _number(fits, left[seen], tries, crowded)
        error = STUDENT * math.sqrt((GROUPS - 1) / GROUPS * float(((without - without.mean()) ** 2).sum()))
        found = len(self.pairs)
        return Share(min(found / every, 1.0), (found / (every + error), min(1.0, found / max(every - error, found))))


class Fit(NamedTuple):
    """What is expected of the pairs `which`: how often they are found, if at all, its variance, the chance of it."""

    which: I64
    mean: F64
    variance: F64
    found: F64


def _fits(share: F64, times: I64, tries: int) -> list[Fit] | None:
    """Fit the chances of near and far pairs, whose rows differ in that share of the bits; None if it cannot be done."""
    order = np.argsort(share, kind="stable")
    fits, waiting = [], order[:0]
    for stratum in np.array_split(order, max(1, min(_STRATA, len(order) // _STRATUM))):
        waiting = np.concatenate([waiting, stratum])
        if (times[waiting] > 1).sum() >= max(_SEEN_TWICE, _AGAIN * len(waiting)):
            fits.append(Fit(waiting, *agreeing(share[waiting], times[waiting], tries)))
            waiting = order[:0]
    return fits if fits and not len(waiting) else None  # hardly found twice: there may be any number of the farthest


def _are_spread(times: I64, fits: list[Fit]) -> bool:
    """Return whether the numbers of findings are spread more widely than those of pairs with these chances."""
    more = np.concatenate([(times[fit.which] - fit.mean) ** 2 - fit.variance for fit in fits])
    return bool(more.mean() * math.sqrt(len(more)) > _WIDER * more.std())


def _number(fits: list[Fit], times: I64, tries: int, crowded: bool) -> float:
    """Return how many pairs there are, those that were not found included."""
    alike = sum(float((1 / fit.found).sum()) for fit in fits)
    return max(alike, sum(at_least(times[fit.which], tries) for fit in fits)) if crowded else alike


def agreeing(share: F64, times: I64, tries: int) -> tuple[F64, F64, F64]:
    """Fit pairs that are found in a try with the chance c (1 - share)^n; the most likely c and n are taken.

    Their rows differ in that `share` of the bits, and were found so many times, at least once. Returns how often they
    are to be expected, found at all; the variance of that; and the chance of being found at all.

    >>> mean, variance, found = agreeing(np.array([0.5, 0.5]), np.array([1, 2]), 2)
    >>> mean.round(2).tolist(), variance.round(3).tolist(), found.round(4).tolist()
    ([1.5, 1.5], [0.25, 0.25], [0.8889, 0.8889])
    """
    levels, place = np.unique(np.minimum(share, _MOST_SHARE), return_inverse=True)
    count, total = np.bincount(place), np.bincount(place, times)
    far = -np.log1p(-levels)
    centre = float(np.average(far, weights=count))
    turn = far / centre - 1 if centre > 0 else np.zeros(len(far))

    def rates(level: float, tilt: float) -> F64:
        """Minus the logarithms of the chances: all alike for a tilt of 0, and those of n bits for one of 1."""
        return np.asarray(np.clip(math.exp(level) * (1 + tilt * turn), *_RATES))

    def likelihood(rate: F64) -> float:
        missed = np.log(-np.expm1(-rate))
        found = np.log(-np.expm1(tries * missed))
        return float((-total * rate + (count * tries - total) * missed - count * found).sum())

    fitted = np.array([math.log(-math.log(min(float(times.mean()) / tries, 1 - 1e-6))), 0.5])
    best = likelihood(rates(*fitted))
    for _ in range(_STEPS):  # Fisher scoring; the tilt stays between 0 and 1
        rate = rates(*fitted)
        mean, variance, _ = _truncated(rate, tries)
        terms = np.stack([rate, math.exp(fitted[0]) * turn]) / np.expm1(-rate)
        slope, informed = terms @ (total - count * mean), (terms * (count * variance)) @ terms.T
        if (fitted[1] <= 0 and slope[1] < 0) or (fitted[1] >= 1 and slope[1] > 0) or informed[1, 1] <= 0:
            step = np.array([slope[0] / max(informed[0, 0], 1e-12), 0.0])
        else:
            step = np.linalg.solve(informed + np.diag(1e-9 * np.diag(informed) + 1e-12), slope)
        step /= max(1.0, float(np.abs(step).max()))
        while np.abs(step).max() > _CLOSE:
            tried = np.array([fitted[0] + step[0], min(max(fitted[1] + step[1], 0.0), 1.0)])
            better = likelihood(rates(*tried))
            if better >= best:
                break
            step /= 2
        else:
            break
        fitted, best = tried, better
    mean, variance, found = _truncated(rates(*fitted), tries)
    return mean[place], variance[place], found[place]


def _truncated(rate: F64, tries: int) -> tuple[F64, F64, F64]:
    """Return the binomial distribution without its zero, of chances p of which minus the logarithms are given.

    That is its mean n p / P and its variance, and P itself, the chance of being found at all.
    """
    p = np.exp(-rate)
    found = -np.expm1(tries * np.log1p(-p))
    mean = tries * p / found
    return mean, np.maximum(mean * (1 - p + tries * p - mean), 0.0), found


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


def hashed(pairs: U64) -> U64:
    """Return a well-mixed hash of each packed pair: the pairs with the smallest are a sample."""
    return drawn_words(drawn_words(pairs >> np.uint64(32)) ^ pairs)
