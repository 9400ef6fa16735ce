"""What a method is expected to find, take and hold; and a candidate: a method with its parameters and that estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True)
class Bytes:
    """How much a method holds: on the heap, in files that are mapped, and on disk beside them; each apart.

    `heap` is the most at one time, without the program itself (`PROGRAM` of `planner/machine.py`).

    >>> Bytes(heap=10) + Bytes(heap=5, disk=7)
    Bytes(heap=15, mapped=0, disk=7)
    """

    heap: int = 0
    mapped: int = 0
    disk: int = 0

    def __add__(self, other: Bytes) -> Bytes:
        return Bytes(self.heap + other.heap, self.mapped + other.mapped, self.disk + other.disk)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What is expected: the share of what is wanted that is found, seconds, bytes, and the work in counters.

    `seconds` are those of the whole run: what is built once (`build`) and all that is asked. `work` has the counters
    that a result has, by the same names. `notes` are what a person should know of how sure it is. `least` is the least
    limit of memory that it is sure to keep to, where that is known: more than is expected.
    """

    recall: float
    seconds: float
    build: float = 0.0
    bytes: Bytes = Bytes()
    least: int | None = None
    work: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sure_within(self, least: int) -> Estimate:
        """Return the estimate with the least limit of memory that it is sure to keep to."""
        return replace(self, least=least)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **named,
            "bytes": vars(self.bytes),
            "work": {name: float(value) for name, value in self.work.items()},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A method by its name in the table of methods, with its parameters as the command line and Python call them."""

    method: str
    parameters: Mapping[str, Any]
    estimate: Estimate

    @property
    def exact(self) -> bool:
        """Whether it finds all that is wanted."""
        return self.estimate.recall == 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as plain data."""
        return {"method": self.method, "parameters": dict(self.parameters), **self.estimate.to_dict()}
