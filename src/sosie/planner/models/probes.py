"""Probing likely flips of one header: what it costs, and the chance that a pair is found.

PSM is "Probabilistic Near-Duplicate Detection Using Simhash" (Sood and Loguinov, CIKM 2011), the numbers are those of
its equations. A header has t bits, of n = 2^d rows; k sets of flips are tried beside the header as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.planner.facts import F64
from sosie.planner.models.distances import binomial, drawn

_DRAWS = 48  # pairs that are drawn to average over


class Delays(NamedTuple):
    """What single steps take, in any unit: an element of the heap, a random access, a comparison."""

    heap: float
    access: float
    compare: float


def latency(flips: int, header: int, rows: int, delays: Delays) -> float:
    """Return what a query takes, k (delta_V log2 k + delta_R + 2^max(d - t, 0) delta_L) (Equation 19).

    At t = d it is Equation 21.

    >>> latency(16, 20, 2**20, Delays(1, 100, 10)) == 16 * (4 + 100 + 10)
    True
    """
    scanned = math.exp2(max(math.log2(rows) - header, 0.0))
    return flips * (delays.heap * math.log2(max(flips, 1)) + delays.access + scanned * delays.compare)


def most_flips(header: int, radius: int) -> int:
    """Return how many sets of flips there are, none beside, the bound of k(t) (Equation 20).

    >>> most_flips(26, 3)
    2951
    """
    return sum(math.comb(header, flipped) for flipped in range(1, min(radius, header) + 1))


def storage(bits: int, header: int, rows: int) -> float:
    """Return the bytes of the rows and of a table with an entry of b bits for each header (Equation 22).

    >>> storage(64, 20, 2**20) == 2 * 2**20 * 8
    True
    """
    return ((1 << header) + rows) * bits / 8


def tables(header: int, rows: int, entry: float = 8, row: float = 8) -> float:
    """Return how many copies of the signatures an index is worth, T' = 1 + 1 / 2^(d - t), for any n (Equation 26).

    In general 1 + 2^t entries over the bytes of n rows: entries of 4 bytes halve what is added.

    >>> tables(20, 2**20), tables(18, 2**20), tables(20, 2**20, entry=4)
    (2.0, 1.25, 1.5)
    """
    return 1 + (1 << header) * entry / (rows * row)


def total_recall(within_radius: float, relative: float) -> float:
    """Return the recall of pairs that are similar, R(h) R': those within the radius, of which a share is found (8.3).

    >>> total_recall(0.8, 0.95)
    0.76
    """
    return within_radius * relative


def even_chance(header: int, flipped: int, flips: int, most: int) -> float:
    """Return the chance that `flips` sets have one of `flipped` bits, if all bits are as likely: small sets come first.

    >>> even_chance(20, 1, 10, 3), even_chance(20, 2, 20 + 95, 3), even_chance(20, 4, 10**6, 3)
    (0.5, 0.5, 0.0)
    """
    if flipped > most:
        return 0.0
    before = sum(math.comb(header, size) for size in range(flipped))
    return min(1.0, max(0.0, (flips + 1 - before) / math.comb(header, flipped)))


def even_recall(bits: int, header: int, distance: int, flips: int, most: int) -> float:
    """Return the chance of finding a row so many bits away without any knowledge of the bits that flip.

    >>> even_recall(64, 20, 0, 0, 3), round(even_recall(64, 20, 1, 0, 3), 4), round(even_recall(64, 20, 3, 1350, 3), 9)
    (1.0, 0.6875, 1.0)
    """
    inside = drawn(header, bits - header, distance)
    return float(sum(chance * even_chance(header, size, flips, most) for size, chance in enumerate(inside.tolist())))


def flip_chances(sizes: F64, flipped: float) -> F64:
    """Return how likely bits flip whose sums |W| have a variance of 1, if a share of all bits flips (PSM 5.1).

    Two sums of a pair with the cosine c = cos(pi * share) are normal: p = P(sqrt(1 - c^2) N > c |W|).

    >>> flip_chances(np.array([0.0, 1.0, 2.0]), 1 / 16).round(3).tolist()
    [0.5, 0.0, 0.0]
    """
    cosine = math.cos(math.pi * min(flipped, 0.5))
    ratio = cosine / math.sqrt(max(1 - cosine**2, 1e-12))
    return np.array([NormalDist().cdf(-ratio * size) for size in sizes.tolist()])


@lru_cache(maxsize=256)
def likely_recall(bits: int, header: int, distance: int, most: int, flips: int) -> F64:
    """Return the chances of finding a row so many bits away by 0, 1, ... `flips` sets, the likeliest first (PSM 5, 6).

    The sums behind the bits are normal, and those of small size flip first. Given how likely each bit flips, a set S of
    the header is the one that flipped with the chance of S inside and of the other bits outside, of all ways to be
    so far away. It is the mean over pairs that are drawn: sums, and the share of bits that flips, every share being as
    likely before the distance is known. Each counts by how likely it is so far apart. How many bits flip in the header
    is known: any of them may.

    >>> chances = likely_recall(64, 20, 3, 3, 64)
    >>> bool(chances[64] > 0.95), even_recall(64, 20, 3, 64, 3) < 0.85
    (True, True)
    """
    most = min(most, header, distance)
    found, every = np.zeros((flips + 1, most + 1)), np.zeros(most + 1)
    shares = np.random.default_rng(distance).beta(distance + 1, bits - distance + 1, _DRAWS)
    for draw, share in enumerate(shares.tolist()):
        inside, outside, sets = _drawn(bits, header, most, flips, draw)
        within, beyond = (np.clip(flip_chances(sizes, share), 1e-12, 0.5) for sizes in (inside, outside))
        odds, ways = within / (1 - within), _ways(beyond / (1 - beyond), distance)
        weight = np.prod(1 - within) * np.prod(1 - beyond) / binomial(bits, share)[distance]
        flipped, outer = sets.sum(axis=1, dtype=np.int64), weight * ways[distance - np.arange(most + 1)]
        here = np.zeros_like(found)
        here[np.arange(len(sets)), flipped] = np.exp(sets @ np.log(odds)) * outer[flipped]
        found += np.cumsum(here, axis=0)
        every += _ways(odds, most) * outer
    return np.asarray(found / every @ drawn(header, bits - header, distance)[: most + 1])


@lru_cache(maxsize=64)
def _drawn(bits: int, header: int, most: int, flips: int, draw: int) -> tuple[F64, F64, NDArray[np.uint8]]:
    """Return sizes of the sums in a header, ascending, and outside; and the sets of the header that are tried first."""
    rng = np.random.default_rng(draw)
    sizes = np.abs(rng.standard_normal(bits))
    inside = np.sort(sizes[:header])
    chosen = [*likeliest_sets(inside.tolist(), most, flips + 1)]
    sets = np.zeros((len(chosen), header), np.uint8)
    for place, each in enumerate(chosen):
        sets[place, list(each)] = 1
    return inside, sizes[header:], sets


def _ways(odds: F64, most: int) -> F64:
    """Return the sums of the products of 0, 1, ... `most` of the odds."""
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for each in odds.tolist():
        ways[1:] += each * ways[:-1]
    return ways


def likeliest_sets(costs: list[float], most: int, count: int) -> Iterator[tuple[int, ...]]:
    """Return sets of at most so many bits by the sum of their costs, which ascend; the empty one is the first.

    >>> [*likeliest_sets([1.0, 2.0, 4.0], 2, 6)]
    [(), (0,), (1,), (0, 1), (2,), (0, 2)]
    """
    yield ()
    heap: list[tuple[float, tuple[int, ...]]] = [(costs[0], (0,))] if costs and most else []
    for _ in range(count - 1):
        if not heap:
            return
        cost, chosen = heappop(heap)
        yield chosen
        last = chosen[-1]
        if last + 1 < len(costs):
            more = costs[last + 1]
            heappush(heap, (cost - costs[last] + more, (*chosen[:-1], last + 1)))
            if len(chosen) < most:
                heappush(heap, (cost + more, (*chosen, last + 1)))
