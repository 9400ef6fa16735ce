"""How a batch is matched where nobody says: by block tables around it, or by probes, whichever is quicker."""

from __future__ import annotations

from sosie.errors import UsageError
from sosie.index.probe_search import ProbeSearch
from sosie.parallel import thread_count
from sosie.planner.choose import choose
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import load_machine
from sosie.planner.plan import Plan
from sosie.planner.registry import METHODS
from sosie.planner.wish import Wish
from sosie.types import Signatures

METHODS_OF_BATCHES = {name: METHODS[name] for name in ("store blocks", "store probes")}


def plan_batch(
    rows: int,
    batch: Signatures,
    radius: int,
    recall: float = 1.0,
    *,
    first: bool = False,
    threads: int | None = None,
    facts: Facts | None = None,
) -> Plan:
    """Plan how a batch is matched with a store of so many rows, so that the share `recall` of its matches is found.

    Where one match of each is enough and nothing may be missed, it is the one that block tables meet first.

    >>> import numpy as np
    >>> batch = Signatures(np.arange(1000, dtype=np.uint64))
    >>> plan_batch(10**6, batch, radius=3).chosen.exact
    True
    """
    wish = Wish(
        task="batch",
        rows=max(rows, 1),
        others=max(len(batch), 1),
        bits=batch.bits,
        radius=radius,
        recall=recall,
        threads=thread_count(threads),
    )
    methods = dict(METHODS_OF_BATCHES)
    if first and wish.exact:
        del methods["store probes"]
    return choose(wish, facts or Facts(volatile=batch.volatility is not None), load_machine(), methods)


def search_by(candidate: Candidate) -> tuple[ProbeSearch | None, int | None]:
    """Return by how many probes a candidate searches, or into how many blocks it cuts bits."""
    probes, blocks = candidate.parameters.get("probes"), candidate.parameters.get("blocks")
    return None if probes is None else ProbeSearch(probes), blocks


def check_recall(recall: float | None, probes: object, blocks: int | None) -> None:
    """Refuse a recall beside what says already how a batch is matched."""
    if recall is not None and (probes is not None or blocks is not None):
        raise UsageError("a recall is planned for: give recall, or probes, or blocks (--recall, --probes, --blocks)")
