"""What it costs to compare the documents of two languages that are near by signatures, and what that finds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.special import bdtr

from sosie.planner.constants.links import COMPARED, LET_THROUGH, PAIR_BYTES, REACHED
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts, Spread
from sosie.planner.machine import Machine
from sosie.planner.methods.flat import plane_bytes, planes_of
from sosie.planner.methods.link_exact import columns_of, pairs_kept, vector_bytes
from sosie.planner.wish import Wish

BITS = 1000  # of a signature, where nothing is said


def share_reached(reached: Spread, compared: int) -> float:
    """Return what share of the most similar targets is among so many of the nearest by signatures.

    >>> share_reached(Spread.at(30), 29), share_reached(Spread.at(30), 30)
    (0.0, 1.0)
    """
    return reached.mean(lambda place: place <= compared)


def compared_for(reached: Spread, recall: float) -> int | None:
    """Return how many of the nearest by signatures reach a recall; None if the sample did not look so far.

    >>> compared_for(Spread(np.array([1.0, 5.0, math.inf]), np.array([6.0, 3.0, 1.0])), 0.9)
    5
    """
    order = np.argsort(reached.values)
    shares = np.cumsum(reached.weights[order]) / reached.total
    place = float(reached.values[order][np.searchsorted(shares, recall - 1e-9)])
    return None if math.isinf(place) else int(place)


def radius_for(bits: int, least: float, share: float) -> int:
    """Return how many bits may differ so that a pair of a similarity is let through with a chance (NFL Equation 5).

    >>> radius_for(1000, 0.3, 0.98)
    435
    """
    apart = math.acos(min(max(least, -1.0), 1.0)) / math.pi
    return int(np.searchsorted(bdtr(np.arange(bits + 1), bits, apart), share))


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return how many of the nearest are compared for the recall asked; of a threshold, what share is let through."""
    bits = wish.bits or BITS
    if wish.exact:
        return []
    if wish.k is None:
        return [{"bits": bits, "recall": wish.recall}]
    if facts.reached is None:
        return [{"bits": bits, "compared": max(COMPARED, wish.k)}]
    compared = compared_for(facts.reached, wish.recall)
    return [] if compared is None else [{"bits": bits, "compared": max(compared, wish.k)}]


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what signing, comparing all signatures and comparing the nearest truly is expected to take."""
    bits, both = parameters["bits"], wish.rows + wish.others
    compared = parameters.get("compared", COMPARED)
    pairs, planes = pairs_kept(wish, facts, compared), planes_of(bits)
    rounds = 1 if wish.k is None else 2
    work = (
        both * columns_of(facts) * machine.ns("link.sign", planes)
        + rounds * wish.comparisons * machine.ns("scan.row", planes)
        + pairs * 2 * columns_of(facts) * machine.ns("link.column")
    )
    recall, notes = _recall(wish, facts, parameters)
    return Candidate(
        method="link signatures",
        parameters=dict(parameters),
        estimate=Estimate(
            recall=recall,
            seconds=work / machine.speedup(wish.threads) / 1e9,
            bytes=Bytes(
                heap=round(pairs * PAIR_BYTES) + vector_bytes(wish, facts) + 2 * plane_bytes(both, bits),
            ),
            work={"compared": pairs, "comparisons": rounds * wish.comparisons},
            notes=notes,
        ),
    )


def _recall(wish: Wish, facts: Facts, parameters: Mapping[str, Any]) -> tuple[float, tuple[str, ...]]:
    if wish.k is None:
        return float(parameters.get("recall", LET_THROUGH)), ()
    if facts.reached is None:
        return REACHED, ("how many of the most similar are near by signatures is assumed: only documents tell",)
    return share_reached(facts.reached, parameters["compared"]), ()
