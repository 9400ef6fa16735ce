"""How far rows are apart by chance: binomial chances, and how far the nearest of many random rows are."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sosie.planner.facts import F64, Spread

_LEAST = 1e-9  # of a share of the pairs, below which it is left out


def binomial(trials: int, chance: float) -> F64:
    """Return the chances of 0, 1, ... `trials` successes.

    >>> binomial(2, 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]
    """
    if chance <= 0 or chance >= 1:
        return np.asarray(np.eye(1, trials + 1, trials if chance >= 1 else 0)[0])
    successes = np.arange(trials + 1)
    logs = _log_ways(trials) + successes * math.log(chance) + (trials - successes) * math.log1p(-chance)
    return np.asarray(np.exp(logs))


def at_most(trials: int, chance: float, successes: int) -> float:
    """Return the chance of no more than so many successes.

    >>> round(at_most(64, 0.5, 31) + at_most(64, 0.5, 32), 9)
    1.0
    """
    return float(min(binomial(trials, chance)[: successes + 1].sum(), 1.0))


def drawn(marked: int, others: int, draws: int) -> F64:
    """Return the chances that 0, 1, ... `marked` of the marked ones are among so many drawn (hypergeometric).

    >>> drawn(2, 2, 2).round(3).tolist()
    [0.167, 0.667, 0.167]
    """
    hit = np.arange(marked + 1)
    missed = draws - hit
    possible = (missed >= 0) & (missed <= others)
    ways = np.full(marked + 1, -np.inf)
    ways[possible] = _log_ways(marked)[hit[possible]] + _log_ways(others)[missed[possible]]
    return np.asarray(np.exp(ways - _log_ways(marked + others)[draws]))


def random_within(bits: int, radius: int) -> float:
    """Return the share of random rows that are at most so many bits away: 2^-bits times the rows of such a ball.

    >>> random_within(64, 3) == sum(math.comb(64, i) for i in range(4)) / 2**64
    True
    """
    return float(Fraction(sum(math.comb(bits, apart) for apart in range(min(radius, bits) + 1)), 1 << bits))


@lru_cache(maxsize=64)
def random_kth(rows: int, bits: int, k: int) -> Spread:
    """Return how far the k-th nearest of random rows is from a query.

    So many rows are within a distance as a Poisson distribution says: of 10^6 rows of 64 bits, the tenth is mostly
    15 bits away.

    >>> spread = random_kth(10**6, 64, 10)
    >>> int(spread.values[spread.weights.argmax()]), round(spread.mean(lambda distance: distance), 1)
    (15, 15.2)
    """
    return _falling([_poisson_at_least(rows * share, k) for share in _cumulated(bits)])


@lru_cache(maxsize=64)
def random_nearest(rows: int, bits: int, k: int) -> Spread:
    """Return how far the k nearest of random rows are from a query, all of them together.

    >>> all_ten, last = random_nearest(10**6, 64, 10), random_kth(10**6, 64, 10)
    >>> all_ten.mean(lambda distance: distance) < last.mean(lambda distance: distance)
    True
    """
    return _falling([_mean_of_least(rows * share, k) / k for share in _cumulated(bits)])


def _cumulated(bits: int) -> F64:
    return np.minimum(np.cumsum(binomial(bits, 0.5)), 1.0)


def _falling(reached: list[float]) -> Spread:
    """Return the spread of distances of which a share is reached by each distance."""
    weights = np.maximum(np.diff(np.array(reached), prepend=0.0), 0.0)
    kept = np.flatnonzero(weights > _LEAST)
    if not len(kept):
        return Spread.at(len(reached) - 1)
    return Spread(kept.astype(np.float64), weights[kept])


def _poisson_at_least(mean: float, least: int) -> float:
    return 1 - float(_poisson(mean, least).sum())


def _mean_of_least(mean: float, most: int) -> float:
    """Return the mean of min(N, most), where N is of a Poisson distribution."""
    chances = _poisson(mean, most)
    return most - float(((most - np.arange(most)) * chances).sum())


def _poisson(mean: float, below: int) -> F64:
    """Return the chances of 0, 1, ... below."""
    if mean <= 0:
        return np.asarray(np.eye(1, below)[0])
    counts = np.arange(below)
    return np.asarray(np.exp(counts * math.log(mean) - mean - _log_factorials(below)[:below]))


@lru_cache(maxsize=256)
def _log_ways(n: int) -> F64:
    """Return the logarithms of n choose 0, 1, ... n."""
    logs = _log_factorials(n)
    return np.asarray(logs[n] - logs - logs[::-1])


@lru_cache(maxsize=256)
def _log_factorials(n: int) -> F64:
    return np.array([math.lgamma(i + 1) for i in range(n + 1)])
