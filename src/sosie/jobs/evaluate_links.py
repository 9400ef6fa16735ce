"""Measure how good links between two collections are: against known pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sosie.documents.source import Documents, Source, as_source
from sosie.evaluation.links import THRESHOLD, LinkAgreement, LinkResult, measure_links
from sosie.evaluation.result import Numbering, numbered_documents
from sosie.evaluation.truth_file import read_truth
from sosie.jobs.inputs import StrPath
from sosie.report.timing import Progress, Silent, StageCost, Timing


@dataclass(frozen=True)
class EvaluatedLinks:
    """How links agree with a truth."""

    result: LinkResult
    truth: LinkAgreement
    stages: tuple[StageCost, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {"truth": self.truth.to_dict(), "stages": [dict(vars(stage)) for stage in self.stages]}


@dataclass(frozen=True, kw_only=True)
class LinkEvaluation:
    """What to hold links against: a file of true pairs; `run` does it.

    Without a threshold, that of the report counts or, if it names none, a cosine of 0.3.
    """

    truth: StrPath
    threshold: float | None = None

    def run(
        self,
        result: LinkResult,
        documents: tuple[Documents | Source, Documents | Source] | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> EvaluatedLinks:
        """Evaluate links; with the documents of both sides, ids of the truth that none of them has are an error."""
        timing = Timing(progress or Silent())
        table = result.links
        said = THRESHOLD if result.threshold is None else result.threshold
        threshold = said if self.threshold is None else self.threshold
        with timing.stage("truth") as stage:
            truth = read_truth(self.truth, table["a"].type, table["b"].type)
            known = None
            if documents is not None:
                sides = [_numbered(as_source(side), threads, stage.advance) for side in documents]
                known = (sides[0], sides[1])
            measured = measure_links(table, truth, threshold, known, str(result.path / "links.parquet"))
        return EvaluatedLinks(result, measured, tuple(timing.finished))


def _numbered(source: Source, threads: int | None, advance: Any) -> Numbering:
    """Read documents for their ids."""
    reading = source.batches(threads)
    for batch in reading:
        advance(len(batch) + len(batch.rejects))
    return numbered_documents(reading)
