"""How documents of two languages are compared: as it was asked, or as the planner says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Views
from sosie.errors import UsageError
from sosie.jobs.link_spec import LinkSpec
from sosie.jobs.planning.of_links import facts_of_links
from sosie.kernels.vectors.dots import SparseRows
from sosie.parallel import thread_count
from sosie.planner.choose import choose
from sosie.planner.constants.links import COMPARED
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine, load_machine
from sosie.planner.methods import link_exact, link_signatures
from sosie.planner.outcome import Outcome
from sosie.planner.wish import Wish
from sosie.storage.room import Room


@dataclass(frozen=True)
class LinkPlan:
    """By what candidates are found, None where all are compared; how many of each; and what is expected of it."""

    by: Signed | None
    compared: int
    asked: float | None = None
    candidate: Candidate | None = None

    def outcome(self, recall: float | None, seconds: float) -> Outcome | None:
        """Return what was expected beside what happened; the time is that of comparing."""
        if self.candidate is None:
            return None
        said = Outcome.of(self.candidate, self.asked, measured=recall, seconds=seconds)
        if self.asked is None and self.by is not None and self.candidate.parameters.get("compared"):
            said = replace(said, predicted=None)  # nobody asked, and nothing but the documents would tell
        return replace(said, predicted_bytes=None)


def plan_linking(job: LinkSpec, views: Views, room: Room) -> LinkPlan:
    """Return how documents are compared.

    Where a recall is asked, the fastest way that reaches it: how many are compared is told by a sample of sources.
    Where nothing is said, the nearest by signatures are, or all if that takes no longer; this is decided by the usual
    constants, so that it is the same on every machine.
    """
    by, wanted = job.by, job.wanted
    compared = max(job.compared or COMPARED, wanted or 0)
    if not _filled(views.source) or not _filled(views.target):
        return LinkPlan(by, compared)
    wish, machine = _wish(job, views, room), load_machine()
    if job.recall is None:
        return _unasked(job, wish, views, room, machine)
    if wish.exact:
        facts = facts_of_links(views, room)
        return LinkPlan(None, compared, 1.0, link_exact.estimate(wish, facts, machine, {"exact": True}))
    signed = job.signed or Signed()
    facts = facts_of_links(views, room, by=signed, k=wanted)
    if job.signed is not None and job.signed.window is not None:
        settings: Any = {"bits": signed.bits, "recall": job.recall}
        found = link_signatures.estimate(wish, facts, machine, settings)
    else:
        chosen = choose(wish, facts, machine).chosen
        if chosen is None:
            raise UsageError("what was found does not fit into the memory: allow more, or ask for a lower recall")
        found = chosen
    if found.method == "link exact":
        return LinkPlan(None, compared, job.recall, found)
    if wanted is None:
        signed = replace(signed, recall=found.parameters["recall"])
    return LinkPlan(signed, found.parameters.get("compared", compared), job.recall, found)


def _unasked(job: LinkSpec, wish: Wish, views: Views, room: Room, machine: Machine) -> LinkPlan:
    """Return the way where no recall is asked: what was said, else signatures, or all where that takes no longer."""
    facts, by = facts_of_links(views, room), job.by
    compared = max(job.compared or COMPARED, job.wanted or 0)
    signed = by or Signed()
    settings = {"bits": signed.bits} | ({"recall": signed.recall} if job.wanted is None else {"compared": compared})
    ways = {None: (link_exact, {"exact": True}), signed: (link_signatures, settings)}
    said = job.exact or job.signed is not None or job.compared is not None
    if not said and _usual(*ways[None], wish, facts) <= _usual(*ways[signed], wish, facts):
        by = None
    method, parameters = ways[by]
    return LinkPlan(by, compared, None, method.estimate(wish, facts, machine, parameters))


def _usual(method: Any, parameters: dict[str, Any], wish: Wish, facts: Facts) -> float:
    seconds: float = method.estimate(wish, facts, Machine(), parameters).estimate.seconds
    return seconds


def _wish(job: LinkSpec, views: Views, room: Room) -> Wish:
    return Wish(
        task="link",
        rows=_filled(views.target),
        others=_filled(views.source),
        bits=(job.signed or Signed()).bits,
        k=job.wanted,
        threshold=job.threshold,
        recall=1.0 if job.recall is None else job.recall,
        threads=thread_count(room.threads),
    )


def _filled(rows: SparseRows) -> int:
    """Return how many rows have any column."""
    return int(np.count_nonzero(np.diff(rows.offsets)))
