"""The main job on a cluster: files are read by the executors, and the driver writes what one machine writes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sosie.documents.rejects import RejectSpill
from sosie.documents.source import Documents, Source
from sosie.errors import UsageError
from sosie.jobs import stages
from sosie.jobs.parameters import DedupParameters
from sosie.jobs.warm import prepare
from sosie.jobs.work import DedupInputs, as_output, open_inputs, working
from sosie.matches.candidates import Method
from sosie.report.deduplication import Deduplication, Outcome
from sosie.report.report import InputCount
from sosie.report.timing import Progress, Silent, Timing
from sosie.signatures.minhash import Minhash
from sosie.spark.attributes import attributes_of
from sosie.spark.blocks import WORDLESS, Blocks
from sosie.spark.copies import find_copies
from sosie.spark.files import read_files, repeated_ids
from sosie.spark.matching import check_job, choose_method, extraction_of
from sosie.spark.reporting import report_on
from sosie.spark.resolve import Resolved, bare_rows, resolve
from sosie.spark.session import Engine
from sosie.spark.work import Work
from sosie.storage.output import Output
from sosie.storage.room import Room
from sosie.types import Clusters


class Found(NamedTuple):
    """What becomes of every document, and what it was found from; `rejected` and `wordless` are how many there are."""

    outcome: Outcome
    blocks: Blocks
    resolved: Resolved
    method: Method
    rejected: int
    wordless: int


@dataclass(frozen=True, kw_only=True)
class SparkDeduplicator(DedupParameters):
    """The parameters of a de-duplication, as data; `run` does it on Spark."""

    def run(
        self,
        documents: Documents | Source,
        *,
        engine: Engine,
        output: str | os.PathLike[str] | Output | None = None,
        overwrite: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not.

        The executors read the documents. The driver writes, on so many `threads`; it has to reach them, too.
        """
        check_job(self)
        target = as_output(output, overwrite)
        if target is not None and target.resume:
            raise UsageError(
                "a run on Spark cannot be resumed: leave --resume out. Spark does failed tasks again itself."
            )
        timing, inputs = Timing(progress or Silent()), open_inputs(self, documents, None, threads)
        with working(self, inputs, target, None, threads) as jobs, engine.session() as session:
            place, reading = jobs.place, inputs.reading
            beside = os.fspath(place.scratch) if jobs.writes else None
            work = Work.of(session, engine.scratch or beside, engine.partitions)
            try:
                found = self.find(work, inputs, Room(place.scratch, threads=threads), timing)
            finally:
                work.remove()
            if jobs.writes:
                with timing.stage("write", total=reading.documents) as stage:
                    stages.write(found.outcome, place, place.checkpoints, threads, stage)
            annotate = place.annotate if jobs.writes else None
            parameters = self.described(found.method, reading.columns, annotate, inputs.source.described())
            report = report_on(
                found.blocks,
                found.resolved,
                parameters,
                map(InputCount, (each.title or str(each.path) for each in reading.inputs), reading.counts.tolist()),
                timing.finished,
                work,
                rejected=found.rejected,
                wordless=found.wordless,
                passed_over=len(reading.inputs.passed_over),
            )
            result = found.outcome.reported(report, None)
            if jobs.writes:
                stages.write_report(result, place, threads)
        return result

    def find(self, work: Work, inputs: DedupInputs, room: Room, timing: Timing) -> Found:
        """Read the documents on the executors, and find out what becomes of each."""
        reading, by = inputs.reading, choose_method(self)
        method = by.method
        if work.is_local:
            prepare(*self.needs, progress=timing.progress)
        with timing.stage("read") as stage:
            blocks, rejects, order = read_files(work, reading, extraction_of(self, method, empty=not reading.has_pages))
            stage.advance(reading.documents)
            repeated = repeated_ids(reading, rejects)
        without = np.array([each.row for each in repeated], np.int64)
        with timing.stage("collapse"):
            copies = find_copies(work, blocks, keyed=isinstance(method, Minhash), ids=False, without=without)
            left_out = attributes_of(work, blocks, without)
        worded = blocks.rows - bare_rows(self, blocks) - int((left_out["size"].to_numpy() > 0).sum())
        resolved = resolve(work, blocks, self, by, copies, without, worded, timing, order=order)
        rows, found = resolved.involved.rows, resolved.found
        every = Clusters(np.arange(reading.documents), np.ones(reading.documents))
        every.anchor[rows], every.similarity[rows] = rows[found.clusters.anchor], found.clusters.similarity
        if repeated:
            with RejectSpill(room) as spill:
                spill.append(sorted([*rejects, *repeated], key=lambda each: each.row))
                rejects = spill.rejects()
        outcome = Outcome(reading, replace(found.pairs, a=rows[found.pairs.a], b=rows[found.pairs.b]), every, rejects)
        wordless = blocks.counts["wordless"] - int((left_out["state"].to_numpy() == WORDLESS).sum())
        return Found(outcome, blocks, resolved, method, len(rejects), wordless)
