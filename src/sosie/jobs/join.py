"""The verb `join`: all similar pairs of one collection, or of two, in memory or as files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, overload

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.batch import Reject
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.jobs.auto import check_limit
from sosie.jobs.inputs import StrPath
from sosie.jobs.join_documents import JoinedDocuments, join_documents
from sosie.jobs.join_rows import PAIRS, JoinMethod, check_kinds, held_bytes, join_rows, joining_room, write_pairs
from sosie.jobs.planning.joins import described
from sosie.jobs.warm import prepare
from sosie.matches.check import MAX_PAIRS
from sosie.matches.chunks import Window
from sosie.matches.sets.join import join_features
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.report.report import JobReport
from sosie.report.summary import bounded
from sosie.report.timing import Progress, Silent, Timing
from sosie.signatures.files import load_mapped
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.resident import within
from sosie.storage.size import as_size
from sosie.types import Features, Keys, Pairs, Signatures, VerifiedPairs

THRESHOLD = "0.8"  # of documents, where none is given
_NO_LIMIT = (
    "--memory (in Python memory=) is for signatures and keys; the exact join of documents and features holds its lists"
    " in memory: leave it out, or use dedup, which takes a limit"
)


@overload
def join(
    a: Signatures | Keys | Features,
    b: Signatures | Keys | Features | None = None,
    *,
    radius: int | None = None,
    threshold: float | str | Fraction | None = None,
    method: JoinMethod = "auto",
    recall: float | None = None,
    measure: Measure = "jaccard",
    max_pairs: int = MAX_PAIRS,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Pairs: ...


@overload
def join(
    a: Documents | Source,
    b: Documents | Source | None = None,
    *,
    threshold: float | str | Fraction | None = None,
    measure: Measure = "jaccard",
    max_pairs: int = MAX_PAIRS,
    threads: int | None = None,
) -> JoinedDocuments: ...


def join(
    a: Any,
    b: Any = None,
    *,
    radius: int | None = None,
    threshold: float | str | Fraction | None = None,
    method: JoinMethod = "auto",
    recall: float | None = None,
    measure: Measure = "jaccard",
    max_pairs: int = MAX_PAIRS,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Pairs | JoinedDocuments:
    """Return all pairs of a collection, or of two: signatures within a radius, features above a threshold, equal keys.

    Documents, a `Source` or whatever one is made of, are compared by their shingles of three words, above a threshold
    (0.8 if none is given), and their pairs are verified. `method` is how signatures are joined: by block tables or by
    comparing all with all, whichever costs less, or by a sliding window (`sosie.Window`), which does not find all and
    says what share it found. With a `recall` below 1, as 0.95, a window may be taken, with tables and a width that find
    so many of the pairs, where that is quicker; `.planned` says what was expected, and what came of it.
    `measure` says what the threshold of features is: Jaccard, cosine (of term counts, where there are any) or
    containment. All pairs are found; more than `max_pairs` are refused, as early as their number is known.
    With `memory`, as in "4GB", the join of signatures or keys keeps the process to that, rows that are not mapped from
    files included: tables are built in pieces, and pairs that do not fit are sorted in temporary files and mapped from
    there. The pairs are the same.

    >>> import numpy as np
    >>> pairs = join(Signatures(np.array([0b0000, 0b0111, 0b1111], np.uint64)), radius=1)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([1], [2])
    >>> join(["a b c d e f g h", "a b c d e f g h i"]).table.to_pylist()
    [{'a': 0, 'b': 1, 'similarity': 0.8571428571428571}]
    """
    made = [isinstance(each, Signatures | Keys | Features) for each in (a, b) if each is not None]
    if any(made):
        check_kinds(a, b)
    if memory is not None and not isinstance(a, Signatures | Keys):
        raise UsageError(_NO_LIMIT)
    if not any(made):
        if radius is not None:
            raise UsageError("radius is for signatures; documents are joined above a threshold: pass threshold=")
        if method != "auto":
            raise UsageError(f"method={method!r} is for signatures; the join of documents is exact: leave it out")
        if recall is not None:
            raise UsageError(f"recall={recall!r} is for signatures; the join of documents finds all: leave it out")
        least = THRESHOLD if threshold is None else threshold
        return join_documents(
            a, b, threshold=least, shingles=Shingles(), measure=measure, max_pairs=max_pairs, threads=threads
        )
    if measure != "jaccard" and not isinstance(a, Features):
        raise UsageError(f"measure={measure!r} is for features; {type(a).__name__} are compared as they are")
    if isinstance(a, Features):
        if recall is not None:
            raise UsageError(f"recall={recall!r} is for signatures; the join of features finds all: leave it out")
        if threshold is None or radius is not None:
            raise UsageError("features are joined above a threshold: pass threshold=, and no radius")
        return join_features(a, b, threshold=threshold, measure=measure, max_pairs=max_pairs, threads=threads)
    asked: dict[str, Any] = {"radius": radius, "threshold": threshold, "method": method}
    asked |= {"recall": recall, "max_pairs": max_pairs}
    if memory is None:
        return join_rows(a, b, **asked, threads=threads)
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        room = joining_room(scratch, as_size(memory), threads, held=held_bytes(a, b))
        return join_rows(a, b, **asked, threads=threads, room=room)


@dataclass(frozen=True, kw_only=True)
class JoinReport(JobReport):
    """What was joined by which parameters, and how many pairs there are; `across` two collections or inside one.

    `plan` has what was expected of the method, where it was chosen, beside what happened.
    """

    format: str = "sosie-join"
    version: int = 1
    parameters: dict[str, Any]
    across: bool
    pairs: int
    rejected: int
    counters: dict[str, int]
    warnings: list[str]
    recall: float | None = None
    interval: tuple[float, float] | None = None
    plan: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Joiner:
    """What a join finds: documents above a threshold, saved signatures within a radius, or equal saved keys.

    `run` writes it. Of documents, the threshold is 0.8 and the similarity Jaccard if nothing else is said. Signatures
    are joined by a `method`, or so that the share `recall` of all pairs is found, in the quickest way. More than
    `max_pairs` are refused.
    """

    threshold: float | str | Fraction | None = None
    radius: int | None = None
    method: JoinMethod = "auto"
    recall: float | None = None
    similarity: Measure | None = None
    shingles: Shingles = Shingles()
    max_pairs: int = MAX_PAIRS

    def run(
        self,
        first: Documents | Source,
        other: Documents | Source | None,
        output: Output,
        *,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> JoinReport:
        """Join a collection with itself or with another, and write pairs.parquet and report.json.

        Both are documents, or both paths of saved signatures; pairs of signatures are candidates. `memory` is a limit
        for the whole process, which the join of saved signatures and keys keeps to.
        """
        timing = Timing(progress or Silent())
        sides = [side for side in (first, other) if side is not None]
        saved = [side for side in sides if isinstance(side, str | os.PathLike)]
        sources = [as_source(side) for side in sides if not isinstance(side, str | os.PathLike)]
        if sources and saved:
            raise UsageError(f"{saved[0]}: holds signatures: join documents with documents, or sign both sides.")
        if memory is not None and sources:
            raise UsageError(_NO_LIMIT)
        check_limit(memory)
        read = [*saved, *(file for source in sources for file in _files(source))]
        with OutputDirectory(output.path, output.overwrite, read) as directory:
            by: str = self.similarity or "jaccard"
            if saved:
                by = "window" if isinstance(self.method, Window) else "saved"
            named = [f"join {by}", *(["join window"] if saved and self.recall is not None else [])]
            prepare(*named, progress=timing.progress, threads=threads)
            rejects: list[Reject] = []
            if saved:
                found: Pairs | VerifiedPairs = self._saved(saved, directory, memory, threads, timing)
            else:
                with timing.stage("join") as stage:
                    joined = self._documents(sources, threads, stage.advance)
                pq.write_table(joined.table, directory.path / PAIRS, compression="zstd")
                found, rejects = joined.pairs, joined.rejects
            with RejectLog(directory.path) as log:
                log.add(rejects)
            report = JoinReport(
                parameters=self._saved_by() if saved else self._described(),
                across=other is not None,
                pairs=len(found),
                rejected=len(rejects),
                counters=dict(found.counters),
                warnings=bounded(found.counters),
                recall=found.recall,
                interval=found.interval if isinstance(found, Pairs) else None,
                plan=_came_of(found, timing),
                stages=tuple(timing.finished),
            )
            (directory.path / "report.json").write_text(json.dumps(report.to_dict(), indent=2) + "\n", "utf-8")
        return report

    def _documents(self, sources: list[Source], threads: int | None, advance: Callable[[int], None]) -> JoinedDocuments:
        if self.method != "auto":
            raise UsageError("--method is for saved signatures; the join of documents is exact: leave it out")
        if self.recall is not None:
            raise UsageError("--recall is for saved signatures; the join of documents finds all: leave it out")
        if self.radius is not None:
            raise UsageError("--radius is for saved signatures; documents are joined above a --threshold")
        return join_documents(
            sources[0],
            *sources[1:],
            threshold=self.threshold or THRESHOLD,
            shingles=self.shingles,
            measure=self.similarity or "jaccard",
            max_pairs=self.max_pairs,
            threads=threads,
            advance=advance,
        )

    def _saved(
        self, paths: list[StrPath], directory: OutputDirectory, memory: int | None, threads: int | None, timing: Timing
    ) -> Pairs:
        """Join saved signatures or keys and write their pairs, in bounded memory; return them."""
        if self.similarity is not None:
            raise UsageError("--similarity is for documents; saved signatures and keys are compared as they are")
        loaded = [load_mapped(path) for path in paths]
        sides = [signed for signed, _ in loaded]
        with within(memory, [array for _, arrays in loaded for array in arrays]):
            with timing.stage("join") as stage:
                room = joining_room(directory.scratch, memory, threads, _telling(stage))
                pairs = join_rows(
                    *sides,
                    radius=self.radius,
                    threshold=self.threshold,
                    method=self.method,
                    recall=self.recall,
                    max_pairs=self.max_pairs,
                    threads=threads,
                    room=room,
                )
            with timing.stage("write", len(pairs)) as stage:
                write_pairs(directory.path / PAIRS, pairs, sides[0], sides[-1], stage.advance)
        return pairs

    def _saved_by(self) -> dict[str, Any]:
        """Return what saved signatures are joined by."""
        method = asdict(self.method) if isinstance(self.method, Window) else {}
        name = "window" if method else self.method
        asked = {} if self.recall is None else {"recall": self.recall}
        return {"radius": self.radius, **asked, "method": {"method": name, **method}}

    def _described(self) -> dict[str, Any]:
        """Return what documents are joined by, as the report of a de-duplication has it."""
        threshold, similarity = float(as_fraction(self.threshold or THRESHOLD)), self.similarity or "jaccard"
        method = {"method": "exact", "shingles": self.shingles.to_dict()}
        return {"threshold": threshold, "similarity": similarity, "method": method}


def _files(source: Source) -> list[str]:
    return [] if isinstance(source.paths, pa.Table) else [place.path for place in source.inputs()]


def _came_of(found: Pairs | VerifiedPairs, timing: Timing) -> Mapping[str, Any] | None:
    """Return what was expected of a join that was planned, beside what happened and the most memory that it took."""
    if not isinstance(found, Pairs) or found.planned is None:
        return None
    peak = max(stage.peak_memory_bytes for stage in timing.finished if stage.stage == "join")
    return described(replace(found.planned, bytes=peak))


def _telling(stage: Progress) -> Callable[[int, int], None]:
    """Return what shows how far a join is."""

    def tell(done: int, total: int) -> None:
        stage.expect(total)
        stage.advance(done)

    return tell
