"""Look at a collection before anything is done with it, and say what a de-duplication would do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.evaluation.inspection import Inspection, inspect
from sosie.jobs.auto import choose_method, in_memory, list_bytes
from sosie.jobs.parameters import DedupParameters
from sosie.jobs.warm import prepare
from sosie.planner.constants.documents import FEATURE_BYTES
from sosie.report.report import describe
from sosie.report.timing import Progress, Silent, StageCost, Timing
from sosie.shown import as_html, as_text
from sosie.storage.size import show_size


@dataclass(frozen=True)
class Inspected:
    """A collection in numbers, and the plan for it."""

    found: Inspection
    plan: dict[str, Any]
    stages: tuple[StageCost, ...]

    def __repr__(self) -> str:
        return as_text("Inspected", self._lines())

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html("Inspected", self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        plan = self.plan
        method = plan["method"] or f"none: {plan['problem']}"
        return [
            ("documents", f"{self.found.documents:,}, {self.found.usable:,} of them usable"),
            ("features", f"{plan['features']:,}, {show_size(plan['feature_bytes'])}"),
            ("dedup", f"{method}, {plan['similarity'].capitalize()} >= {plan['threshold']:g}"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        stages = [dict(vars(stage)) for stage in self.stages]
        return {**asdict(self.found), "usable": self.found.usable, "dedup": self.plan, "stages": stages}


def inspect_documents(
    documents: Documents | Source,
    job: DedupParameters,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Inspected:
    """Read the documents once and count; `job` is the de-duplication that is planned, within so much memory."""
    timing = Timing(progress or Silent())
    prepare("inspect", progress=timing.progress, threads=threads)
    with timing.stage("inspect") as stage:
        reading = as_source(documents).batches(threads)

        def advance(count: int) -> None:
            stage.expect(reading.expected)
            stage.advance(count)

        found = inspect(reading, job.shingles, threads=threads, advance=advance)
    return Inspected(found, plan_of(found, job, memory), tuple(timing.finished))


def plan_of(found: Inspection, job: DedupParameters, memory: int | None = None) -> dict[str, Any]:
    """Return what `sosie dedup` would do: the method by its own rule, and the bytes that features and lists take.

    The method is None where the memory is too little for any; then `problem` says what is needed.
    """
    method, problem = None, None
    try:
        method = describe(choose_method(job, found.features, found.usable, memory))["method"]
    except UsageError as error:
        problem = str(error)
    return {
        "method": method,
        "problem": problem,
        "threshold": float(job.threshold),
        "similarity": job.similarity,
        "weighting": job.weighting,
        "memory": memory,
        "features": found.features,
        "feature_bytes": FEATURE_BYTES * found.features,
        "features_on_disk": 8 * found.features > in_memory(memory),
        "list_bytes": list_bytes(job, found.features, found.usable) if method == "exact" else None,
    }
