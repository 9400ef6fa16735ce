"""The limits of a wish, and which of them a candidate does not keep."""

from __future__ import annotations

from typing import Literal

from sosie.planner.estimate import Candidate
from sosie.planner.machine import PROGRAM
from sosie.planner.wish import Wish

Limit = Literal["recall", "memory", "seconds"]
LIMITS: tuple[Limit, ...] = ("recall", "memory", "seconds")


def missed(wish: Wish, candidate: Candidate) -> tuple[Limit, ...]:
    """Return the limits of a wish that a candidate does not keep.

    The program itself counts as memory; what is mapped does not, since the system takes it back when it needs to. A
    limit is kept if a run is sure to keep to it, where that is known (`Estimate.least`).
    """
    found, most = candidate.estimate, wish.memory
    over: dict[Limit, bool] = {
        "recall": found.recall < wish.recall,
        "memory": most is not None and max(held(candidate), found.least or 0) > most,
        "seconds": wish.seconds is not None and found.seconds > wish.seconds,
    }
    return tuple(limit for limit in LIMITS if over[limit])


def held(candidate: Candidate) -> int:
    """Return how much memory the process takes with a candidate, the program itself included."""
    return PROGRAM + candidate.estimate.bytes.heap
