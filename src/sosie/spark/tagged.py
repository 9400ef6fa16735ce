"""The verb `dedup` on Spark: the same documents, tagged, with their pairs and clusters."""

from __future__ import annotations

import functools
import operator
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from sosie.clusters.keep import Keep
from sosie.documents.columns import Columns
from sosie.documents.share import free_names
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.jobs.parameters import Clustering, DedupParameters, MethodName, Wordless, shingles_of
from sosie.jobs.warm import prepare
from sosie.matches.candidates import Method
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.report.report import InputCount, Report
from sosie.report.summary import report_lines
from sosie.report.timing import Progress, Silent, Timing
from sosie.shown import as_html, as_text
from sosie.signatures.minhash import Minhash
from sosie.spark.blocks import Blocks
from sosie.spark.copies import find_copies
from sosie.spark.documents import ID, Chosen, check_ids, check_read, choose, read_documents
from sosie.spark.engine import check_frame
from sosie.spark.matching import check_job, choose_method, extraction_of
from sosie.spark.reporting import report_on
from sosie.spark.resolve import NONE, Resolved, bare_rows, resolve
from sosie.spark.tables import clusters_table, pairs_table, tags_table
from sosie.spark.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ADDED = ("kept", "cluster", "duplicate_of", "similarity")
BROADCAST = 2_000_000  # tags that go to all executors


@dataclass(frozen=True, eq=False)
class Tagged:
    """What a de-duplication on Spark found, as DataFrames, and its report.

    `documents` are the same rows with `kept`, `cluster`, `duplicate_of` and `similarity`; `pairs` are verified, and
    `clusters` are those of two documents or more. All are read from the scratch folder, which `close` removes, or the
    end of a `with` block; else it goes with this process.
    """

    documents: DataFrame
    pairs: DataFrame
    clusters: DataFrame
    report: Report
    _work: Work = field(repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self._work.session, self._work.remove)

    @property
    def kept(self) -> DataFrame:
        """The documents that stay, as they were."""
        return self.documents.where(self.documents.columns[-len(ADDED)]).drop(*self.documents.columns[-len(ADDED) :])

    def close(self) -> None:
        """Remove the temporary files; the DataFrames cannot be used any more."""
        self._work.remove()

    def __enter__(self) -> Tagged:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return as_text("Tagged", report_lines(self.report))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html("Tagged", report_lines(self.report))


def dedup(
    documents: DataFrame,
    threshold: float | str | Fraction = 0.8,
    *,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    order_column: str | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    similarity: Measure = "jaccard",
    width: int | None = None,
    unit: str | None = None,
    shingles: Shingles | None = None,
    method: MethodName | Method = "auto",
    keep: Keep = "first",
    clusters: Clustering = "anchored",
    wordless: Wordless = "identical",
    recall: float = 1.0,
    scratch: str | os.PathLike[str] | None = None,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> Tagged:
    """Find the near-duplicates of the documents of a DataFrame, as `sosie.dedup` does, and tag them.

    A DataFrame has no order: documents come in the order of `order_column` and then of their ids, which have to be
    there and to be distinct. Tables between the stages are kept in a folder that the driver and all executors see:
    `scratch`, which a local session needs not name. `partitions` are those after a shuffle; by default, as many as the
    session says.
    """
    check_frame(documents)
    job = DedupParameters(
        threshold=as_fraction(threshold),
        method=method,
        shingles=shingles_of(shingles, method, width, unit),
        keep=keep,
        clusters=clusters,
        similarity=similarity,
        wordless=wordless,
        recall=recall,
    )
    check_job(job)
    if on_error not in ("raise", "skip"):
        raise UsageError(f"on_error is 'raise' or 'skip', got {on_error!r}")
    chosen = choose(documents, text_column, id_column, order_column, job.order)
    work = Work.of(documents.sparkSession, None if scratch is None else os.fspath(scratch), partitions)
    try:
        return _Run(work, job, chosen, Timing(progress or Silent())).tag(documents, on_error == "skip")
    except BaseException:
        work.remove()
        raise


@dataclass(frozen=True, eq=False)
class _Run:
    work: Work
    job: DedupParameters
    chosen: Chosen
    timing: Timing

    def tag(self, documents: DataFrame, skip: bool) -> Tagged:
        """De-duplicate the documents of a DataFrame."""
        work, job = self.work, self.job
        by = choose_method(job)
        method = by.method
        if work.is_local:
            prepare(*job.needs, progress=self.timing.progress)
        with self.timing.stage("read"):
            blocks = read_documents(work, documents, self.chosen, extraction_of(job, method))
            check_read(blocks, self.chosen, skip)
        with self.timing.stage("collapse"):
            copies = find_copies(work, blocks, keyed=isinstance(method, Minhash), ids=True, without=NONE)
            check_ids(work, blocks, self.chosen, copies)
        worded = blocks.rows - bare_rows(job, blocks)
        resolved = resolve(work, blocks, job, by, copies, NONE, worded, self.timing)
        return self._tagged(documents, blocks, method, resolved)

    def _tagged(self, documents: DataFrame, blocks: Blocks, method: Method, resolved: Resolved) -> Tagged:
        work, found, known = self.work, resolved.found, resolved.involved.known
        ids = known["id"].combine_chunks()
        tables = {"pairs": pairs_table, "clusters": clusters_table, "tags": tags_table}
        with self.timing.stage("write"):
            written = {name: work.write(work.table(make(found, ids)), name) for name, make in tables.items()}
        text = self.chosen.text
        columns = Columns(text[0] if len(text) == 1 else text, self.chosen.id)
        parameters, inputs = self.job.described(method, columns, None), [InputCount("the DataFrame", blocks.rows)]
        stages, counts = self.timing.finished, {name: blocks.counts[name] for name in ("rejected", "wordless")}
        report = report_on(blocks, resolved, parameters, inputs, stages, work, **counts)
        tagged = self._joined(documents, written["tags"], int((found.clusters.sizes > 1).sum()))
        return Tagged(tagged, written["pairs"], written["clusters"], report, work)

    def _joined(self, documents: DataFrame, tags: DataFrame, count: int) -> DataFrame:
        """Return the documents with what is said of them; the tags go to the documents, as long as they are few."""
        from pyspark.sql import functions as F

        taken = [name.lower() for name in documents.columns]
        names = dict(zip(("id", *ADDED), free_names([f"_{ID}", *ADDED], taken), strict=True))
        few = count <= BROADCAST and self.work.broadcasts
        tags = tags.select(*(F.col(name).alias(alias) for name, alias in names.items()))
        tags = F.broadcast(tags) if few else tags
        joined = documents.join(tags, documents[self.chosen.id] == tags[names["id"]], "left").drop(names["id"])
        usable = functools.reduce(operator.or_, (documents[name].isNotNull() for name in self.chosen.text))
        return joined.withColumn(names["kept"], F.coalesce(F.col(names["kept"]), usable))
