"""Simhash: documents whose signatures are within a radius are compared (`matches/candidates.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sosie.planner.constants.documents import WORD_BYTES
from sosie.planner.estimate import Candidate
from sosie.planner.facts import F64, Facts
from sosie.planner.machine import Machine
from sosie.planner.memory import held_bytes
from sosie.planner.models.bands import cosine_of, radius_chance, radius_for
from sosie.planner.stages import Dedup, Stage
from sosie.planner.wanted import least_cosine, recall_of, similar
from sosie.planner.wish import Wish

BITS = 256
USUAL = 0.99  # of pairs at the threshold, where nobody asks for less
WIDTHS = (64, 128, 256, 512)


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return for some widths the least radius that reaches the recall; nothing where all is asked, or containment."""
    if wish.exact or wish.measure == "containment":
        return []
    return [{"bits": bits, "radius": _radius(wish, facts, bits)} for bits in WIDTHS]


def usual(wish: Wish) -> dict[str, int]:
    """Return the usual width, and the radius that nearly all pairs at the threshold are within."""
    return {"bits": BITS, "radius": usual_radius(wish, BITS)}


def usual_radius(wish: Wish, bits: int) -> int:
    """Return the radius of so many bits that nearly all pairs at the threshold are within."""
    return radius_for(least_cosine(wish), bits, USUAL)


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what signatures of some bits find within a radius, and take: all of them are compared with each other."""
    bits, radius = parameters["bits"], parameters["radius"]
    run, threads = Dedup(wish, facts, machine), wish.threads
    comparisons = run.distinct * (run.distinct - 1) / 2
    seconds = run.seconds(run.compared, "simhash", bits, threads=threads)
    seconds += run.seconds(comparisons, "apart", bits, threads=threads)
    held = run.held()
    heap = held.heap + WORD_BYTES * -(-bits // 64) * run.distinct
    by_chance = comparisons * float(radius_chance(np.zeros(1), bits, radius)[0])
    candidates = min(run.pairs + by_chance, comparisons)
    recall, notes = recall_of(wish, facts, lambda similarity: _chance(wish, similarity, bits, radius))
    matching = Stage(seconds, heap, held.mapped, held.disk)
    found = run.estimate(matching, candidates, recall=recall, work={"comparisons": comparisons}, notes=notes)
    least = held_bytes(facts.features * wish.rows, wish.rows)
    return Candidate(method="simhash", parameters={"bits": bits, "radius": radius}, estimate=found.sure_within(least))


def _radius(wish: Wish, facts: Facts, bits: int) -> int:
    """Return the least radius that reaches the recall: of the pairs that there are, or of those at the threshold."""
    most = radius_for(least_cosine(wish), bits, wish.recall)
    wanted = similar(wish, facts)
    if wanted is None:
        return most
    return next(
        (
            radius
            for radius in range(most)
            if wanted.mean(lambda each, near=radius: _chance(wish, each, bits, near)) >= wish.recall
        ),
        most,
    )


def _chance(wish: Wish, similarity: F64, bits: int, radius: int) -> F64:
    """Return the chance of pairs by their similarity, which is a cosine where features weigh, else that of sets."""
    return radius_chance(similarity if wish.weighting != "binary" else cosine_of(similarity), bits, radius)
