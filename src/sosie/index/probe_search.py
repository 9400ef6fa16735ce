"""How a probe index searches: by how many probes, and how many reach a recall."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sosie.errors import UsageError
from sosie.kernels.tables.vosh import NEVER
from sosie.planner.methods.probes import FLIPS
from sosie.types import I64, Bools

LEAST = 20  # matches, or queries with a match, in each half of a sample


@dataclass(frozen=True)
class ProbeSearch:
    """How far a search goes: so many sets of flips are tried, beside the header as it is."""

    probes: int = FLIPS

    def __post_init__(self) -> None:
        if isinstance(self.probes, bool) or not isinstance(self.probes, int | np.integer) or self.probes < 0:
            raise UsageError(f"probes must be a whole number, at least 0, got {self.probes}")


@dataclass(frozen=True)
class Calibration(ProbeSearch):
    """What `ProbeIndex.calibrate` found: an effort, and the recall that it has.

    With so many `probes`, searches within `radius` find the share `recall` of all matches (with `first`: they find
    something for that share of the queries that have a match), measured on `measured` of them that had no say in the
    choice. It holds for headers of `header_bits` bits, and for queries with volatility if it was made with it.
    """

    recall: float = 0.0
    measured: int = 0
    radius: int = 0
    first: bool = False
    header_bits: int = 0
    volatile: bool = False

    def holds(self, radius: int, first: bool, header_bits: int, volatile: bool) -> bool:
        """Whether the recall is that of a search within a radius, of such queries, by such headers."""
        asked = first, header_bits, volatile
        return radius <= self.radius and asked == (self.first, self.header_bits, self.volatile)


def choose_probes(places: I64, queries: I64, recall: float, *, first: bool) -> tuple[int, float, int]:
    """Return the number of probes, the recall on the other half of the sample, and how much was measured there.

    The match i of query `queries[i]` is found by the probe `places[i]`, 0 being that of the header as it is.

    >>> choose_probes(np.arange(200) // 2, np.arange(200), 0.95, first=False)
    (94, 0.95, 100)
    """
    places = np.where(places == NEVER, np.iinfo(np.int64).max, places)
    if first:
        queries, where = np.unique(queries, return_inverse=True)
        nearest = np.full(len(queries), np.iinfo(np.int64).max)
        np.minimum.at(nearest, where, places)
        places = nearest
    chosen = _half(queries)
    for half in (places[chosen], places[~chosen]):
        if len(half) < LEAST:
            raise UsageError(
                f"the sample has {len(places):,} matches; {2 * LEAST} are too few to say how many probes reach a "
                "recall: take more queries, or such as have matches"
            )
    probes = int(np.sort(places[chosen])[math.ceil(recall * chosen.sum()) - 1])
    if probes == np.iinfo(np.int64).max:
        raise UsageError(f"recall {recall} takes too many probes: choose a smaller radius or recall, or another index")
    return probes, float(np.mean(places[~chosen] <= probes)), int(np.sum(~chosen))


def _half(queries: I64) -> Bools:
    """Return which matches belong to every other query that has one: all of a query are on the same side."""
    return np.asarray(np.unique(queries, return_inverse=True)[1] % 2 == 0)
