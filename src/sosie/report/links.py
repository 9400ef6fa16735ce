"""What a linking found: links by id, what was done for them, and what a person should look at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.ranking import Ranked
from sosie.crosslingual.sides import Read
from sosie.report.frames import as_pandas, as_polars
from sosie.report.report import JobReport
from sosie.shown import counted
from sosie.types import I64

LINKS, LEFT_OUT, REPORT, PAGE = "links.parquet", "left_out.jsonl", "report.json", "report.html"


@dataclass(frozen=True, kw_only=True)
class LinkReport(JobReport):
    """How documents of two languages were linked: parameters, counts, alarms, and the recall as far as it is known.

    `recall` is the share of the links wanted that was found: of all pairs above the threshold, or of the most similar
    targets of each source; None where nothing is known. `left_out` counts documents of both sides by reason. `plan` has
    how documents were compared, and what was expected of it beside what happened.
    """

    format: str = "sosie-link"
    version: int = 1
    parameters: dict[str, Any]
    documents: dict[str, int]
    left_out: dict[str, dict[str, int]]
    linked: int
    links: int
    rejected: int
    dictionary: dict[str, Any] | None
    known_words: dict[str, float]
    rounds: list[dict[str, Any]]
    hubs: list[dict[str, Any]]
    warnings: list[str]
    counters: dict[str, int]
    recall: float | None = None
    interval: tuple[float, float] | None = None
    plan: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Links:
    """Links of two collections: of a document `a` of the first with documents `b` of the second, by rank.

    `dictionary` is the one that was used or made, None where documents were translated. `left_out` has for each side
    the rows of documents that had too few words to be compared.
    """

    source: Read
    target: Read
    links: Ranked
    report: LinkReport
    dictionary: Dictionary | None
    left_out: tuple[I64, I64]

    def __len__(self) -> int:
        return len(self.links)

    def __repr__(self) -> str:
        return f"Links({counted(len(self), 'link')} of {counted(self.report.linked, 'document')})"

    @property
    def table(self) -> Any:
        """The links as ids: a, b, rank, similarity."""
        return pa.table(
            {
                "a": self.source.ids(self.links.a),
                "b": self.target.ids(self.links.b),
                "rank": pa.array(self.links.rank, pa.int32()),
                "similarity": pa.array(self.links.similarity),
            }
        )

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return as_pandas(self.table)

    def to_polars(self) -> Any:
        """Return the table as a Polars DataFrame."""
        return as_polars(self.table)

    def write(self, directory: Path) -> None:
        """Write links.parquet, left_out.jsonl and report.json."""
        pq.write_table(self.table, directory / LINKS, compression="zstd")
        with open(directory / LEFT_OUT, "w", encoding="utf-8") as file:
            for side, read, rows in zip("ab", (self.source, self.target), self.left_out, strict=True):
                for document in read.ids(rows).to_pylist():
                    file.write(json.dumps({"side": side, "id": document, "reason": FEW}, ensure_ascii=False) + "\n")
        (directory / REPORT).write_text(json.dumps(self.report.to_dict(), indent=2) + "\n", "utf-8")

    def first(self) -> Ranked:
        """Return the first link of each document."""
        return self.links.take(np.asarray(self.links.rank == 1))


FEW = "fewer than five words that can be compared"
