"""Steps that are timed: random signatures to work on, and the least time of some runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sosie.types import Signatures

_REPEATS = 2
Family = dict[str, float | dict[int, float]]


def drawn(count: int, bits: int, seed: int = 0) -> Signatures:
    """Return random signatures of whole words."""
    return Signatures(np.random.default_rng(seed).integers(0, 2**64, (count, bits // 64), dtype=np.uint64), bits)


def least(run: Callable[[], Any], repeats: int = _REPEATS) -> float:
    """Return the least processor time of some runs, in nanoseconds; one run before them compiles what is not yet."""
    run()
    taken = []
    for _ in range(repeats):
        began = time.process_time_ns()
        run()
        taken.append(time.process_time_ns() - began)
    return float(min(taken))


def positive(value: Any) -> float:
    """Return a constant that noise has not brought to nothing."""
    return max(float(value), 1e-3)
