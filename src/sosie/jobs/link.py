"""The verb `link`: which documents of two languages are about the same thing?

read -> count words -> dictionary (given, trained, or learnt from the texts) -> views -> compare -> rank -> write
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sosie.crosslingual.alarms import Hubs, hubs
from sosie.crosslingual.aligner import load_thot
from sosie.crosslingual.bootstrap import ROUNDS, Learnt, Round, bootstrap
from sosie.crosslingual.compared import Compared, above, nearest
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.ranking import Ranked, ranked, selected, without
from sosie.crosslingual.sides import Read, Translate, read_side
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import USUAL, Formula, Languages, Views, Weights, translated_views, word_views
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.jobs.auto import check_limit, in_memory
from sosie.jobs.dictionary import Columns, trained
from sosie.jobs.inputs import StrPath
from sosie.jobs.link_alarms import language_alarms, measured_recall, oriented
from sosie.jobs.warm import prepare
from sosie.report.link_examples import write_link_page
from sosie.report.links import LinkReport, Links
from sosie.report.timing import Progress, Silent, Timing
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.storage.size import as_size
from sosie.types import I64

BEST = 10  # links of each document, where neither a number nor a threshold is given
DICTIONARY = "dictionary"  # below the output, where it was trained or learnt
COMPARED = 100  # of the most similar targets of each source, that are ranked


@dataclass(frozen=True, kw_only=True, eq=False)
class Linker:
    """How documents of two languages are linked; `run` does it.

    Words are translated by a `dictionary` (or the path of a saved one), by one that is trained on `parallel` text, or
    by one that is learnt from the collections themselves; `translate` is a function that translates texts instead. All
    pairs of a similarity of at least `threshold` are links, or the best `k` of each source; `one_to_one` links each
    document once at most, `mutual` only those that are each other's best. Candidates are found by signatures (`signed`)
    and compared truly; with `exact` all pairs are compared. `set_aside_hubs` leaves out targets that are the best of
    very many. `weights` are those of the three parts of a similarity, where not those of the dictionary are wanted.
    """

    dictionary: Dictionary | StrPath | None = None
    parallel: StrPath | Sequence[StrPath] | None = None
    columns: Columns = field(default_factory=Columns)
    training: TrainingSpec = TrainingSpec()
    translate: Translate | None = None
    k: int | None = None
    threshold: float | None = None
    one_to_one: bool = False
    mutual: bool = False
    exact: bool = False
    signed: Signed = field(default_factory=Signed)
    compared: int = COMPARED
    formula: Formula = "later"
    weights: Sequence[float] | None = None
    set_aside_hubs: bool = False
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        ways = [name for name in ("dictionary", "parallel", "translate") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise UsageError(f"{ways[0]} and {ways[1]}: words are translated in one way; give one of them")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError(f"a threshold is above 0 and at most 1, got {self.threshold}")
        for name in ("k", "compared", "rounds"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"{name} is a whole number from 1 on, got {value!r}")
        if self.weights is not None:
            Weights.checked(self.weights)

    @property
    def wanted(self) -> int | None:
        """How many links of each document are wanted; None for all above the threshold."""
        return BEST if self.k is None and self.threshold is None else self.k

    def run(
        self,
        source: Documents | Source,
        target: Documents | Source,
        output: Output | None = None,
        *,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Links:
        """Link the documents of two collections, and write the links, a report and a page, if there is an output."""
        timing = Timing(progress or Silent())
        check_limit(memory)
        given = self.dictionary
        if given is not None and not isinstance(given, Dictionary):
            given = load_dictionary(given)
        if given is None and self.translate is None:
            load_thot()  # what is not installed is said before anything is read
        sides = [as_source(side).batches(threads, None, memory) for side in (source, target)]
        files = [place.path for side in sides for place in side.inputs if place.path is not None]
        with _working(output, files) as (directory, scratch):
            prepare("link", progress=timing.progress, threads=threads)
            room = Room(scratch, in_memory(memory), threads, limit=memory)
            work = _Linking(self, timing, room)
            links = work.link(sides, given)
            if directory is not None:
                with timing.stage("write"):
                    links.write(directory.path)
                    if links.dictionary is not None and given is None:
                        folder = directory.path / DICTIONARY
                        folder.mkdir()
                        links.dictionary.write(folder)
                    with RejectLog(directory.path) as log:
                        log.add([*links.source.rejects, *links.target.rejects])
                    write_link_page(links, directory.path, self.threshold, threads)
        return links


def link(
    source: Documents | Source,
    target: Documents | Source,
    *,
    threshold: float | None = None,
    k: int | None = None,
    dictionary: Dictionary | StrPath | None = None,
    parallel: StrPath | Sequence[StrPath] | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Links:
    """Return links of the documents of one language with those of another that are about the same thing.

    Words are translated by a `dictionary`, one that is trained on `parallel` text, or one that is learnt from the two
    collections. All pairs with a similarity of at least `threshold` are links, or the best `k` of each document: ten,
    if nothing is said. Further `options` are the fields of `Linker`, as `one_to_one` or `exact`.

    >>> import sosie
    >>> german = "rote katze schläft im haus brief an mit gruss".split()
    >>> words = sosie.Dictionary.from_pairs(german, "red cat sleeps in house letter to with regards".split(), [1.0] * 9)
    >>> documents = ["die rote katze schläft im haus", "ein brief an b2 und c3 mit gruss"]
    >>> others = ["a letter to b2 and c3 with regards", "the red cat sleeps in house a1"]
    >>> found = link(documents, others, dictionary=words, k=1)
    >>> found.table.select(["a", "b"]).to_pylist()
    [{'a': 0, 'b': 1}, {'a': 1, 'b': 0}]
    """
    linker = Linker(threshold=threshold, k=k, dictionary=dictionary, parallel=parallel, **options)
    return linker.run(source, target, memory=None if memory is None else as_size(memory), threads=threads)


@contextmanager
def _working(output: Output | None, files: list[Any]) -> Iterator[tuple[OutputDirectory | None, Any]]:
    """Yield the output, if there is one, and a folder for temporary files."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
            yield None, scratch
        return
    with OutputDirectory(output.path, output.overwrite, files) as directory:
        yield directory, directory.scratch


