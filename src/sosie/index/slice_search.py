"""How an index of slice lists searches: how far, what it compares, and when it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sosie.errors import UsageError
from sosie.kernels.slice_rules import ALL, CERTAIN, EARLY, Effort

_STOPS = {"all": ALL, "certain": CERTAIN, "early": EARLY}
_DISTANCES = ("pessimistic", "optimistic")


@dataclass(frozen=True)
class SliceSearch:
    """The options of a search over slice lists (TOPK 2.1, ISSL 5.2 and 6.2).

    - `breadth`: lists are read whose value differs from the query's slice in at most so many bits. Not less than the
      width of the slices: every list.
    - `candidates`: so many rows are compared with the query in the end; never fewer than k.
    - `stop`: `"early"` after `breadth`. `"certain"` as soon as no more than `candidates` rows can be among the k
      nearest, `"all"` as soon as all these were seen in every slice; at the latest after `breadth`, too.
    - `distance`: which estimate chooses the candidates of an early stop. `"pessimistic"`: all bits differ in slices in
      which a row was not seen (the papers' score); `"optimistic"`: one bit more than `breadth`.
    - `j`: beyond so many bits no new rows are taken up, those known go on gaining. None: new ones always are.

    >>> SliceSearch(breadth=16, stop="certain")
    SliceSearch(breadth=16, candidates=1000, stop='certain', distance='pessimistic', j=None)
    """

    breadth: int = 3
    candidates: int = 1000
    stop: Literal["early", "certain", "all"] = "early"
    distance: Literal["pessimistic", "optimistic"] = "pessimistic"
    j: int | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("breadth", self.breadth, 0), ("candidates", self.candidates, 1)):
            if value < least:
                raise UsageError(f"{name} must be at least {least}, got {value}")
        if self.j is not None and not 0 <= self.j <= self.breadth:
            raise UsageError(f"j must be between 0 and the breadth of {self.breadth}, got {self.j}")
        if self.stop not in _STOPS:
            raise UsageError(f"stop must be one of {', '.join(_STOPS)}, got {self.stop!r}")
        if self.distance not in _DISTANCES:
            raise UsageError(f"distance must be one of {', '.join(_DISTANCES)}, got {self.distance!r}")
        if self.j is not None and self.stop != "early":
            raise UsageError(f"j leaves rows out, so nothing is certain: use it with stop='early', not {self.stop!r}")

    def effort(self, width: int, k: int) -> Effort:
        """Return the options as kernels take them, for slices of up to `width` bits and k nearest rows."""
        breadth = min(self.breadth, width)
        admit = breadth if self.j is None else min(self.j, breadth)
        return Effort(breadth, admit, max(self.candidates, k), _STOPS[self.stop], self.distance == "optimistic")
