"""Where a cascade cuts off: as few carries as the wanted recall allows.

A row at distance d from a query differs from it in about `planes * d / bits` of some planes that were drawn by lot;
exactly, the number is hypergeometric. So the chance that a row of a known distance has at most c carries
(`majorities`) is known, whatever the data are like. A query's cut-off is the least c for which the k nearest
of the rows with at most c carries are expected to have passed: the mean of their chances is at least the recall. The
true k nearest are not farther, so their chances are not smaller, and the expected recall is at least what was asked.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sosie.kernels.machine.compile import kernel


class Aim(NamedTuple):
    """The width of the signatures, and the recall to reach."""

    bits: int
    recall: float


@kernel
def chance(carries: int, distance: int, planes: int, bits: int) -> float:
    """Return the probability that a row at this distance has at most so many carries over `planes` of the bits.

    The hypergeometric distribution is taken for a normal one; they differ by less than 0.013.

    >>> round(chance(40, 300, 257, 1024), 2), chance(150, 300, 257, 1024)
    (0.84, 1.0)
    """
    most = 2 * carries + 1
    if most >= distance or most >= planes:
        return 1.0
    if distance == bits:
        return 0.0
    above = planes * distance / bits - most - 0.5
    return 0.5 * math.erfc(above / _deviation(distance, planes, bits) / math.sqrt(2.0))


@kernel
def reach(distance: int, planes: int, bits: int, deviations: float) -> int:
    """Return how many carries a row at this distance has if its count is so many deviations above its mean.

    >>> chance(reach(300, 257, 1024, 1.645), 300, 257, 1024) > 0.95
    True
    """
    return max(0, math.ceil((planes * distance / bits + deviations * _deviation(distance, planes, bits) - 1.5) / 2))


@kernel
def _deviation(distance: int, planes: int, bits: int) -> float:
    share = distance / bits
    return math.sqrt(planes * share * (1.0 - share) * (bits - planes) / (bits - 1.0))
