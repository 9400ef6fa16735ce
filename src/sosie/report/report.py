"""The report of a de-duplication: frozen data, read like a mapping, and the one place where it becomes JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sosie.evaluation.sampling.recall import SampledRecall
from sosie.matches.candidates import Identical
from sosie.matches.share import Share
from sosie.planner.estimate import Candidate
from sosie.planner.outcome import Outcome
from sosie.report.timing import StageCost
from sosie.types import Clusters, Counters, VerifiedPairs

FORMAT, VERSION = "sosie-report", 1


@dataclass(frozen=True)
class Parameters:
    """How it was done, and what was read of each document: all that it takes to do the same again.

    `weighting` is None where features do not weigh, `html` where texts are not HTML, `annotate` where nothing was
    written, `wordless` where texts were compared byte for byte. `files` has the options by which files were found and
    read, None where there were none. `recall` is what was asked, None where that was all.
    """

    threshold: float
    similarity: str
    weighting: str | None
    method: Mapping[str, Any]
    keep: str
    clusters: str
    text_column: str | list[str]
    id_column: str | None
    html: str | None = None
    annotate: bool | None = None
    wordless: str | None = None
    files: Mapping[str, Any] | None = None
    recall: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all that is there; an id column that there is not is said, too."""
        return {name: value for name, value in vars(self).items() if value is not None or name == "id_column"}


@dataclass(frozen=True)
class InputCount:
    """An input, and how many documents it has."""

    path: str
    documents: int


@dataclass(frozen=True)
class Against:
    """The reference that documents were held against; with `only`, against nothing else."""

    inputs: tuple[str, ...]
    documents: int
    rejected: int
    only: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**vars(self), "inputs": list(self.inputs)}


@dataclass(frozen=True)
class Counts:
    """What came in and what became of it: documents = kept + dropped + rejected, or it raises.

    `dropped_against` went because of a reference, None where there was none. Of the documents `without_features`,
    `dropped_without_features` went, because they are identical to another. `folders_passed_over` were not read, because
    Sosie wrote them, None where there were none.
    """

    documents: int
    kept: int
    dropped: int
    rejected: int
    without_features: int
    pairs: int
    clusters: int
    largest_cluster: int
    dropped_against: int | None = None
    dropped_without_features: int = 0
    folders_passed_over: int | None = None

    def __post_init__(self) -> None:
        if self.documents != self.kept + self.dropped + self.rejected:
            raise AssertionError(f"documents were lost: {self}")
        if not 0 <= self.dropped_without_features <= min(self.without_features, self.dropped):
            raise AssertionError(f"documents without features were lost: {self}")

    @classmethod
    def of(
        cls,
        documents: int,
        rejected: int,
        featureless: int,
        clusters: Clusters,
        pairs: VerifiedPairs,
        *,
        against: bool = False,
    ) -> Counts:
        """Count clusters and pairs of documents; with a reference (`against`), its rows are beyond the clusters'."""
        kept = int(clusters.kept.sum()) - rejected
        sizes = clusters.members
        return cls(
            documents=documents,
            kept=kept,
            dropped=len(clusters) - kept - rejected,
            rejected=rejected,
            without_features=featureless,
            pairs=len(pairs),
            clusters=int((sizes > 1).sum()),
            largest_cluster=int(sizes.max()) if documents else 0,
            dropped_against=int((clusters.anchor >= len(clusters)).sum()) if against else None,
        )

    def to_dict(self) -> dict[str, int]:
        """Return the numbers that there are."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, eq=False)
class Report(Mapping[str, Any]):
    """What was done with which parameters, what was counted, and what each stage took.

    Read by attribute (`report.counts.kept`) or as the data that report.json holds (`report["counts"]["kept"]`).
    `predicted_recall` is for a pair at the threshold, None where comparisons were left out. `estimated` is the share of
    all pairs, told by those that were found, where the method does not find all. `measured` is what exact search on a
    sample says, drawn with `seed`; None where none was drawn. `planned` is what was expected beside what happened, and
    `considered` the methods that were compared for it, each with its best setting. `engine` is what ran it, where it
    was not this process.
    """

    parameters: Parameters
    inputs: tuple[InputCount, ...]
    against: Against | None
    counts: Counts
    text_bytes: int
    features: int
    predicted_recall: float | None
    counters: Counters
    warnings: tuple[str, ...]
    measured: SampledRecall | None
    seed: int
    stages: tuple[StageCost, ...]
    threads: int
    estimated: Share | None = None
    planned: Outcome | None = None
    considered: tuple[Candidate, ...] = ()
    engine: Mapping[str, Any] | None = None

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return float(round(sum(stage.seconds for stage in self.stages), 3))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, as report.json has it: what there is not, it does not name."""
        measured = None if self.measured is None else {"seed": self.seed, **self.measured.described()}
        return {
            "format": FORMAT,
            "version": VERSION,
            "parameters": self.parameters.to_dict(),
            "inputs": [dict(vars(each)) for each in self.inputs],
            **({} if self.against is None else {"against": self.against.to_dict()}),
            "counts": self.counts.to_dict(),
            "text_bytes": self.text_bytes,
            "features": self.features,
            "predicted_recall": self.predicted_recall,
            **({} if self.estimated is None else {"estimated_recall": _described(self.estimated)}),
            **({} if self.planned is None else {"plan": self._plan(self.planned)}),
            "counters": dict(self.counters),
            "warnings": list(self.warnings),
            **({} if measured is None else {"measured": measured}),
            "stages": [dict(vars(stage)) for stage in self.stages],
            "seconds": self.seconds,
            "threads": self.threads,
            **({} if self.engine is None else {"engine": dict(self.engine)}),
        }

    def _plan(self, planned: Outcome) -> dict[str, Any]:
        considered = [each.to_dict() for each in self.considered]
        return {**planned.to_dict(), "said": planned.sentence(), "considered": considered}

    def write_json(self, directory: Path) -> None:
        """Write report.json."""
        (directory / "report.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", "utf-8")

    def __repr__(self) -> str:
        counts = self.counts
        rejected = f", {counts.rejected:,} rejected" if counts.rejected else ""
        return (
            f"Report({counts.documents:,} documents: {counts.kept:,} kept, {counts.dropped:,} dropped{rejected};"
            f" {self.seconds:g} s; .to_dict() has all of it)"
        )

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """What any other job says when it is done: its fields, in their order, and last what its stages took."""

    stages: tuple[StageCost, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        said = {name: value for name, value in vars(self).items() if name != "stages"}
        return {**said, "stages": [dict(vars(stage)) for stage in self.stages]}


def _described(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"recall": round(share.recall, 6), "interval": [round(low, 6), round(high, 6)]}


def describe(method: Any) -> dict[str, Any]:
    """Return a method's parameters as data."""
    if hasattr(method, "to_dict"):
        return {**method.to_dict(), "digest": method.digest}
    if isinstance(method, Identical):
        return {"method": "identical"}
    return {"method": type(method).__name__.lower(), "shingles": method.shingles.to_dict()}
