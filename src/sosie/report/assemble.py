"""Rows become documents again: the outcome of a de-duplication, and its report with all that was counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sosie.documents.reading import Reading
from sosie.evaluation.sampling.recall import SampledRecall
from sosie.features.collect import Collection
from sosie.matches.order import renumbered
from sosie.matches.reference import HeldReference
from sosie.matches.share import Share
from sosie.parallel import thread_count
from sosie.planner.estimate import Candidate
from sosie.planner.machine import PROGRAM
from sosie.planner.outcome import Outcome as PlanOutcome
from sosie.planner.plan import Plan
from sosie.report.check import SEED
from sosie.report.deduplication import Outcome
from sosie.report.report import Against, Counts, InputCount, Parameters, Report
from sosie.report.summary import warnings
from sosie.report.timing import StageCost
from sosie.types import Clusters, VerifiedPairs


def assemble(
    collection: Collection,
    found: VerifiedPairs,
    clusters: Clusters,
    reading: Reading,
    held: HeldReference | None,
) -> Outcome:
    """Return pairs and clusters of rows as those of documents."""
    numbers, rows = collection.numbers(reading.documents), slice(len(collection.before), None)
    grouped = Clusters(np.arange(reading.documents), np.ones(reading.documents))
    grouped.anchor[collection.documents] = numbers[clusters.anchor[rows]]
    grouped.similarity[collection.documents] = clusters.similarity[rows]
    return Outcome(reading, renumbered(found, numbers), grouped, collection.rejects, held)


def report_on(
    outcome: Outcome,
    collection: Collection,
    parameters: Parameters,
    measured: SampledRecall | None,
    stages: Iterable[StageCost],
    threads: int | None,
    planned: Candidate | None = None,
    plan: Plan | None = None,
) -> Report:
    """Return what there is to say: how it was done, what was counted, what was measured, and what the stages took.

    Where comparisons were left out, no recall is predicted. What was `planned` is held against what happened; the
    `plan` says what else was considered.
    """
    stages = tuple(stages)
    reading, held, pairs = outcome.reading, outcome.held, outcome.found
    without = collection.documents[collection.wordless[len(collection.before) :]]
    counts = Counts.of(
        reading.documents, len(outcome.rejects), len(without), outcome.grouped, pairs, against=held is not None
    )
    counts = replace(
        counts,
        dropped_without_features=int((~outcome.grouped.kept[without]).sum()),
        folders_passed_over=len(reading.inputs.passed_over) or None,
    )
    whole = not pairs.counters.get("bounded_lists")
    recall = (pairs.recall if pairs.at_threshold is None else pairs.at_threshold) if whole else None
    return Report(
        parameters=parameters,
        inputs=tuple(
            InputCount(place.title or str(place.path), int(count))
            for place, count in zip(reading.inputs, reading.counts, strict=True)
        ),
        against=None if held is None else Against(tuple(held.inputs), held.total, held.rejected, held.only),
        counts=counts,
        text_bytes=int(collection.lengths.sum()),
        features=len(collection.features.hashes) - collection.stand_ins,
        predicted_recall=None if recall is None else round(recall, 6),
        estimated=Share(pairs.recall, pairs.interval) if whole and pairs.recall and pairs.interval else None,
        counters=dict(pairs.counters),
        warnings=tuple(warnings(counts, pairs.counters, by_hashes=held is not None and held.reading is None)),
        measured=measured,
        seed=SEED,
        stages=stages,
        threads=thread_count(threads),
        planned=None if planned is None else _came_of(planned, parameters, measured, stages),
        considered=() if plan is None else tuple(plan.best),
    )


def _came_of(
    planned: Candidate, parameters: Parameters, measured: SampledRecall | None, stages: tuple[StageCost, ...]
) -> PlanOutcome:
    """Hold what was expected of a method against what happened; of a run that went on from checkpoints, only recall.

    The peak is that of the whole process, with the pages of mapped files.
    """
    whole = {"read", "match"} <= {stage.stage for stage in stages}
    outcome = PlanOutcome.of(
        planned,
        parameters.recall or 1.0,
        measured=None if measured is None else measured.recall,
        seconds=round(sum(stage.seconds for stage in stages), 3) if whole else None,
        bytes=max(stage.peak_memory_bytes for stage in stages) if whole else None,
    )
    held = planned.estimate.bytes
    return replace(outcome, predicted_bytes=PROGRAM + held.heap + held.mapped)
