"""What a de-duplication found: who stays, who goes and because of whom, as tables, files and a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.batch import Reject
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.write import DROPPED, KEPT, REJECTED, Decisions, write_documents
from sosie.types import I64, Bools, Clusters, VerifiedPairs


@dataclass(frozen=True, eq=False)
class Deduplication:
    """The result of `sosie.dedup`; rows of `found` and `grouped` are document numbers over all inputs.

    `report` says what was done with which parameters, what was counted, and what each stage took. `near` are pairs
    just below the threshold, the nearest first, where a sample was checked.
    """

    reading: Reading = field(repr=False)
    found: VerifiedPairs = field(repr=False)
    grouped: Clusters = field(repr=False)
    rejects: list[Reject] = field(repr=False)
    report: dict[str, Any]
    near: VerifiedPairs | None = field(default=None, repr=False)

    @cached_property
    def decisions(self) -> Decisions:
        """What becomes of every document."""
        state = np.where(self.grouped.kept, KEPT, DROPPED).astype(np.uint8)
        state[[reject.row for reject in self.rejects]] = REJECTED
        return Decisions(state, self.grouped.anchor, self.grouped.similarity)

    @property
    def mask(self) -> Bools:
        """Whether each document is kept: `table.filter(result.mask)`."""
        return np.asarray(self.decisions.state == KEPT)

    @property
    def kept(self) -> Any:
        """The ids of the documents that stay."""
        return self.reading.ids.take(np.flatnonzero(self.mask))

    @property
    def dropped(self) -> Any:
        """The documents that go: id, duplicate_of, similarity."""
        rows = np.flatnonzero(self.decisions.state == DROPPED)
        anchors = self.reading.ids.take(self.grouped.anchor[rows])
        similarity = pa.array(self.grouped.similarity[rows])
        return pa.table({"id": self.reading.ids.take(rows), "duplicate_of": anchors, "similarity": similarity})

    @property
    def pairs(self) -> Any:
        """The verified pairs: a, b, similarity."""
        take = self.reading.ids.take
        return pa.table({"a": take(self.found.a), "b": take(self.found.b), "similarity": self.found.similarity})

    @property
    def clusters(self) -> Any:
        """The clusters of two documents or more, the kept one first: id, cluster, size, kept, similarity."""
        rows = self._clustered()
        anchors = self.grouped.anchor[rows]
        numbers = np.unique(anchors, return_inverse=True)[1]
        return pa.table(
            {
                "id": self.reading.ids.take(rows),
                "cluster": pa.array(numbers.astype(np.int64)),
                "size": pa.array(self.grouped.sizes[rows]),
                "kept": pa.array(rows == anchors),
                "similarity": pa.array(self.grouped.similarity[rows]),
            }
        )

    def _clustered(self) -> I64:
        rows = np.flatnonzero(self.grouped.sizes > 1)
        anchors = self.grouped.anchor[rows]
        return rows[np.lexsort((rows, rows != anchors, anchors))]

    def write_tables(self, directory: Path) -> None:
        """Write pairs.parquet, clusters.parquet and, where there are any, rejected.jsonl."""
        pq.write_table(self.pairs, directory / "pairs.parquet", compression="zstd")
        pq.write_table(self.clusters, directory / "clusters.parquet", compression="zstd")
        with RejectLog(directory) as log:
            log.add(self.rejects)

    def write_documents(
        self, directory: Path, threads: int | None = None, advance: Callable[[int], None] = lambda count: None
    ) -> None:
        """Write the documents to kept/ and dropped/, in the format of their inputs."""
        write_documents(self.reading, self.decisions, directory, threads, advance)

    def write_report(self, directory: Path) -> None:
        """Write report.json."""
        (directory / "report.json").write_text(json.dumps(self.report, indent=2) + "\n", "utf-8")
