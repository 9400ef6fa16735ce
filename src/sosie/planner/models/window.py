"""What a sliding window is to be expected to find, and at what cost, before anything is joined (NFL 5 and 6.1).

The model of Ture, Elsayed and Lin (No Free Lunch, SIGIR 2011). It speaks of pairs of vectors with a known cosine whose
bits are signs of random projections, and of a window that holds just the rows with the same n leading bits. What a
join found is told by the join itself (`Pairs.recall`), which assumes neither.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import bdtr

from sosie.planner.facts import F64, Spread


class Tables(Protocol):
    """How often all rows are put in order, and with how many rows that follow each is compared (Q and B)."""

    @property
    def tables(self) -> int:
        """How many orders there are."""

    @property
    def window(self) -> int:
        """How many rows each is compared with."""


class Window(NamedTuple):
    """Tables and a window, as numbers."""

    tables: int
    window: int


class Bits(NamedTuple):
    """Signatures that are compared: how many bits they have, and how many may differ."""

    width: int
    radius: int


def agreement(cosine: float | F64) -> F64:
    """Return the chance that a bit of two vectors is the same: 1 - acos(t) / pi (NFL Equation 3).

    >>> agreement(np.array([0.0, 0.3, 1.0])).round(3).tolist()
    [0.5, 0.597, 1.0]
    """
    return np.asarray(1 - np.arccos(cosine) / np.pi)


def shared_bits(rows: int, window: int) -> tuple[int, int]:
    """Return how many leading bits the rows of a window share: floor and ceil of log2(C / B), C being all rows.

    >>> shared_bits(4_910_000, 2000), shared_bits(100, 2000)
    ((11, 12), (0, 0))
    """
    share = max(math.log2(rows / window), 0.0) if rows else 0.0
    return math.floor(share), math.ceil(share)


def chance_shared(cosine: float | F64, leading: int, tables: int) -> F64:
    """Return the chance of sharing so many leading bits in at least one table: 1 - (1 - p^n)^m (NFL Equation 4).

    >>> chance_shared(np.array([0.3, 0.5]), leading=11, tables=300).round(3).tolist()
    [0.644, 0.969]
    """
    each = agreement(cosine) ** leading
    with np.errstate(divide="ignore"):  # where a table is enough, log 0
        return np.asarray(-np.expm1(tables * np.log1p(-each)))


def chance_within(cosine: float | F64, bits: Bits, leading: int = 0) -> F64:
    """Return the chance of being within the radius for a pair that shares the leading bits (NFL Equation 5).

    The other D - n bits differ independently. With no leading bits it is the share that brute force finds.

    >>> chance_within(np.array([0.3, 0.5]), Bits(1000, 400)).round(3).tolist()
    [0.436, 1.0]
    """
    others = bits.width - leading
    return np.asarray(bdtr(min(bits.radius, others), others, 1 - agreement(cosine)))


def expected_recall(cosine: float | F64, bits: Bits, rows: int, by: Tables) -> tuple[F64, F64]:
    """Return the chance of being found, Equation 4 times Equation 5, for both bounds of the bits that a window shares.

    The lower one comes first: that of the larger number of bits.

    >>> [round(float(chance), 3) for chance in expected_recall(0.4, Bits(1000, 400), 4_910_000, Window(300, 2000))]
    [0.692, 0.842]
    """
    few, many = shared_bits(rows, by.window)
    low, high = (chance_shared(cosine, n, by.tables) * chance_within(cosine, bits, n) for n in (many, few))
    return low, high


def recall_of_similar(cosines: Spread, bits: Bits, rows: int, by: Tables) -> tuple[float, float]:
    """Return the share of similar pairs that is to be expected, averaged over their cosines: both bounds of it.

    >>> mixed = Spread(np.array([0.3, 0.5]), np.array([3.0, 1.0]))
    >>> [round(share, 3) for share in recall_of_similar(mixed, Bits(1000, 400), 4_910_000, Window(300, 2000))]
    [0.419, 0.508]
    """
    few, many = shared_bits(rows, by.window)
    low, high = (
        cosines.mean(lambda cosine, n=n: chance_shared(cosine, n, by.tables) * chance_within(cosine, bits, n))
        for n in (many, few)
    )
    return low, high


def window_comparisons(rows: int, by: Tables) -> int:
    """Return how many comparisons the windows of all tables hold, within a side and between sides.

    >>> window_comparisons(5, Window(tables=2, window=3))
    18
    """
    reached = max(min(by.window, rows - 1), 0)
    return by.tables * (rows * reached - reached * (reached + 1) // 2)


def relative_cost(rows: int, by: Tables) -> float:
    """Return comparisons as a share of those of brute force, without what it takes to make the chunks (NFL 6.1).

    Of two collections only pairs of different sides count, in the window and for brute force. Where rows of both sides
    lie as by chance, they are the same share of either, so that the number of all rows is enough.

    >>> round(relative_cost(1_470_000 + 3_440_000, Window(tables=300, window=2000)), 3)
    0.244
    """
    every = rows * (rows - 1) // 2
    return window_comparisons(rows, by) / every if every else 0.0
