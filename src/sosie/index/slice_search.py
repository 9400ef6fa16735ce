"""How an index of slice lists searches: how far, what it compares, and when it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.kernels.slices.expand import Reach
from sosie.kernels.slices.rules import ALL, CERTAIN, EARLY
from sosie.kernels.slices.sums import optimistic_gains, pessimistic_gains, proof_gains
from sosie.planner.methods.slices import BREADTH, CANDIDATES

STOPS = {"all": ALL, "certain": CERTAIN, "early": EARLY}
_DISTANCES = ("pessimistic", "optimistic")


@dataclass(frozen=True)
class SliceSearch:
    """The options of a search over slice lists (TOPK 2.1, ISSL 5.2 and 6.2).

    - `breadth`: lists are read whose value differs from the query's slice in at most so many bits, no more than the
      slices have. None: every list.
    - `candidates`: so many rows are compared with the query in the end; never fewer than k.
    - `stop`: `"early"` after `breadth`. `"certain"` as soon as no more than `candidates` rows can be among the k
      nearest, `"all"` as soon as all these were seen in every slice; at the latest after `breadth`, too.
    - `distance`: which estimate chooses the candidates of an early stop. `"pessimistic"`: all bits differ in slices in
      which a row was not seen (the papers' score); `"optimistic"`: one bit more than `breadth`.
    - `j`: beyond so many bits no new rows are taken up, those known go on gaining. None: new ones always are.

    >>> SliceSearch(breadth=None, stop="certain")
    SliceSearch(breadth=None, candidates=1000, stop='certain', distance='pessimistic', j=None)
    """

    breadth: int | None = BREADTH
    candidates: int = CANDIDATES
    stop: Literal["early", "certain", "all"] = "early"
    distance: Literal["pessimistic", "optimistic"] = "pessimistic"
    j: int | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("breadth", self.breadth, 0), ("candidates", self.candidates, 1), ("j", self.j, 0)):
            if value is None and name != "candidates":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise UsageError(f"{name} must be at least {least}, got {value}")
        if self.j is not None and self.breadth is not None and self.j > self.breadth:
            raise UsageError(f"j must be between 0 and the breadth of {self.breadth}, got {self.j}")
        if self.stop not in STOPS:
            raise UsageError(f"stop must be one of {', '.join(STOPS)}, got {self.stop!r}")
        if self.distance not in _DISTANCES:
            raise UsageError(f"distance must be one of {', '.join(_DISTANCES)}, got {self.distance!r}")
        if self.j is not None and self.stop != "early":
            raise UsageError(f"j leaves rows out, so nothing is certain: use it with stop='early', not {self.stop!r}")

    def check(self, width: int) -> None:
        """Refuse a breadth beyond the bits of the widest slice."""
        for name, value in (("breadth", self.breadth), ("j", self.j)):
            if value is not None and value > width:
                raise UsageError(
                    f"{name}={value} is more than the {width} bits of a slice: breadth=None reads every list"
                )

    def reach(self, width: int) -> Reach:
        """Return how far a search goes in slices of up to `width` bits, as kernels take it."""
        breadth = width if self.breadth is None else self.breadth
        if self.stop != "early":
            gains = proof_gains(width, breadth)
        elif self.distance == "optimistic" or breadth >= width - 1:  # then both order alike, and pessimistic has a 0
            gains = optimistic_gains(width, breadth)
        else:
            gains = pessimistic_gains(width, breadth)
        return Reach(breadth, breadth if self.j is None else self.j, read_only(gains))

    def reach_within(self, width: int, slices: int, radius: int) -> Reach:
        """Return how far a search for all rows within a radius goes.

        These have a slice that differs in at most radius / slices bits: farther lists bring none, and beyond `j` none
        either, as every row that is found is compared.
        """
        breadth = min(self.reach(width).admit, radius // slices)
        return Reach(breadth, breadth, read_only(optimistic_gains(width, breadth)))
