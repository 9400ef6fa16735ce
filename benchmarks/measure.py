"""How everything is measured: the best of several runs, after one that warms up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def best(job: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest time of a job in seconds; it runs once before, unmeasured."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def row(job: str, peer: str, ours: float, theirs: float, goal: float | None, detail: str) -> Row:
    """Return one line of the table of speeds."""
    return {
        "job": job,
        "peer": peer,
        "ours_s": ours,
        "peer_s": theirs,
        "ratio": theirs / ours,
        "goal": goal,
        "detail": detail,
    }
