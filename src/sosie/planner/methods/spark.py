"""A de-duplication on a cluster, by Spark: only where one machine is not enough, or a time is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sosie.planner.constants.cluster import CORE_DOCUMENTS, DRIVER_PAIR_BYTES, EXECUTOR_BYTES, SHUFFLED_BYTES
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.memory import held_bytes
from sosie.planner.methods import minhash
from sosie.planner.models.bands import band_chance
from sosie.planner.stages import Dedup
from sosie.planner.wanted import recall_of
from sosie.planner.wish import Wish
from sosie.storage.size import show_size

FEWEST, MOST = 8, 1 << 14  # cores of a cluster
USUAL_MEMORY = 256 << 30  # of one machine, where nobody says what it has
_FASTER = (1, 4, 16)  # times as many cores, where there is a time to keep


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return a method and so many cores that none has more documents than are worth it; more, to keep a time.

    Nothing where one machine can hold all, and no time is asked for.
    """
    least = held_bytes(facts.features * wish.rows, wish.rows)
    if least <= (wish.memory or USUAL_MEMORY) and wish.seconds is None:
        return []
    if wish.weighting != "binary" or wish.measure == "containment":
        return []
    cores = FEWEST
    while cores * CORE_DOCUMENTS < wish.rows and cores < MOST:
        cores *= 2
    method = "exact" if wish.recall > minhash.USUAL else "minhash"
    times = _FASTER[:1] if wish.seconds is None else _FASTER
    return [{"method": method, "cores": cores * each} for each in times if cores * each <= MOST]


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what a cluster of so many cores takes; of bytes, those of the driver, and on disk what is shuffled.

    Cores are taken to be as fast as those of the machine whose constants these are, and a network to be no slower than
    their disks.
    """
    method, cores = parameters["method"], parameters["cores"]
    run, recall, notes = Dedup(wish, facts, machine), 1.0, tuple[str, ...]()
    if method == "minhash":
        bands = minhash.usual(wish)
        rows, count = bands["rows"], bands["minima"] // bands["rows"]
        recall, notes = recall_of(wish, facts, lambda jaccard: band_chance(jaccard, rows, count))
    size = facts.text_bytes / Facts().text_bytes  # what is done for a document, and travels, grows with it
    shuffled = SHUFFLED_BYTES[method] * size * wish.rows
    parallel = size * wish.rows * machine.ns(f"spark {method}") + shuffled * machine.ns("spark byte")
    alone = machine.ns("spark start") + machine.ns("spark run") + run.pairs * machine.ns("spark pair")
    held = show_size(round(EXECUTOR_BYTES * size * wish.rows / cores))
    found = Estimate(
        recall=recall,
        seconds=(alone + parallel / cores) / 1e9,
        build=machine.ns("spark start") / 1e9,
        bytes=Bytes(heap=round(DRIVER_PAIR_BYTES * run.pairs), disk=round(shuffled)),
        work={"shuffled_bytes": shuffled},
        notes=(*notes, f"on a cluster of {cores:,} cores, with about {held} for each core"),
    )
    return Candidate(method="spark", parameters={"method": method, "cores": cores}, estimate=found)
