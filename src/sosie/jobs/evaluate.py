"""Measure how good a result, an index or signatures are: against known pairs, exact search, or true cosines."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.source import Documents, Source, as_source
from sosie.errors import MismatchError, UsageError
from sosie.evaluation.index_quality import IndexQuality, evaluate_index
from sosie.evaluation.result import Result, numbered_documents
from sosie.evaluation.sampling.recall import SampledRecall
from sosie.evaluation.sampling.sample import sampled_recall
from sosie.evaluation.signatures.quality import SignatureQuality, Truth, default_specs, evaluate_signatures
from sosie.evaluation.truth import TruthAgreement, compare_with_truth
from sosie.evaluation.truth_file import read_truth
from sosie.features.phrases import Phrases
from sosie.features.shingles import Shingles
from sosie.index.hamming import HammingIndex
from sosie.index.registry import KINDS, effort_of, kind_of
from sosie.jobs.index import naming_index
from sosie.jobs.inputs import StrPath
from sosie.jobs.search import signed_queries
from sosie.jobs.sign import signing
from sosie.jobs.warm import prepare
from sosie.matches.sets.threshold import as_fraction
from sosie.report.signature_page import quality_rows, signature_page
from sosie.report.timing import Progress, Silent, StageCost, Timing
from sosie.search.files import load_text_index
from sosie.search.text_index import TextIndex
from sosie.signatures.named import SHINGLES, default_shingles, parse_spec
from sosie.signatures.spec import Spec
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.types import Signatures

SAMPLE = 1000


@dataclass(frozen=True)
class Evaluated:
    """How a result agrees with a truth, and what exact search on a sample says; None for what was not asked."""

    result: Result
    truth: TruthAgreement | None
    sample: SampledRecall | None
    seed: int
    stages: tuple[StageCost, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {
            **({} if self.truth is None else {"truth": _agreed(self.truth)}),
            **({} if self.sample is None else {"sample": {"seed": self.seed, **self.sample.described()}}),
            "stages": [dict(vars(stage)) for stage in self.stages],
        }


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What to hold a result against: a file of true pairs, a sample of so many documents, or both; `run` does it.

    Without either, the sample is of SAMPLE documents. Threshold and shingles are those of the result's report.
    """

    truth: StrPath | None = None
    sample: int | None = None
    seed: int = 0
    threshold: float | str | Fraction | None = None
    shingles: Shingles | None = None

    @property
    def size(self) -> int | None:
        """How many documents are drawn."""
        return self.sample or (SAMPLE if self.truth is None else None)

    def run(
        self,
        result: Result,
        documents: Documents | Source | None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluated:
        """Evaluate a result; the documents are those that the run read, needed for a sample."""
        source = None if documents is None else as_source(documents)
        timing, agreed, measured = Timing(progress or Silent()), None, None
        if result.across and (source is not None or self.size):
            raise UsageError(
                f"{result.path}: holds pairs of two collections. Compare them with a --truth alone, without INPUT."
            )
        if self.size and source is None:
            raise UsageError(
                f"name the documents that were read: sosie evaluate {result.path} --sample {self.size} INPUT..."
            )
        if self.truth is not None:
            with timing.stage("truth") as stage:
                agreed = _against_truth(result, self.truth, source, threads, stage.advance)
        if self.size and source is not None:
            prepare("evaluate result", progress=timing.progress, threads=threads)
            with timing.stage("sample") as stage:
                measured = sampled_recall(
                    result,
                    source,
                    size=self.size,
                    seed=self.seed,
                    threshold=None if self.threshold is None else as_fraction(self.threshold),
                    shingles=self.shingles,
                    threads=threads,
                    advance=stage.advance,
                )
        return Evaluated(result, agreed, measured, self.seed, tuple(timing.finished))


def _against_truth(
    result: Result, path: StrPath, source: Source | None, threads: int | None, advance: Callable[[int], None]
) -> TruthAgreement:
    truth = read_truth(path, result.id_type)
    if source is None:
        return compare_with_truth(result, truth)
    reading = source.batches(threads)
    for batch in reading:
        advance(len(batch) + len(batch.rejects))
    result.check_documents(reading)
    return compare_with_truth(result, truth, numbered_documents(reading), reading.documents - reading.rejected)


def _agreed(agreed: TruthAgreement) -> dict[str, Any]:
    pairs, clusters = agreed.pairs, agreed.clusters
    said: dict[str, Any] = {
        "true_pairs": pairs.true,
        "found_pairs": pairs.found,
        "right_pairs": pairs.right,
        "recall": pairs.recall,
        "precision": pairs.precision,
        "repeated_pairs": agreed.repeated,
        "self_pairs": agreed.selves,
        "ids_checked": agreed.checked,
    }
    if clusters is not None:
        names = ("f1", "recall", "precision", "adjusted_rand")
        said["clusters"] = {name: getattr(clusters, name) for name in names}
    return said


@dataclass(frozen=True, eq=False)
class MeasuredSignatures:
    """What was measured of each spec, on how many documents, against which truth."""

    documents: int
    truth: Truth
    measured: list[SignatureQuality]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        truth = {**vars(self.truth), "shingles": self.truth.shingles.to_dict()}
        return {"documents": self.documents, "truth": truth, "specs": [quality_rows(each) for each in self.measured]}


def measure_signatures(
    documents: Documents | Source,
    specs: Sequence[str],
    truth: Truth,
    *,
    output: Output | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MeasuredSignatures:
    """Measure specs, given as text, on documents; without any, one of each family.

    With `output`, signatures.json and signatures.html are written there.
    """
    timing, made = Timing(progress or Silent()), [spec_like(text, truth) for text in specs or default_specs(truth)]
    prepare(*(signing(spec) for spec in made), "evaluate signatures", progress=timing.progress, threads=threads)
    with timing.stage("read") as stage:
        texts = _texts(as_source(documents), threads, stage.advance)
    with timing.stage("measure", total=len(made)) as stage:
        measured = []
        for spec in made:
            measured += evaluate_signatures([spec], texts, truth, threads)
            stage.advance(1)
    found = MeasuredSignatures(len(texts), truth, measured)
    if output is not None:
        with OutputDirectory(output.path, output.overwrite) as directory:
            written = Path(directory.path)
            (written / "signatures.json").write_text(json.dumps(found.to_dict(), indent=1) + "\n", "utf-8")
            (written / "signatures.html").write_text(signature_page(measured, truth, len(texts)), "utf-8")
    return found


def spec_like(text: str, truth: Truth) -> Spec:
    """Return the spec of a line; where it names no shingles and its method takes words, those of the cosine."""
    spec = parse_spec(text)
    named = any(f"{name}=" in text.replace("-", "_") for name in SHINGLES)
    return spec if named or default_shingles(type(spec)).unit != "word" else replace(spec, shingles=truth.shingles)


def _texts(source: Source, threads: int | None, advance: Callable[[int], None]) -> Any:
    parts = []
    for batch in source.batches(threads):
        parts.append(batch.texts)
        advance(len(batch) + len(batch.rejects))
    return pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())


@dataclass(frozen=True, kw_only=True)
class IndexEvaluation:
    """How an index is put to the test: by searches for the `k` nearest, that go as far as `effort` says; `run` does it.

    Without queries, `sample` of its own rows are looked up, another sample for each seed; none is its own answer.
    """

    k: int = 10
    effort: Mapping[str, Any] = field(default_factory=dict)
    sample: int = SAMPLE
    seed: int = 0
    exclude_self: bool = False

    def run(
        self,
        directory: StrPath,
        queries: Documents | Source | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> IndexQuality:
        """Search the index in a directory and, exhaustively, its rows. Queries are as in `IndexSearch.run`."""
        timing = Timing(progress or Silent())
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch, naming_index(directory):
            with timing.stage("open"):
                opened = load_text_index(directory, texts=False)
                index = opened.index
                if not isinstance(index, HammingIndex):
                    kinds = [name for name, kind in KINDS.items() if kind.holds == "signatures"]
                    raise UsageError(
                        f"an index of the kind {kind_of(index)} has no distances in bits: those of the kinds "
                        f"{', '.join(kinds)} are evaluated"
                    )
                effort = effort_of(index, self.effort)
            needed = [f"search {kind_of(index)}", "search flat"]
            if queries is not None and opened.has_signer and not isinstance(opened.signer, Phrases):
                needed.append(signing(opened.signer))
            prepare(*needed, progress=timing.progress, threads=threads)
            with timing.stage("sign"):
                room = Room(scratch, threads=threads)
                asked = self._drawn(index) if queries is None else _asked(opened, queries, room)
            with timing.stage("search"):
                alone = queries is None or self.exclude_self
                return evaluate_index(index, asked, self.k, effort=effort, exclude_self=alone, threads=threads)

    def _drawn(self, index: HammingIndex) -> Signatures:
        """Draw rows of the index; its own rows have no sums behind their bits."""
        rows = index.signatures
        if self.sample < 1:
            raise UsageError(f"a sample has at least 1 row, got {self.sample}")
        chosen = np.random.default_rng(self.seed).choice(len(rows), min(self.sample, len(rows)), replace=False)
        return rows.take(np.sort(chosen))


def _asked(index: TextIndex, queries: Documents | Source, room: Room) -> Signatures:
    signed = signed_queries(index, queries, room).signed
    if not isinstance(signed, Signatures):
        raise MismatchError("the index holds signatures, and these are keys: sign both the same way")
    return signed
