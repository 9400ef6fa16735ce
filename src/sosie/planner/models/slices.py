"""Inverted signature slice lists: what is read, and what is seen (TOPK: ADCS 2013; ISSL: ECIR 2015)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sosie.planner.facts import F64
from sosie.planner.models.cuts import widths
from sosie.planner.models.distances import binomial

DENSITY = 4  # log2 of the rows for each value of a slice: 2^20 rows and slices of 16 bits (TOPK 3)


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
        chances, gains = binomial(each, flipped), np.zeros(each + 1)
        seen = np.arange(min(breadth, each) + 1)
        gains[each - seen] = chances[seen]
        gains[0] += 1 - gains.sum()
        total = np.convolve(total, gains)
    return total
