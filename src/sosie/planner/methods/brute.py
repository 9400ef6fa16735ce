"""Comparing all pairs over bit planes: exact at every radius, in time that grows with the square of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sosie.planner.constants.joins import BRUTE_PAIR_BYTES, BRUTE_SLAB, JOIN_PROGRAM, WINDOW_MARGIN
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.found_pairs import expected_pairs, pairs_bytes
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.memory import in_memory
from sosie.planner.wish import Wish

_UNIT = 32  # planes that are counted together
_PLANES = 2  # bytes of a row's planes beside those of its bits: its ones so far, bit by bit
_EQUAL = 48  # bytes of a row while equal ones are looked for


def settings(wish: Wish, facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield the one way in which all pairs are compared, where signatures are joined within a radius."""
    if wish.bits is not None and wish.radius is not None:
        yield {}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what comparing all pairs takes: each pair, each row, and the pairs that are found.

    >>> from sosie.planner.wish import Wish
    >>> found = estimate(Wish(task="join", rows=100_000, bits=1024, radius=400), Facts(), Machine(), {})
    >>> found.estimate.recall, found.estimate.work["comparisons"]
    (1.0, 4999950000.0)
    """
    assert wish.bits is not None and wish.radius is not None
    every, pairs = wish.rows + wish.others, expected_pairs(wish, facts)
    comparisons = wish.comparisons * (1 - facts.copies) ** 2
    edges = 0 if wish.others else wish.rows * WINDOW_MARGIN / 2  # blocks are compared whole where a row begins in one
    compared = (comparisons + edges) * pair_ns(machine, wish.bits, wish.radius)
    alone = every * machine.ns("brute row", wish.bits) + pairs * machine.ns("brute found")
    heap = held_bytes(wish.rows, wish.others, wish.bits) + BRUTE_PAIR_BYTES * pairs + kept_free(wish.memory)
    disk = pairs_bytes(pairs, wish.memory).disk
    found = Estimate(
        recall=1.0,
        seconds=(compared / machine.speedup(wish.threads) + alone) / 1e9,
        bytes=Bytes(heap=round(heap), mapped=every * wish.bits // 8, disk=disk),
        work={"comparisons": float(comparisons)},
    )
    return Candidate(method="brute", parameters=dict(parameters), estimate=found)


def pair_ns(machine: Machine, bits: int, radius: int) -> float:
    """Return what a comparison over bit planes takes: as many planes count as are looked at before rows are given up.

    >>> pair_ns(Machine(), 1024, 100) < pair_ns(Machine(), 1024, 400)
    True
    """
    return machine.ns("brute pair", first_look(bits, radius))


def first_look(bits: int, radius: int) -> int:
    """Return after how many planes random rows are beyond the radius, by four deviations; all where it saves little.

    >>> first_look(1000, 400), first_look(1000, 100)
    (1000, 288)
    """
    return next((p for p in range(_UNIT, bits * 3 // 4, _UNIT) if p / 2 - 2 * p**0.5 > radius), bits)


def held_bytes(rows: int, others: int, bits: int) -> int:
    """Return how much comparing all with all holds beside the rows: copies of those that are distinct, and planes.

    >>> held_bytes(1000, 0, 1024)
    306000
    """
    every, words = rows + others, -(-bits // 64) * 8
    planes = min(every, 2 * BRUTE_SLAB) * (bits // 8 + _PLANES)
    return every * (_EQUAL + (2 if others else 1) * words) + planes


def kept_free(limit: int | None) -> int:
    """Return what is kept free within a limit beyond what the program takes: for pairs, and for what is under way."""
    return 0 if limit is None else JOIN_PROGRAM - PROGRAM + in_memory(limit)
