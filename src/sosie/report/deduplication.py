"""What a de-duplication found: who stays, who goes and because of whom, as tables and files."""

from __future__ import annotations

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

from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog, Rejects
from sosie.documents.write import DROPPED, KEPT, REJECTED, Decisions, write_documents
from sosie.matches.reference import HeldReference
from sosie.planner.plan import Plan
from sosie.report.frames import as_pandas, as_polars, filter_rows
from sosie.report.report import Report
from sosie.report.summary import report_lines
from sosie.shown import as_html, as_text
from sosie.storage.finished import FinishedFiles
from sosie.types import I64, Bools, Clusters, VerifiedPairs


@dataclass(frozen=True, eq=False)
class Outcome:
    """What becomes of every document; rows of `found` and `grouped` are document numbers over all inputs.

    With a reference (`held`), its documents have the numbers after those of this collection.
    """

    reading: Reading = field(repr=False)
    found: VerifiedPairs = field(repr=False)
    grouped: Clusters = field(repr=False)
    rejects: Rejects = field(repr=False)
    held: HeldReference | None = field(default=None, repr=False)

    def reported(self, report: Report, near: VerifiedPairs | None, plan: Plan | None = None) -> Deduplication:
        """Return the whole result: this outcome with its report, pairs just below the threshold, and the plan."""
        parts = (self.reading, self.found, self.grouped, self.rejects, self.held)
        return Deduplication(*parts, report=report, near=near, plan=plan)

    @cached_property
    def decisions(self) -> Decisions:
        """What becomes of every document."""
        state = np.where(self.grouped.kept, KEPT, DROPPED).astype(np.uint8)
        state[self.rejects.rows] = REJECTED
        return Decisions(state, self.reasons)

    def ids(self, rows: I64) -> Any:
        """Return the ids of documents, those of the reference included: as text where the two sides differ."""
        if self.held is None:
            return self.reading.ids.take(rows)
        foreign = self.is_foreign(rows)
        own = self.reading.ids.take(rows[~foreign])
        others = self.held.ids(rows[foreign] - self.reading.documents)
        if own.type != others.type:
            own, others = own.cast(pa.large_string()), others.cast(pa.large_string())
        place = np.empty(len(rows), np.int64)
        place[np.concatenate([np.flatnonzero(~foreign), np.flatnonzero(foreign)])] = np.arange(len(rows))
        return pa.concat_arrays([own, others]).take(pa.array(place))

    def is_foreign(self, rows: I64) -> Bools:
        """Whether documents are those of the reference."""
        return np.asarray(rows >= self.reading.documents)

    def reasons(self, rows: I64) -> Any:
        """Why these documents, which are dropped, go: duplicate_of, similarity; with a reference also duplicate_in."""
        anchors = self.grouped.anchor[rows]
        found = {"duplicate_of": self.ids(anchors), "similarity": pa.array(self.grouped.similarity[rows])}
        if self.held is not None:
            side = pa.array(["documents", "reference"], pa.string())
            found["duplicate_in"] = side.take(pa.array(self.is_foreign(anchors).astype(np.int8)))
        return pa.table(found)

    def columns(self, rows: I64) -> Any:
        """What was found about these documents: kept, cluster, and the `reasons`.

        `cluster` is the number in `clusters`, null for a document without duplicates; the reasons are null for one
        that is kept.
        """
        state, anchors = self.decisions.state[rows], self.grouped.anchor[rows]
        numbers = np.searchsorted(self._anchors, anchors)
        alone = self._anchors[numbers] != anchors
        stays = pa.array(state != DROPPED)
        reasons = self.reasons(rows)
        found = {"kept": pa.array(state == KEPT), "cluster": pa.array(numbers, pa.int64(), mask=alone)}
        return pa.table(found | {name: pc.if_else(stays, None, reasons[name]) for name in reasons.column_names})

    @cached_property
    def _anchors(self) -> I64:
        """The kept documents of the clusters of two or more, in the order of the clusters' numbers, and an end mark."""
        return np.append(np.flatnonzero(self.grouped.members > 1), np.iinfo(np.int64).max)

    @property
    def mask(self) -> Bools:
        """Whether each document is kept; `filter` applies it to a table."""
        return np.asarray(self.decisions.state == KEPT)

    @property
    def kept(self) -> Any:
        """The ids of the documents that stay."""
        return self.reading.ids.take(np.flatnonzero(self.mask))

    @property
    def dropped(self) -> Any:
        """The documents that go: id and the `reasons`."""
        rows = np.flatnonzero(self.decisions.state == DROPPED)
        return self.reasons(rows).add_column(0, "id", [self.reading.ids.take(rows)])

    @property
    def pairs(self) -> Any:
        """The verified pairs: a, b, similarity; with a reference also whether b is of it."""
        found = {"a": self.ids(self.found.a), "b": self.ids(self.found.b), "similarity": self.found.similarity}
        if self.held is not None:
            found["reference"] = pa.array(self.is_foreign(self.found.b))
        return pa.table(found)

    @property
    def clusters(self) -> Any:
        """The clusters of two documents or more, the kept one first: id, cluster, size, kept, similarity.

        With a reference also whether the document is of it.
        """
        grouped = self.grouped
        inside = np.flatnonzero(grouped.sizes > 1)
        rows = np.concatenate([inside, grouped.outside])
        anchors = np.concatenate([grouped.anchor[inside], grouped.outside])
        similarity = np.concatenate([grouped.similarity[inside], np.ones(len(grouped.outside))])
        order = np.lexsort((rows, rows != anchors, anchors))
        rows, anchors = rows[order], anchors[order]
        found = {
            "id": self.ids(rows),
            "cluster": pa.array(np.searchsorted(self._anchors, anchors)),
            "size": pa.array(grouped.members[anchors]),
            "kept": pa.array(rows == anchors),
            "similarity": pa.array(similarity[order]),
        }
        if self.held is not None:
            found["reference"] = pa.array(self.is_foreign(rows))
        return pa.table(found)

    def to_arrow(self) -> Any:
        """Return a table with a row for each document, in order: id, kept, cluster, duplicate_of, similarity.

        A document that was rejected is not kept, and has no reasons.
        """
        rows = np.arange(self.reading.documents)
        return self.columns(rows).add_column(0, "id", [self.reading.ids.take(rows)])

    def to_pandas(self) -> Any:
        """Return the table of `to_arrow` as a pandas DataFrame."""
        return as_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return the table of `to_arrow` as a Polars DataFrame."""
        return as_polars(self.to_arrow())

    def filter(self, table: Any) -> Any:
        """Return the rows that stay of a table, column or list of all documents, in its own type.

        PyArrow, pandas, Polars, NumPy, Hugging Face datasets, lists and dicts of columns.
        """
        return filter_rows(table, self.mask)

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
        only: range | None = None,
    ) -> None:
        """Write the documents to kept/ and dropped/, or all of them to annotated/, in the format of their inputs.

        Files that are `finished` are left as they are. With `only`, the others among the inputs are passed over.
        """
        decisions = replace(self.decisions, columns=self.columns) if annotate else self.decisions
        write_documents(self.reading, decisions, directory, threads, advance, annotate, finished, only)


@dataclass(frozen=True, eq=False)
class Deduplication(Outcome):
    """The result of `sosie.dedup`: the outcome, and a report of how it came about.

    `report` says what was done with which parameters, what was counted, and what each stage took. `near` are pairs
    just below the threshold, the nearest first, where a sample was checked. `plan` is what was planned before documents
    were compared, None where no method was chosen.
    """

    report: Report = field(kw_only=True)
    near: VerifiedPairs | None = field(default=None, repr=False, kw_only=True)
    plan: Plan | None = field(default=None, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return as_text("Deduplication", report_lines(self.report))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html("Deduplication", report_lines(self.report))
