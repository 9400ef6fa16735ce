"""How signatures are joined where nobody says: planned, by what a sample of them tells if that is worth looking at."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sosie.jobs.planning.of_signatures import MOST, facts_of_signatures
from sosie.matches.chunks import Window
from sosie.matches.join import SignatureJoin
from sosie.parallel import thread_count
from sosie.planner.choose import choose
from sosie.planner.constants.joins import LEAST_LOOK, LOOK_BITS, WORTH_A_LOOK
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import load_machine
from sosie.planner.outcome import Outcome
from sosie.planner.plan import Plan
from sosie.planner.wish import Wish
from sosie.types import Pairs, Signatures


def plan_join(
    a: Signatures,
    b: Signatures | None = None,
    *,
    radius: int,
    recall: float = 1.0,
    memory: int | None = None,
    threads: int | None = None,
) -> Plan:
    """Plan how signatures are joined within a radius, so that the share `recall` of all pairs is found.

    How far pairs are apart, and how bits are shared, is told by a sample, which takes a twentieth of the join at most;
    short joins go without.

    >>> import numpy as np
    >>> rows = Signatures(np.arange(1000, dtype=np.uint64))
    >>> plan_join(rows, radius=10).chosen.method
    'brute'
    """
    wish = Wish(
        task="join",
        rows=max(len(a), 1),
        others=0 if b is None else max(len(b), 1),
        bits=a.bits,
        radius=radius,
        recall=recall,
        memory=memory,
        threads=thread_count(threads),
    )
    machine = load_machine()
    plan = choose(wish, Facts(), machine)
    seconds = taken(plan).estimate.seconds
    if seconds < WORTH_A_LOOK:
        return plan
    most = round(min(max(seconds * LOOK_BITS, LEAST_LOOK), MOST))
    return choose(wish, facts_of_signatures(a, b, radius, threads=threads, most=most), machine)


def taken(plan: Plan) -> Candidate:
    """Return the candidate that is taken: the chosen one, or that which comes nearest to the limit of memory.

    Whether that fits, its join says.
    """
    return plan.chosen or plan.giving_way("memory") or plan.candidates[0]


def method_of(candidate: Candidate) -> SignatureJoin | Window:
    """Return a candidate as joins are told it.

    >>> from sosie.planner.estimate import Estimate
    >>> found = Estimate(recall=0.9, seconds=1.0)
    >>> method_of(Candidate(method="window", parameters={"tables": 20, "window": 50}, estimate=found))
    Window(tables=20, window=50, chunk=490000, seed=0)
    """
    if candidate.method == "window":
        return Window(**candidate.parameters)
    return "blocks" if candidate.method == "blocks join" else "brute"


def came_of(plan: Plan, pairs: Pairs, began: float) -> Outcome:
    """Hold what was expected of a join beside what happened; it began at that time of the performance counter."""
    candidate = taken(plan)
    return Outcome.of(
        candidate,
        plan.wish.recall,
        measured=pairs.recall,
        seconds=round(time.perf_counter() - began, 3),
        work={name: (float(value), pairs.counters.get(name)) for name, value in candidate.estimate.work.items()},
    )


def described(planned: Outcome, plan: Plan | None = None) -> Mapping[str, Any]:
    """Return an outcome as a report has it, in words, too, with the best of what was considered."""
    considered = [] if plan is None else [each.to_dict() for each in plan.best]
    return {**planned.to_dict(), "said": planned.sentence(), "considered": considered}
