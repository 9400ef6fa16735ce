"""A plan: what was asked, what is known, every method that was considered, and the one that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sosie.errors import UsageError
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.wish import Wish

Limit = Literal["recall", "memory", "seconds"]
LIMITS: tuple[Limit, ...] = ("recall", "memory", "seconds")


@dataclass(frozen=True)
class Nearest:
    """The plan that comes nearest to a wish that cannot be had, if these `limits` of it give way."""

    limits: tuple[Limit, ...]
    candidate: Candidate


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What was asked, what is known of the data and the machine, and the candidates, the best one first.

    Those that meet the wish come first. `chosen` is None where none does: then `nearest` has those that could be had
    instead, one for each limit that may give way.
    """

    wish: Wish
    facts: Facts
    machine: Machine
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    nearest: tuple[Nearest, ...] = ()

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
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


def missed(wish: Wish, candidate: Candidate) -> tuple[Limit, ...]:
    """Return the limits of a wish that a candidate does not keep.

    The program itself counts as memory; what is mapped does not, since the system takes it back when it needs to.
    """
    found = candidate.estimate
    return tuple(
        limit
        for limit, over in zip(
            LIMITS,
            (
                found.recall < wish.recall,
                wish.memory is not None and PROGRAM + found.bytes.heap > wish.memory,
                wish.seconds is not None and found.seconds > wish.seconds,
            ),
            strict=True,
        )
        if over
    )


def check_limits(wish: Wish) -> None:
    """Refuse a limit of memory that the program itself is beyond."""
    if wish.memory is not None and wish.memory <= PROGRAM:
        raise UsageError(f"{wish.memory:,} bytes of memory are less than the program itself takes, {PROGRAM:,}")
