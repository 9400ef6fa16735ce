"""The main job: read, collapse, match, verify, cluster, check, write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sosie.clusters.keep import Keep
from sosie.jobs import stages
from sosie.jobs.auto import check_limit, choose_method, list_bytes
from sosie.jobs.parameters import DedupParameters, MethodName
from sosie.jobs.work import as_output, open_inputs, working
from sosie.matches.candidates import Method
from sosie.matches.sets.threshold import as_fraction
from sosie.matches.stored import load_pairs, save_pairs
from sosie.report.assemble import assemble, report_on
from sosie.report.check import check
from sosie.report.deduplication import Deduplication
from sosie.report.report import describe
from sosie.report.timing import Progress, Silent, Timing
from sosie.storage.output import Output


def dedup(
    documents: Any,
    threshold: float | str | Fraction = 0.8,
    *,
    method: MethodName | Method = "auto",
    keep: Keep = "first",
    clusters: Literal["anchored", "transitive"] = "anchored",
    output: str | os.PathLike[str] | Output | None = None,
    threads: int | None = None,
) -> Deduplication:
    """Find the near-duplicates of a collection: a `Source`, paths, globs, or anything with the Arrow C stream.

    >>> import pyarrow as pa
    >>> texts = ["the quick brown fox jumps over the lazy dog"] * 2 + ["something else entirely, not a fox"]
    >>> result = dedup(pa.table({"id": ["a", "b", "c"], "text": texts}))
    >>> result.kept.to_pylist(), result.dropped.to_pylist()
    (['a', 'c'], [{'id': 'b', 'duplicate_of': 'a', 'similarity': 1.0}])
    """
    job = Deduplicator(threshold=as_fraction(threshold), method=method, keep=keep, clusters=clusters)
    return job.run(documents, output=output, threads=threads)


@dataclass(frozen=True, kw_only=True)
class Deduplicator(DedupParameters):
    """The parameters of a de-duplication, as data; `run` does it.

    `shingles` are the evidence that a method given by name works with; a method given as a spec has its own.
    `weighting` says how features weigh for the cosine.
    """

    def run(
        self,
        documents: Any,
        *,
        against: Any = None,
        output: str | os.PathLike[str] | Output | None = None,
        overwrite: bool = False,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not.

        What is similar to a document of `against`, a `Reference` or what one is made of, goes, too. `Output` says what
        else the output is to be: annotated, or that of a run that was killed and goes on. `memory` is how many bytes
        the process may use: what does not fit is kept on disk meanwhile.
        """
        check_limit(memory)
        timing, inputs = Timing(progress or Silent()), open_inputs(self, documents, against, threads)
        with working(self, inputs, as_output(output, overwrite), memory, threads) as work:
            held, measured, near = None, None, None
            if inputs.reference is not None:
                with timing.stage("reference") as stage:
                    held = stages.hold(inputs.reference, self, work.room, stage)
                work.watch(vars(held.features).values())
            with timing.stage("read") as stage:
                collection = stages.read(inputs.reading, self, held, work, stage)
            method = self.choose(len(collection.features.hashes), len(collection), memory)
            checkpoints = work.place.checkpoints.given(describe(method))
            work.watch(vars(collection.features).values())
            with timing.stage("collapse"):
                similarity = stages.weigh(collection, self, work.room)
                work.watch([similarity.weights])
                collapsed = stages.collapse(collection, similarity, self.keep, held is not None and held.only)
            if (verified := load_pairs(checkpoints)) is None:
                with timing.stage("match"):
                    pairs = stages.match(collapsed, method, self.threshold, work.room)
                with timing.stage("verify"):
                    verified = stages.verify(collapsed, pairs, self.threshold, threads)
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
            parameters = self.described(method, inputs.reading.columns, work.place.annotate if work.writes else None)
            report = report_on(outcome, collection, parameters, measured, timing.finished, threads)
            result = outcome.reported(report, near)
            if work.writes:
                stages.write_report(result, work.place, threads)
        return result

    def choose(self, features: int, documents: int, memory: int | None = None) -> Method:
        """Return the method for so many features and documents: what `auto` does is said in `jobs/auto.py`."""
        return choose_method(self, features, documents, memory)

    def list_bytes(self, features: int, documents: int) -> int:
        """Return about how much memory the lists of the exact join take."""
        return list_bytes(self, features, documents)
