"""The main job on a generated corpus whose true pairs are known."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.truth import Agreement, agreement
from sosie.jobs.dedup import Deduplicator
from sosie.matches.sets.threshold import as_fraction
from sosie.report.deduplication import Deduplication
from sosie.report.timing import Progress
from sosie.storage.output import Output, OutputDirectory
from sosie.types import Pairs

THRESHOLD = "0.8"
CORPUS, RESULT = "corpus", "deduplicated"  # folders of the output


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """What was found in the corpus, and how it agrees with the truth."""

    result: Deduplication
    score: Agreement

    def to_dict(self) -> dict[str, Any]:
        """Return the report with recall and precision, as plain data."""
        return {**self.result.report.to_dict(), "recall": self.score.recall, "precision": self.score.precision}


def demonstrate(
    corpus: PlantedCorpus, output: Output, *, threads: int | None = None, progress: Progress | None = None
) -> Demonstrated:
    """Write a corpus and its truth, de-duplicate it, and compare."""
    files, truth = Path(output.path) / CORPUS, corpus.pairs(THRESHOLD)
    with OutputDirectory(files, output.overwrite) as directory:
        write_corpus(corpus, truth, directory.path)
    result = Deduplicator(threshold=as_fraction(THRESHOLD)).run(
        os.fspath(files / "documents.jsonl"),
        output=Output(Path(output.path) / RESULT, output.overwrite),
        threads=threads,
        progress=progress,
    )
    return Demonstrated(result, agreement(result.found, truth))


def write_corpus(corpus: PlantedCorpus, truth: Pairs, directory: Path) -> None:
    """Write documents.jsonl, truth.parquet (the pairs at the threshold) and a manifest."""
    with open(directory / "documents.jsonl", "w", encoding="utf-8") as file:
        for table in corpus.tables():
            for document in table.to_pylist():
                file.write(json.dumps(document) + "\n")
    names = {side: pa.array([f"d{row}" for row in rows.tolist()]) for side, rows in (("a", truth.a), ("b", truth.b))}
    pq.write_table(pa.table(names), directory / "truth.parquet")
    manifest = {"format": "sosie-corpus", "documents": corpus.documents, "copies": corpus.copies, "seed": corpus.seed}
    (directory / "manifest.json").write_text(json.dumps({**manifest, "threshold": float(THRESHOLD)}) + "\n", "utf-8")
