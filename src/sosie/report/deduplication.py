"""What a de-duplication found: who stays, who goes and because of whom, as tables, files and a report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sosie.documents.batch import Reject
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.write import DROPPED, KEPT, REJECTED, Decisions, write_documents
from sosie.storage.finished import FinishedFiles
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
        return Decisions(state, self.reasons)

    def reasons(self, rows: I64) -> Any:
        """Why these documents, which are dropped, go: duplicate_of, similarity."""
        anchors = self.reading.ids.take(self.grouped.anchor[rows])
        return pa.table({"duplicate_of": anchors, "similarity": pa.array(self.grouped.similarity[rows])})

    def columns(self, rows: I64) -> Any:
        """What was found about these documents: kept, cluster, duplicate_of, similarity.

        `cluster` is the number in `clusters`, null for a document without duplicates; the last two are null for one
        that is kept.
        """
        state, anchors = self.decisions.state[rows], self.grouped.anchor[rows]
        numbers = np.searchsorted(self._anchors, anchors)
        alone = np.append(self._anchors, -1)[numbers] != anchors
        stays = pa.array(state != DROPPED)
        twins, similarity = self.reasons(rows).columns
        return pa.table(
            {
                "kept": pa.array(state == KEPT),
                "cluster": pa.array(numbers, pa.int64(), mask=alone),
                "duplicate_of": pc.if_else(stays, None, twins),
                "similarity": pc.if_else(stays, None, similarity),
            }
        )

    @cached_property
    def _anchors(self) -> I64:
        """The kept documents of the clusters of two documents or more, in the order of the clusters' numbers."""
        return np.flatnonzero(np.bincount(self.grouped.anchor) > 1)

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
        return self.reasons(rows).add_column(0, "id", [self.reading.ids.take(rows)])

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
        return pa.table(
            {
                "id": self.reading.ids.take(rows),
                "cluster": pa.array(np.searchsorted(self._anchors, anchors)),
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
        self,
        directory: str | os.PathLike[str],
        threads: int | None = None,
        advance: Callable[[int], None] = lambda count: None,
        annotate: bool = False,
        finished: FinishedFiles | None = None,
    ) -> None:
        """Write the documents to kept/ and dropped/, or all of them to annotated/, in the format of their inputs.

        Files that are `finished` are left as they are.
        """
        decisions = replace(self.decisions, columns=self.columns) if annotate else self.decisions
        write_documents(self.reading, decisions, directory, threads, advance, annotate, finished)

    def write_report(self, directory: Path) -> None:
        """Write report.json."""
        (directory / "report.json").write_text(json.dumps(self.report, indent=2) + "\n", "utf-8")
