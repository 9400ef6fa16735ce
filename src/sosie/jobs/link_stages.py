"""The steps of a linking: read, count words, find a dictionary, project, compare, rank, and see how sure it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sosie.crosslingual.alarms import Hubs, hubs
from sosie.crosslingual.bootstrap import Learnt, Round, bootstrap
from sosie.crosslingual.compared import Compared, above, nearest
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.ranking import Ranked, ranked, selected, without
from sosie.crosslingual.sides import Read, Translate, read_side
from sosie.crosslingual.views import USUAL, Languages, Views, Weights, translated_views, word_views
from sosie.documents.reading import Reading
from sosie.jobs.dictionary import trained
from sosie.jobs.link_alarms import language_alarms, measured_recall, oriented
from sosie.jobs.link_plan import LinkPlan, plan_linking
from sosie.jobs.link_report import Linked
from sosie.jobs.link_spec import LinkSpec
from sosie.report.links import Links
from sosie.report.timing import Progress, Timing
from sosie.storage.resident import within
from sosie.storage.room import Room
from sosie.types import I64


@dataclass(frozen=True, eq=False)
class Linking:
    """One run: what is asked for, the time that stages take, and what it may use."""

    job: LinkSpec
    timing: Timing
    room: Room

    def link(self, readings: tuple[Reading, Reading], given: Dictionary | None) -> Links:
        """Link the documents of two readings, by the dictionary that is given, if any."""
        job, room = self.job, self.room
        sides = self._read(readings[0], "read a", job.translate), self._read(readings[1], "read b")
        with self.timing.stage("letters"):
            both = Languages.of(sides[0].terms, sides[1].terms, room.threads)
        dictionary, learnt, notes = self._dictionary(both, sides, given)
        weights = self._weights(dictionary)
        with self.timing.stage("project"):
            views = self._views(both, sides[0], dictionary, weights)
        mapped = [array for rows in (views.source, views.target) for array in (rows.columns, rows.weights)]
        with self.timing.stage("plan"):
            plan = plan_linking(job, views, room)
        began = time.perf_counter()
        with self.timing.stage("compare") as stage, within(room.limit, mapped):
            compared = self._compare(views, plan, replace(room, tell=_telling(stage)))
        taken = time.perf_counter() - began
        with self.timing.stage("rank"):
            links, found, aside = self._rank(compared)
        recall, interval = compared.recall, compared.interval
        if recall is None and job.wanted is not None:
            with self.timing.stage("check"):
                recall, interval = measured_recall(views, compared, job.wanted, room)
        return Linked(
            sides=sides,
            dictionary=dictionary,
            learnt=learnt,
            weights=weights,
            views=views,
            compared=compared,
            plan=plan,
            taken=taken,
            links=links,
            hubs=found,
            aside=aside,
            recall=recall,
            interval=interval,
            notes=[*notes, *language_alarms(*sides)],
        ).told(job, self.timing.finished)

    def _read(self, reading: Reading, name: str, translate: Translate | None = None) -> Read:
        with self.timing.stage(name) as stage:

            def advance(count: int) -> None:
                stage.expect(reading.expected)
                stage.advance(count)

            return read_side(reading, self.room, translate, advance)

    def _dictionary(
        self, both: Languages, sides: tuple[Read, Read], given: Dictionary | None
    ) -> tuple[Dictionary | None, Learnt | None, list[str]]:
        """Return the dictionary that is given, trained or learnt; how it was learnt; and what is to be said of it."""
        job = self.job
        if job.translate is not None:
            return None, None, []
        if given is not None:
            made, notes = oriented(given, both.source, both.target)
            return made, None, notes
        if job.parallel is not None:
            learnt_from, notes = trained(job.parallel, job.columns, job.training, self.room, self.timing)
            made, said = oriented(learnt_from, both.source, both.target)
            return made, None, [*notes, *said]
        with self.timing.stage("bootstrap", job.rounds) as stage:

            def texts(side: int, rows: I64) -> dict[int, str]:
                return sides[side].texts(rows, self.room.threads)

            def told(number: int, done: Round) -> None:
                stage.advance(1)

            learnt = bootstrap(
                both,
                texts,
                self.room,
                by=job.by,
                spec=job.training,
                weights=self._weights(None),
                rounds=job.rounds,
                told=told,
            )
        return learnt.dictionary.with_weights(self._weights(None)), learnt, []

    def _weights(self, dictionary: Dictionary | None) -> Weights:
        if self.job.weights is not None:
            return Weights.checked(self.job.weights)
        if dictionary is not None and dictionary.weights is not None:
            return Weights.checked(dictionary.weights)
        return USUAL

    def _views(self, both: Languages, source: Read, dictionary: Dictionary | None, weights: Weights) -> Views:
        if dictionary is not None:
            return word_views(both, dictionary, self.room, weights, self.job.formula)
        assert source.translated is not None
        return translated_views(both, source.translated, self.room, weights)

    def _compare(self, views: Views, plan: LinkPlan, room: Room) -> Compared:
        job = self.job
        if job.wanted is None:
            assert job.threshold is not None
            return above(views, job.threshold, room, plan.by)
        return nearest(views, plan.compared, room, plan.by)

    def _rank(self, compared: Compared) -> tuple[Ranked, Hubs, bool]:
        """Return the links that are wanted, the hubs among all, and whether these were set aside."""
        job, all_links = self.job, ranked(compared)
        found = hubs(all_links)
        aside = job.set_aside_hubs and len(found.rows) > 0
        if aside:
            all_links = ranked(without(compared, found.rows))
        chosen = selected(
            all_links, k=job.wanted, threshold=job.threshold, one_to_one=job.one_to_one, mutual=job.mutual
        )
        return chosen, found, aside


def _telling(stage: Progress) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        stage.expect(total)
        stage.advance(done)

    return tell
