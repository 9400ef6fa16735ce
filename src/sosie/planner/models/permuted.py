"""How near two rows come to each other in the order of permuted bits, by how many bits they differ in.

NFL (Section 5) takes rows for near that share log2(C / B) leading bits. That leaves out rows on both sides of a border
between such prefixes, and takes the bits of a pair for independent of how many differ in all. Here the chance is worked
out bit by bit: two rows are as far apart in the order as the numbers are whose leading bits are theirs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import pdtr

from sosie.planner.facts import F64

_FINE = 6  # bits by which the last place is finer than a window
_MOST = 200  # bits that are looked at: no more rows than that many bits tell apart


def chance_beside(distances: F64, bits: int, rows: float, window: int) -> F64:
    """Return the chance that two rows which differ in so many bits are within the window, in one order of the bits.

    All rows but these two are spread evenly. Of the bits in a random order, each differs with the chance that the
    differing ones have among those that are left (drawn without replacement).

    >>> chance_beside(np.array([0.0, 3.0, 20.0]), 64, 1_000_000, 100).round(3).tolist()
    [1.0, 0.501, 0.005]
    """
    distances = np.asarray(distances, np.float64)
    if window + 1 >= rows:
        return np.ones(len(distances))
    coarse = max(math.floor(math.log2(rows / window)), 0)
    levels = min(coarse + _FINE, bits, _MOST)
    gap = rows * 2.0**-levels  # how many rows there are between the numbers of one place and the next, on average
    reach = math.ceil((window + 8 * math.sqrt(window) + 8) / gap) + 1
    chances = np.zeros((len(distances), reach + 1))  # by how many places apart the rows are
    chances[:, 0] = 1
    for level in range(levels):
        left = bits - level
        first = np.clip(distances / left, 0, 1)  # as long as nothing has differed
        later = np.clip((distances - 1) / left, 0, 1)[:, None]
        after = np.zeros_like(chances)
        apart = chances[:, 1:]
        after[:, 0] = chances[:, 0] * (1 - first)
        after[:, 1] = chances[:, 0] * first
        for move, share in ((0, 1 - later), (1, later / 2), (-1, later / 2)):
            places = 2 * np.arange(1, reach + 1) + move
            inside = places <= reach
            after[:, places[inside]] += (apart * share)[:, inside]
        chances = after
    within = pdtr(window - 1, gap * np.arange(reach + 1))
    if levels == bits:
        within[0] = 1.0  # equal rows; others of the same bits are not expected
    return np.asarray(chances @ within)


def recall_of_orders(distances: F64, bits: int, rows: float, tables: int, window: int) -> F64:
    """Return the chance of being within the window in at least one of so many orders, which are independent.

    >>> recall_of_orders(np.array([3.0, 20.0]), 64, 1_000_000, tables=20, window=100).round(3).tolist()
    [1.0, 0.093]
    """
    return found_in_any(chance_beside(distances, bits, rows, window), tables)


def found_in_any(chance: F64, tables: int) -> F64:
    """Return the chance of happening in at least one of so many tries: 1 - (1 - p)^m.

    >>> found_in_any(np.array([0.5, 1.0]), 3).tolist()
    [0.875, 1.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(tables * np.log1p(-np.asarray(chance))))