@dataclass(frozen=True, eq=False)
class _Linking:
    """One run: what is asked for, the time that stages take, and what it may use."""

    job: Linker
    timing: Timing
    room: Room

    def link(self, readings: Sequence[Any], given: Dictionary | None) -> Links:
        job, room = self.job, self.room
        source, target = (
            self._read(reading, name, job.translate if name == "read a" else None)
            for reading, name in zip(readings, ("read a", "read b"), strict=True)
        )
        with self.timing.stage("letters"):
            both = Languages.of(source.terms, target.terms, room.threads)
        dictionary, learnt, notes = self._dictionary(both, (source, target), given)
        weights = self._weights(dictionary)
        with self.timing.stage("project"):
            views = self._views(both, source, dictionary, weights)
        with self.timing.stage("compare") as stage:
            compared = self._compare(views, replace(room, tell=_telling(stage)))
        with self.timing.stage("rank"):
            links, found, aside = self._rank(compared)
        recall, interval = compared.recall, compared.interval
        if recall is None and job.wanted is not None and not job.exact:
            with self.timing.stage("check"):
                recall, interval = measured_recall(views, compared, job.wanted, room)
        notes += language_alarms(source, target)
        few = tuple(np.flatnonzero(side) for side in views.few)
        report = self._report(source, target, links, dictionary, learnt, found, aside, few, views, weights)
        report = replace(
            report,
            warnings=[*notes, *report.warnings],
            recall=recall,
            interval=interval,
            counters=dict(compared.counters),
            stages=tuple(self.timing.finished),
        )
        return Links(source, target, links, report, dictionary, few)  # type: ignore[arg-type]

    def _read(self, reading: Any, name: str, translate: Translate | None) -> Read:
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
                by=None if job.exact else job.signed,
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

    def _compare(self, views: Views, room: Room) -> Compared:
        job, by = self.job, None if self.job.exact else self.job.signed
        if job.wanted is None:
            assert job.threshold is not None
            return above(views, job.threshold, room, by)
        return nearest(views, max(job.compared, job.wanted), room, by)

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

    def _report(
        self,
        source: Read,
        target: Read,
        links: Ranked,
        dictionary: Dictionary | None,
        learnt: Learnt | None,
        found: Hubs,
        aside: bool,
        few: Any,
        views: Views,
        weights: Weights,
    ) -> LinkReport:
        job, sides = self.job, {"a": source, "b": target}
        named = target.ids(found.rows).to_pylist()
        warnings = [
            f"{document} is the best match of {count:,} documents: a hub"
            + (", set aside" if aside else "; --set-aside-hubs leaves it out")
            for document, count in list(zip(named, found.counts.tolist(), strict=True))[:5]
        ]
        return LinkReport(
            parameters={
                "threshold": job.threshold,
                "k": job.wanted,
                "one_to_one": job.one_to_one,
                "mutual": job.mutual,
                "exact": job.exact,
                "bits": None if job.exact else job.signed.bits,
                "seed": None if job.exact else job.signed.seed,
                "window": None if job.exact or job.signed.window is None else asdict(job.signed.window),
                "compared": job.compared,
                "formula": job.formula,
                "weights": dict(weights._asdict()),
                "set_aside_hubs": job.set_aside_hubs,
                "words_by": _way(job, learnt),
            },
            documents={name: len(side.terms) for name, side in sides.items()},
            left_out={name: {"few words": len(rows)} for name, rows in zip(sides, few, strict=True)},
            linked=int(np.count_nonzero(links.rank == 1)),
            links=len(links),
            rejected=len(source.rejects) + len(target.rejects),
            dictionary=None if dictionary is None else _described(dictionary),
            known_words={name: float(known.mean()) for name, known in zip(sides, views.known, strict=True)},
            rounds=[] if learnt is None else [asdict(each) for each in learnt.rounds],
            hubs=[{"id": one, "first_of": count} for one, count in zip(named, found.counts.tolist(), strict=True)],
            warnings=warnings,
            counters={},
            stages=(),
        )


def _way(job: Linker, learnt: Learnt | None) -> str:
    if learnt is not None:
        return "bootstrap"
    return "translate" if job.translate is not None else "parallel" if job.parallel is not None else "dictionary"


def _described(dictionary: Dictionary) -> dict[str, Any]:
    return {
        "source_words": len(dictionary.source),
        "target_words": len(dictionary.target),
        "segments": dictionary.segments,
        "digest": dictionary.digest,
    }


def _telling(stage: Progress) -> Any:
    def tell(done: int, total: int) -> None:
        stage.expect(total)
        stage.advance(done)

    return tell
