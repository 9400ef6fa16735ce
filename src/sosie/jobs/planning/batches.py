"""How a batch is matched where nobody says: planned, by what a sample of the store and the batch tells."""

from __future__ import annotations

from dataclasses import replace

from sosie.jobs.planning.of_signatures import MOST, facts_of_signatures
from sosie.matches.store.planned import plan_batch
from sosie.matches.store.store import SignatureStore
from sosie.planner.constants.joins import LEAST_LOOK, LOOK_BITS, WORTH_A_LOOK
from sosie.planner.facts import Facts
from sosie.planner.plan import Plan
from sosie.types import Signatures

_SAMPLE = 1 << 16  # rows of a store


def plan_of_batch(
    store: SignatureStore,
    batch: Signatures,
    radius: int,
    recall: float = 1.0,
    *,
    first: bool = False,
    itself: bool = False,
    threads: int | None = None,
) -> Plan:
    """Plan how a batch is matched with a store, and with `itself`, so that the share `recall` of all matches is found.

    Where less than all is asked for, a sample tells how far matches are, unless the batch is done sooner than that.
    """
    rows = len(store) + (len(batch) if itself else 0)

    def planned(asked: float, facts: Facts | None = None) -> Plan:
        return plan_batch(rows, batch, radius, asked, first=first, threads=threads, facts=facts)

    plan = planned(recall)
    seconds = (plan.chosen or plan.candidates[0]).estimate.seconds
    if recall == 1.0 or seconds < WORTH_A_LOOK or not len(store):
        return plan
    facts = facts_of_signatures(
        store.sample(_SAMPLE),
        batch,
        radius,
        threads=threads,
        most=round(min(max(seconds * LOOK_BITS, LEAST_LOOK), MOST)),
        rows=len(store),
    )
    return planned(recall, replace(facts, volatile=batch.volatility is not None))
