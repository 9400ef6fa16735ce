"""Inverted signature slice lists: what is read, and what is seen (TOPK: ADCS 2013; ISSL: ECIR 2015)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sosie.planner.facts import F64
from sosie.planner.models.cuts import widths
from sosie.planner.models.distances import binomial

I64 = NDArray[np.int64]
Complex = NDArray[np.complex64]
DENSITY = 4  # log2 of the rows for each value of a slice: 2^20 rows and slices of 16 bits (TOPK 3)
_DEVIATIONS = 10  # from the mean, on both sides together


def slice_widths(bits: int, width: int) -> list[int]:
    """Return the bits of each slice: as few slices as possible of at most `width` bits, equal up to one bit.

    >>> slice_widths(64, 16), slice_widths(10, 4)
    ([16, 16, 16, 16], [3, 3, 4])
    """
    return widths(bits, -(-bits // width))


def lists_of_slice(width: int, breadth: int) -> int:
    """Return how many lists of one slice are at most `breadth` bits away (ISSL 5.2, there printed as C(i, w)).

    >>> [lists_of_slice(16, breadth) for breadth in range(4)]
    [1, 17, 137, 697]
    """
    return sum(math.comb(width, flips) for flips in range(breadth + 1))


def lists_read(bits: int, width: int, breadth: int) -> int:
    """Return how many lists a query reads in all slices.

    >>> lists_read(1024, 16, 3) == 64 * 697
    True
    """
    return sum(lists_of_slice(each, min(breadth, each)) for each in slice_widths(bits, width))


def postings_read(rows: int, bits: int, width: int, breadth: int) -> float:
    """Return how many entries of lists a query reads, if rows are random.

    >>> postings_read(2**20, 1024, 16, 1) == 64 * 17 * 2**20 / 2**16
    True
    """
    return rows * math.fsum(lists_of_slice(w, min(breadth, w)) / 2**w for w in slice_widths(bits, width))


def slice_collision(flipped: float, width: int) -> float:
    """Return the chance that a slice agrees if each bit flips with a chance: (1 - p)^w.

    >>> slice_collision(0.5, 16) == 2**-16
    True
    """
    return float((1 - flipped) ** width)


def chance_seen(bits: int, width: int, breadth: int, distance: int) -> float:
    """Return the chance that a row so many bits away is in some list that is read, if these bits are anywhere.

    >>> chance_seen(64, 16, 0, 3), round(chance_seen(64, 16, 0, 4), 3), round(chance_seen(64, 16, 1, 8), 3)
    (1.0, 0.897, 0.953)
    """
    flipped = min(max(distance / bits, 1e-6), 1 - 1e-6)  # any chance gives the same: the distance is fixed
    unseen = np.ones(1)
    for each in slice_widths(bits, width):
        chances = binomial(each, flipped)
        chances[: breadth + 1] = 0.0
        unseen = np.convolve(unseen, chances)
    return float(min(max(1 - unseen[distance] / binomial(bits, flipped)[distance], 0.0), 1.0))


def width_for(rows: int) -> int:
    """Return the width of slices that keeps lists short: one more bit for every doubling of the rows (ISSL 6.4).

    >>> width_for(2**20), width_for(2**21), width_for(1000)
    (16, 17, 6)
    """
    return min(max(round(math.log2(max(rows, 1))) - DENSITY, 2), 28)


@lru_cache(maxsize=256)
def score_chances(bits: int, width: int, breadth: int, flipped: float) -> F64:
    """Return the chances of each score of a row whose bits flip with a chance: w - r for a slice seen at r bits.

    That is the papers' score: the bits that agree in slices where the row was seen (ISSL Figure 1).

    >>> round(float(score_chances(16, 8, 0, 0.5)[[0, 8, 16]].sum()), 9)
    1.0
    """
    total = np.ones(1)
    for each in slice_widths(bits, width):
        gains, chances = _gains(each, breadth), binomial(each, flipped)
        total = np.convolve(total, np.bincount(gains, chances, each + 1))
    return total


@lru_cache(maxsize=1024)
def score_chances_at(bits: int, width: int, breadth: int, distance: int) -> F64:
    """Return the chances of each score of a row exactly so many bits away, if these bits are anywhere.

    They come out of the generating function of scores and distances, which is a product over the slices.

    >>> chances = score_chances_at(16, 8, 0, 1)
    >>> np.flatnonzero(chances.round(5)).tolist(), round(float(score_chances_at(16, 8, 0, 16)[0]), 5)
    ([8], 1.0)
    """
    flipped = min(max(distance / bits, 0.5 / bits), 1 - 0.5 / bits)
    # Distances that far apart are not confused: they are many standard deviations away.
    wrapped = min(bits + 1, max(64, math.ceil(_DEVIATIONS * math.sqrt(bits * flipped * (1 - flipped)))))
    scores, distances = (np.exp(2j * np.pi * np.arange(size) / size) for size in (bits + 1, wrapped))
    scores = scores[: bits // 2 + 1]  # the others are their conjugates, the chances being real
    product = np.ones((len(scores), wrapped), np.complex64)
    for each, count in zip(*np.unique(slice_widths(bits, width), return_counts=True), strict=True):
        chances, gains = binomial(int(each), flipped), _gains(int(each), breadth)
        slice_of = np.zeros_like(product)
        for flips, (chance, gain) in enumerate(zip(chances.tolist(), gains.tolist(), strict=True)):
            term = (chance * distances**flips).astype(np.complex64)
            slice_of += (scores**gain).astype(np.complex64)[:, None] * term if gain else term
        product *= _power(slice_of, int(count))
    at = (product * (distances ** -(distance % wrapped)).astype(np.complex64)).sum(axis=1)
    chances = np.maximum(np.fft.irfft(at.conj().astype(np.complex128), bits + 1), 0.0)
    return np.asarray(chances / chances.sum())


def _power(base: Complex, exponent: int) -> Complex:
    """Return a whole power, by squaring."""
    half = np.ones_like(base) if exponent < 2 else _power(base, exponent // 2)
    return half * half * base if exponent % 2 else half * half


def _gains(width: int, breadth: int) -> I64:
    """Return by how much a row gains that is seen at 0, 1, ... bits of a slice."""
    flips = np.arange(width + 1)
    return np.where(flips <= breadth, width - flips, 0)
