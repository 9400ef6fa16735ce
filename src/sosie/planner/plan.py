"""A plan: what was asked, what is known, every method that was considered, and the one that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from sosie.planner.estimate import Candidate
from sosie.planner.explain import explain
from sosie.planner.facts import Facts
from sosie.planner.limits import Limit
from sosie.planner.machine import Machine
from sosie.planner.wish import Wish
from sosie.shown import printable


@dataclass(frozen=True)
class Nearest:
    """The plan that comes nearest to a wish that cannot be had, if these `limits` of it give way."""

    limits: tuple[Limit, ...]
    candidate: Candidate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan:
    """What was asked, what is known of the data and the machine, and the candidates, the best one first.

    Those that meet the wish come first, then those that reach the recall. `chosen` is None where none meets it: then
    `nearest` has those that could be had instead, one for each limit that may give way. `notes` say where limits come
    from that nobody asked for.
    """

    wish: Wish
    facts: Facts
    machine: Machine
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    nearest: tuple[Nearest, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(map(printable, explain(self)))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<pre>{escape(repr(self))}</pre>"

    def giving_way(self, limit: Limit) -> Candidate | None:
        """Return what is taken if a limit may give way, the others as far as they can be kept: `chosen`, if it is had.

        Without any that keeps the others, None.
        """
        if self.chosen is not None:
            return self.chosen
        return next((each.candidate for each in self.nearest if each.limits == (limit,)), None)

    @property
    def best(self) -> Iterator[Candidate]:
        """The best setting of each method, in the order of the candidates."""
        seen: set[str] = set()
        for candidate in self.candidates:
            if candidate.method not in seen:
                seen.add(candidate.method)
                yield candidate

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "format": "sosie-plan",
            "version": 1,
            "wish": asdict(self.wish),
            "facts": self.facts.to_dict(),
            "machine": {"cpu": self.machine.cpu, "measured": self.machine.measured},
            "chosen": self.chosen and self.chosen.to_dict(),
            "nearest": [{"limits": list(near.limits), **near.candidate.to_dict()} for near in self.nearest],
            "notes": list(self.notes),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }
