"""What comparing all documents of two languages costs, by the products of their vectors over lists by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sosie.planner.constants.links import BACK, COLUMNS, COMMON, COMPARED, ENTRY_BYTES, PAIR_BYTES
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.wish import Wish


def columns_of(facts: Facts) -> float:
    """Return how many columns a vector has, in the mean."""
    return facts.features if facts.products is not None else COLUMNS


def products_of(wish: Wish, facts: Facts) -> float:
    """Return how many additions the products of all pairs take: counted, or assumed.

    >>> products_of(Wish(task="link", rows=1000, others=10, k=10), Facts())
    320000.0
    """
    if facts.products is not None:
        return facts.products
    return wish.rows * wish.others * COLUMNS * COMMON


def pairs_kept(wish: Wish, facts: Facts, compared: int) -> float:
    """Return how many pairs are ranked: so many targets of each source, and the best sources of each target."""
    if wish.k is None:
        return wish.others * (facts.matches or 1.0)
    return wish.others * min(compared, wish.rows) + wish.rows * min(BACK, wish.others)


def vector_bytes(wish: Wish, facts: Facts) -> int:
    """Return what the vectors of both sides take."""
    return round((wish.rows + wish.others) * columns_of(facts) * ENTRY_BYTES)


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return the one way to compare all with all."""
    return [{"exact": True}]


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what comparing all with all is expected to take; for the nearest each side asks the other."""
    rounds = 1 if wish.k is None else 2
    work = products_of(wish, facts) * machine.ns("link.product") + wish.comparisons * machine.ns("link.score")
    kept = pairs_kept(wish, facts, max(COMPARED, wish.k or 0))
    notes = () if facts.products is not None else ("how many words documents share is assumed",)
    return Candidate(
        method="link exact",
        parameters=dict(parameters),
        estimate=Estimate(
            recall=1.0,
            seconds=rounds * work / machine.speedup(wish.threads) / 1e9,
            bytes=Bytes(heap=round(kept * PAIR_BYTES) + 2 * vector_bytes(wish, facts)),
            work={"products": rounds * products_of(wish, facts)},
            notes=notes,
        ),
    )
