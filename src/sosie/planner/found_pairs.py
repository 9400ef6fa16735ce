"""How many pairs a join of signatures is expected to find, and what they take in memory and on disk."""

from __future__ import annotations

from scipy.special import bdtr

from sosie.planner.constants.joins import PAIR_BYTES
from sosie.planner.estimate import Bytes
from sosie.planner.facts import Facts
from sosie.planner.memory import in_memory
from sosie.planner.wish import Wish


def expected_pairs(wish: Wish, facts: Facts) -> float:
    """Return how many pairs there are within the radius: as a sample told, else as many as chance alone makes.

    >>> expected_pairs(Wish(task="join", rows=10**6, bits=64, radius=3), Facts(matches=0.5))
    250000.0
    >>> round(expected_pairs(Wish(task="join", rows=10**6, bits=64, radius=8), Facts()), 2)
    139.07
    """
    assert wish.bits is not None and wish.radius is not None
    matches = facts.matches
    if matches is None:
        matches = float(bdtr(wish.radius, wish.bits, 0.5)) * wish.rows
    return matches * (wish.others or wish.rows / 2)


def pairs_bytes(pairs: float, limit: int | None, held: int = PAIR_BYTES) -> Bytes:
    """Return what pairs take: `held` each in memory; within a limit what waits, and on disk what does not fit.

    >>> pairs_bytes(1e6, None), pairs_bytes(1e8, 1_600_000_000)
    (Bytes(heap=16000000, mapped=0, disk=0), Bytes(heap=100000000, mapped=0, disk=2400000000))
    """
    if limit is None:
        return Bytes(heap=round(held * pairs))
    waiting = in_memory(limit)
    if 8 * pairs <= waiting // 2:
        return Bytes(heap=round(held * pairs))
    return Bytes(heap=waiting, disk=round((8 + PAIR_BYTES) * pairs))
