"""The main job: read, collapse, match, verify, cluster, check, write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from sosie.clusters.keep import Keep
from sosie.documents.reading import Reading
from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.features.collect import Collection
from sosie.features.shingles import Shingles
from sosie.features.weighting import Weighting
from sosie.jobs import stages
from sosie.jobs.auto import Chosen, check_limit, choose_method, chosen, list_bytes, wish_of
from sosie.jobs.parameters import Clustering, DedupParameters, MethodName, Wordless, shingles_of
from sosie.jobs.planning.of_documents import Asked, facts_of_features
from sosie.jobs.warm import prepare
from sosie.jobs.work import as_output, open_inputs, working
from sosie.matches.candidates import Method
from sosie.matches.reference import Reference, is_stored
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.matches.stored import load_pairs, save_pairs
from sosie.parallel import thread_count
from sosie.planner.facts import Facts
from sosie.report.assemble import assemble, report_on
from sosie.report.check import check
from sosie.report.deduplication import Deduplication
from sosie.report.report import describe
from sosie.report.timing import Progress, Silent, Timing
from sosie.storage.output import Output
from sosie.storage.resident import within_machine
from sosie.storage.size import as_size


def dedup(
    documents: Documents | Source,
    threshold: float | str | Fraction = 0.8,
    *,
    text_column: str | Sequence[str] | None = None,
    id_column: str | None = None,
    on_error: Literal["raise", "skip"] | None = None,
    similarity: Measure = "jaccard",
    weighting: Weighting = "binary",
    width: int | None = None,
    unit: str | None = None,
    shingles: Shingles | None = None,
    method: MethodName | Method = "auto",
    keep: Keep = "first",
    clusters: Clustering = "anchored",
    wordless: Wordless = "identical",
    recall: float = 1.0,
    against: Documents | Source | Reference | None = None,
    output: str | os.PathLike[str] | Output | None = None,
    overwrite: bool = False,
    annotate: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress | bool = False,
) -> Deduplication:
    """Find the near-duplicates of documents: texts, records, columns, a table, files; all that a `Source` is made of.

    Two documents are similar if the `similarity` of their shingles (runs of `width` words, 3 by default) reaches the
    threshold; of those, `keep` says which stays. `text_column`, `id_column` and `on_error` say how documents are read,
    those of `against` included, where they are no `Source`. With `output`, all is written to that directory. `memory`
    is how much the process may use, as in "4GB". With a `recall` below 1, a method may be taken that finds so many of
    the similar pairs, if that is faster. `progress=True` shows bars on standard error.

    >>> texts = ["the quick brown fox jumps over the lazy dog"] * 2 + ["something else entirely, not a fox"]
    >>> result = dedup(texts)
    >>> result.filter(texts)
    ['the quick brown fox jumps over the lazy dog', 'something else entirely, not a fox']
    >>> result = dedup({"id": ["a", "b", "c"], "text": texts}, 0.9, keep="longest", memory="4GB")
    >>> result.kept.to_pylist(), result.dropped.to_pylist()
    (['a', 'c'], [{'id': 'b', 'duplicate_of': 'a', 'similarity': 1.0}])
    """
    job = Deduplicator(
        threshold=as_fraction(threshold),
        method=method,
        shingles=shingles_of(shingles, method, width, unit),
        keep=keep,
        clusters=clusters,
        similarity=similarity,
        weighting=weighting,
        wordless=wordless,
        recall=recall,
    )
    read = {"text_column": text_column, "id_column": id_column, "on_error": on_error}
    source = as_source(documents, **read)
    with _shown(progress) as bars:
        return job.run(
            source,
            against=_reference(against, read),
            output=_output(output, annotate),
            overwrite=overwrite,
            memory=memory,
            threads=threads,
            progress=bars,
        )


@dataclass(frozen=True, kw_only=True)
class Deduplicator(DedupParameters):
    """The parameters of a de-duplication, as data; `run` does it.

    `shingles` are the evidence that a method given by name works with; a method given as a spec has its own.
    `weighting` says how features weigh for the cosine.
    """

    def run(
        self,
        documents: Documents | Source,
        *,
        against: Documents | Source | Reference | None = None,
        output: str | os.PathLike[str] | Output | None = None,
        overwrite: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not.

        What is similar to a document of `against`, a `Reference` or what one is made of, goes, too. `Output` says what
        else the output is to be: annotated, or that of a run that was killed and goes on. `memory` is how many bytes
        the process may use, also as in "4GB": what does not fit is kept on disk meanwhile.
        """
        memory = within_machine(as_size(memory))
        check_limit(memory)
        timing, inputs = Timing(progress or Silent()), open_inputs(self, documents, against, threads, memory)
        with working(self, inputs, as_output(output, overwrite), memory, threads) as work:
            pages = ["pages"] if inputs.reading.has_pages else []
            prepare(*self.needs, *pages, progress=timing.progress, threads=threads, memory=memory)
            held, measured, near = None, None, None
            if inputs.reference is not None:
                with timing.stage("reference") as stage:
                    held = stages.hold(inputs.reference, self, work, stage)
                work.watch(vars(held.features).values())
            with timing.stage("read") as stage:
                collection = stages.read(inputs.reading, self, held, work, stage)
            work.watch([*vars(collection.features).values(), *vars(collection.rejects).values()])
            with timing.stage("collapse"):
                planned = self.planned(collection, inputs.reading, memory, threads, written=work.writes)
                method = planned.method
                checkpoints = work.place.checkpoints.given([describe(method), planned.radius])
                similarity = stages.weigh(collection, self, work.room)
                work.watch([similarity.weights])
                collapsed = stages.collapse(collection, similarity, self.keep, held is not None and held.only)
            if (verified := load_pairs(checkpoints, len(collapsed.groups))) is None:
                with timing.stage("match"):
                    candidates = stages.match(collapsed, method, self.threshold, work.room, planned.radius)
                with timing.stage("verify"):
                    verified = stages.verify(collapsed, candidates, self.threshold, self.clusters, threads)
                    del candidates  # keys, which may be many
                    save_pairs(checkpoints, verified)
            with timing.stage("cluster"):
                clusters = stages.cluster(collapsed, verified, self.clusters, threads)
                found, groups = stages.list_pairs(collapsed, verified)
                outcome = assemble(collection, found, clusters, inputs.reading, held)
            if work.writes and not collapsed.sides.only:
                with timing.stage("check"):
                    measured, near = check(outcome, collection, groups, self.threshold, threads, similarity=similarity)
            if work.writes:
                with timing.stage("write", total=inputs.reading.documents) as stage:
                    stages.write(outcome, work.place, checkpoints, threads, stage)
            annotate = work.place.annotate if work.writes else None
            parameters = self.described(method, inputs.reading.columns, annotate, inputs.source.described())
            report = report_on(
                outcome,
                collection,
                parameters,
                measured,
                timing.finished,
                threads,
                planned=planned.candidate,
                plan=planned.plan,
            )
            result = outcome.reported(report, near, planned.plan)
            if work.writes:
                stages.write_report(result, work.place, threads)
        return result

    def planned(
        self, collection: Collection, reading: Reading, memory: int | None, threads: int | None, *, written: bool = True
    ) -> Chosen:
        """Return the method for a collection that was read, and what is expected of it."""
        count = len(collection)
        wish = wish_of(self, count, memory=memory, threads=thread_count(threads), written=written)
        if self.identical or not count:
            return chosen(self, wish, Facts(counted=True, features=len(collection.features.hashes) / max(count, 1)))
        asked = Asked(
            threshold=self.threshold, measure=self.similarity, weighting=self.weighting, evidence=self.evidence
        )
        text_bytes = float(collection.lengths.sum()) / max(len(collection.documents), 1)
        return chosen(self, wish, facts_of_features(collection.features, asked, reading, text_bytes, threads=threads))

    def choose(self, features: int, documents: int, memory: int | None = None) -> Method:
        """Return the method for so many features and documents: what `auto` does is said in `jobs/auto.py`."""
        return choose_method(self, features, documents, memory)

    def list_bytes(self, features: int, documents: int) -> int:
        """Return about how much memory the lists of the exact join take."""
        return list_bytes(self, features, documents)


def _reference(against: Any, read: dict[str, Any]) -> Any:
    """Return what documents are held against, read as they are; texts alone have no ids."""
    if against is None or isinstance(against, Reference | Source) or is_stored(against):
        return against
    source = as_source(against, **{**read, "id_column": None})
    return replace(source, id_column=read["id_column"]) if source.has_columns else source


def _shown(progress: Progress | bool) -> AbstractContextManager[Progress | None]:
    """Return the progress that is given, or bars; these are loaded only where they are wanted."""
    if progress is not True:
        return nullcontext(progress or None)
    from sosie.report.bars import shown

    return shown()


def _output(output: str | os.PathLike[str] | Output | None, annotate: bool) -> Output | None:
    if output is None:
        if annotate:
            raise UsageError("annotate says what is written: name an output directory with output=.")
        return None
    given = output if isinstance(output, Output) else Output(output)
    return replace(given, annotate=given.annotate or annotate)
