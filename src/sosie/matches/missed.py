"""How many similar pairs share no key: a third row leads to most, and what one band alone has found tells the others.

The bands of a minhash are drawn independently of each other, and a pair of Jaccard similarity J has equal keys in one
with the chance q = J^rows. Weighted by one over the chance of being found, the found pairs would tell how many there
are (Horvitz and Thompson 1952), if they were found independently. In a crowd of near rows they are not: a thousand
pairs are found by the same minimum, or missed by it. But whoever was missed in a crowd has neighbours that were found.

A pair is *led to* by bands if both of its rows are found with a third one, by any of them. Such pairs can be looked up:
a sample is drawn by walks of two steps, and verified. For each band k, then: the pairs that the other bands find or
lead to are known, and band k, which they know nothing of, finds each of the rest with its chance q. So these, and one
over q for each pair of the rest that k finds, are as many as there are, whatever the crowds (without third rows this
is the estimate of Good 1953, from what was found once). The mean over all bands is what is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sosie.kernels.sign.mix import drawn_words
from sosie.matches.neighbours import Common, Neighbours
from sosie.matches.order import packed, unpacked
from sosie.matches.share import LEAST, NORMAL, Share, crowds_of
from sosie.types import F64, I64, Bools, Pairs, VerifiedPairs

MANY, NONE = -1, -2  # in place of the one band in which the keys of a pair are equal
_MOST = 1 << 20  # found pairs that are looked at
_WALKS = 1 << 16  # of two steps
_ALONE = 1 << 13  # pairs that one band alone has found, of which third rows are looked for
_PIECE = 1 << 18  # pairs whose keys are compared at a time


@dataclass(frozen=True, eq=False)
class Banded:
    """Keys by which pairs were found: a column for each band, and of how many minima a key is made."""

    columns: Sequence[np.ndarray]
    minima: int

    def chances(self, jaccard: F64) -> F64:
        """Return the chance of equal keys in one band."""
        return np.asarray(jaccard**self.minima)

    def once(self, a: I64, b: I64) -> I64:
        """Return the one band in which the keys of a[i] and b[i] are equal; MANY or NONE where it is not one.

        >>> Banded([np.array([5, 5, 6]), np.array([8, 8, 8])], 1).once(np.array([0, 1]), np.array([1, 2])).tolist()
        [-1, 1]
        """
        band = np.full(len(a), NONE)
        for start in range(0, len(a), _PIECE):
            here = slice(start, start + _PIECE)
            for number, column in enumerate(self.columns):
                equal = start + np.flatnonzero(column[a[here]] == column[b[here]])
                band[equal] = np.where(band[equal] == NONE, number, MANY)
        return band


@dataclass(frozen=True, eq=False)
class Found:
    """Verified pairs of groups that share a key, their Jaccard similarities, and how many rows each group has."""

    a: I64
    b: I64
    jaccard: F64
    sizes: I64

    def __len__(self) -> int:
        return len(self.a)

    @property
    def times(self) -> I64:
        """How many pairs of rows each stands for."""
        return np.asarray(self.sizes[self.a] * self.sizes[self.b])

    def take(self, which: I64 | Bools) -> Found:
        """Return some of the pairs."""
        return Found(self.a[which], self.b[which], self.jaccard[which], self.sizes)


def banded_share(
    found: Found, keys: Banded, reaching: Callable[[Pairs], VerifiedPairs], certain: int = 0
) -> Share | None:
    """Estimate the share of all similar pairs that share a key; None where the chances are too small to say anything.

    `reaching` verifies pairs of groups: it returns those that count. Others were `certain` to be found.
    """
    chances = 1 - (1 - keys.chances(found.jaccard)) ** len(keys.columns)
    if not len(found) or chances.min() < LEAST:
        return None
    some = found.take(_chosen(found))
    if not len(some):
        return None
    band = keys.once(some.a, some.b)
    graph = Neighbours.of(some.a, some.b, len(some.sizes))
    led, spread = _led_to(graph, band, some.sizes, keys, reaching)
    alone, spread_alone = _alone(graph, band, some, keys)
    scale = float(found.times.sum()) / float(some.times.sum())
    known = float(found.times.sum()) + certain
    every = known + scale * (led + alone)
    error = NORMAL * scale * math.sqrt(spread + spread_alone)
    return Share(known / every, (known / (every + error), min(1.0, known / max(every - error, known))))


def _chosen(found: Found) -> Bools:
    """Choose the pairs that are looked at: all, or those between some of the rows, which is a smaller collection."""
    if len(found) <= _MOST:
        return np.ones(len(found), np.bool_)
    drawn = drawn_words(np.arange(len(found.sizes), dtype=np.uint64)) >> np.uint64(11)
    chosen = drawn < math.sqrt(_MOST / len(found)) * 2.0**53
    return np.asarray(chosen[found.a] & chosen[found.b])


def _led_to(
    graph: Neighbours, band: I64, sizes: I64, keys: Banded, reaching: Callable[[Pairs], VerifiedPairs]
) -> tuple[float, float]:
    """Estimate how many similar pairs share no key but have a third row in common, and the variance of that.

    A pair that is led to only with the help of one band is one of the rest to that band: it counts for the others.
    Which bands these may be, one walk to it tells.
    """
    walks = graph.walks(_WALKS, seed=0)
    pairs, place, drawn = np.unique(packed(walks.start, walks.end), return_index=True, return_counts=True)
    a, b = unpacked(pairs)
    missed = np.flatnonzero((a != b) & (graph.has(a, b) < 0))
    missed = missed[keys.once(a[missed], b[missed]) == NONE]
    true = reaching(Pairs(a[missed], b[missed]))
    missed = missed[np.isin(pairs[missed], packed(true.a, true.b))]
    a, b, place, drawn = a[missed], b[missed], place[missed], drawn[missed]
    first, second = (band[graph.given[edge[place]]] for edge in (walks.first, walks.second))
    second = np.where(second == first, MANY, second)
    chance, without_first, without_second = np.zeros((3, len(a)))
    for found in graph.common(a, b):
        chance += np.bincount(found.pair, graph.chances(found), len(a))
        without_first += np.bincount(found.pair, _spared(graph, band, found, first), len(a))
        without_second += np.bincount(found.pair, _spared(graph, band, found, second), len(a))
    needed = ((first >= 0) & (without_first == 0)).astype(np.int64) + ((second >= 0) & (without_second == 0))
    values = sizes[a] * sizes[b] * (1 - needed / len(keys.columns)) / chance
    mean = float((drawn * values).sum()) / _WALKS
    return mean, (float((drawn * values**2).sum()) / _WALKS - mean**2) / _WALKS


def _alone(graph: Neighbours, band: I64, found: Found, keys: Banded) -> tuple[float, float]:
    """Estimate how many similar pairs share no key and no third row, from those that a band found alone.

    Pairs that are connected by others were lucky together: their errors are added, not their squares. Where few crowds
    tell of all, the spread between them is hardly known: it is as if there were one more as large as the largest.
    """
    single = np.flatnonzero(band >= 0)
    chosen = single
    if len(single) > _ALONE:
        chosen = np.sort(np.random.default_rng(1).choice(single, _ALONE, replace=False))
    left = np.zeros(len(chosen))
    for thirds in graph.common(found.a[chosen], found.b[chosen]):
        left += np.bincount(thirds.pair, _spared(graph, band, thirds, band[chosen]), len(chosen))
    chosen = chosen[left == 0]
    if not len(chosen):
        return 0.0, 0.0
    scale = len(single) / min(len(single), _ALONE)
    chance = keys.chances(found.jaccard[chosen])
    weights = (1 - chance) / chance / len(keys.columns)
    times = scale * found.times[chosen]
    crowds = crowds_of(found.a[chosen], found.b[chosen], len(found.sizes))
    errors = np.bincount(crowds, times * np.sqrt(weights**2 + weights))
    return float((times * weights).sum()), float((errors**2).sum() + errors.max() ** 2)


def _spared(graph: Neighbours, band: I64, found: Common, one: I64) -> Bools:
    """Return which third rows are left when a pair does without those that band `one` of it alone has found."""
    first, second = band[graph.given[found.first]], band[graph.given[found.second]]
    return np.asarray((first != one[found.pair]) & (second != one[found.pair]))
