"""What is told of a linking: counts, alarms, and how far it can be relied on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sosie.crosslingual.alarms import Hubs
from sosie.crosslingual.bootstrap import Learnt
from sosie.crosslingual.compared import Compared
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.ranking import Ranked
from sosie.crosslingual.sides import Read
from sosie.crosslingual.views import Views, Weights
from sosie.jobs.link_plan import LinkPlan
from sosie.jobs.link_spec import LinkSpec
from sosie.report.links import LinkReport, Links
from sosie.report.timing import StageCost

_NAMED = 5  # hubs


@dataclass(frozen=True, kw_only=True, eq=False)
class Linked:
    """All that was made of two collections; `aside` says whether the hubs were set aside.

    `recall` is that of the pairs `compared`, or one that was measured, and `interval` its own; comparing them has
    `taken` so many seconds.
    """

    sides: tuple[Read, Read]
    dictionary: Dictionary | None
    learnt: Learnt | None
    weights: Weights
    views: Views
    compared: Compared
    plan: LinkPlan
    taken: float
    links: Ranked
    hubs: Hubs
    aside: bool
    recall: float | None
    interval: tuple[float, float] | None
    notes: Sequence[str]

    def told(self, spec: LinkSpec, stages: Sequence[StageCost]) -> Links:
        """Return the links with their report."""
        few = np.flatnonzero(self.views.few[0]), np.flatnonzero(self.views.few[1])
        hubs = self._hubs()
        outcome = self.plan.outcome(self.recall, self.taken)
        report = LinkReport(
            parameters=spec.described(self.weights, self.plan.by, self.plan.compared),
            documents={name: len(side.terms) for name, side in zip("ab", self.sides, strict=True)},
            left_out={name: {"few words": len(rows)} for name, rows in zip("ab", few, strict=True)},
            linked=int(np.count_nonzero(self.links.rank == 1)),
            links=len(self.links),
            rejected=sum(len(side.rejects) for side in self.sides),
            dictionary=None if self.dictionary is None else _described(self.dictionary),
            known_words={name: float(known.mean()) for name, known in zip("ab", self.views.known, strict=True)},
            rounds=[] if self.learnt is None else [asdict(each) for each in self.learnt.rounds],
            hubs=hubs,
            warnings=[*self.notes, *map(self._warning, hubs[:_NAMED])],
            counters=dict(self.compared.counters),
            recall=self.recall,
            interval=self.interval,
            plan=None if outcome is None else outcome.to_dict(),
            stages=tuple(stages),
        )
        return Links(*self.sides, self.links, report, self.dictionary, few)

    def _hubs(self) -> list[dict[str, Any]]:
        ids = self.sides[1].ids(self.hubs.rows).to_pylist()
        return [{"id": one, "first_of": count} for one, count in zip(ids, self.hubs.counts.tolist(), strict=True)]

    def _warning(self, hub: dict[str, Any]) -> str:
        done = ", set aside" if self.aside else "; --set-aside-hubs leaves it out"
        return f"{hub['id']} is the best match of {hub['first_of']:,} documents: a hub{done}"


def _described(dictionary: Dictionary) -> dict[str, Any]:
    return {
        "source_words": len(dictionary.source),
        "target_words": len(dictionary.target),
        "segments": dictionary.segments,
        "digest": dictionary.digest,
    }
