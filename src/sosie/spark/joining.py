"""The verbs `join` and `verify` on Spark: all similar pairs of DataFrames, and the true similarity of given ones."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.features.shingles import Shingles
from sosie.jobs.auto import choose_join
from sosie.jobs.join import THRESHOLD
from sosie.jobs.join_rows import JoinMethod
from sosie.matches.check import MAX_PAIRS, check_pairs
from sosie.matches.chunks import Window
from sosie.matches.join import check_method
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.shown import counted
from sosie.spark.engine import check_frame
from sosie.spark.headers import header_candidates
from sosie.spark.ids import row_pairs, with_ids
from sosie.spark.keys import equal_keys
from sosie.spark.signed import Signed, column_of, read_signed
from sosie.spark.similar import Compared, join_documents, verify_pairs
from sosie.spark.tiles import tile_candidates
from sosie.spark.window import PAIR_COLUMNS, window_pairs
from sosie.spark.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Joined:
    """Similar pairs as a DataFrame of ids: a, b and, of documents, their similarity.

    Pairs of signatures and keys are candidates. `recall` is the share of all pairs that is to be expected among them: 1
    where the join is exact, None where nothing is known. The pairs are read from the scratch folder, which `close`
    removes, or the end of a `with` block; else it goes with this process.
    """

    pairs: DataFrame
    count: int
    counters: dict[str, int]
    recall: float | None
    interval: tuple[float, float] | None = None
    _work: Work = field(repr=False, kw_only=True)

    def __post_init__(self) -> None:
        weakref.finalize(self._work.session, self._work.remove)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        recall = "" if self.recall is None else f", recall {self.recall:.4g}"
        return f"Joined({counted(self.count, 'pair')}{recall})"

    def close(self) -> None:
        """Remove the temporary files; the DataFrame cannot be used any more."""
        self._work.remove()

    def __enter__(self) -> Joined:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def join(
    a: DataFrame,
    b: DataFrame | None = None,
    *,
    radius: int | None = None,
    threshold: float | str | Fraction | None = None,
    method: JoinMethod = "auto",
    measure: Measure = "jaccard",
    shingles: Shingles | None = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    max_pairs: int = MAX_PAIRS,
    scratch: str | os.PathLike[str] | None = None,
    partitions: int | None = None,
) -> Joined:
    """Return all pairs of a DataFrame, or across two: similar documents or signatures, equal keys.

    What `sosie.spark.sign` has made is told by its column, `words` or `keys`; signatures are joined by block tables, by
    comparing all with all, or by a sliding window (`sosie.Window`), which says what share it found. Documents are
    compared by their shingles, exactly, and their pairs are verified. More than `max_pairs` are refused.
    """
    frames = [frame for frame in (a, b) if frame is not None]
    for frame in frames:
        check_frame(frame)
    signed = [column_of(frame) for frame in frames]
    if len({name is None for name in signed}) > 1:
        raise MismatchError("documents are joined with documents and signatures with signatures: sign both, or none")
    of_documents = signed[0] is None
    if of_documents and (radius is not None or method != "auto"):
        raise UsageError("radius and method are for signatures; documents are joined exactly, above a threshold")
    if not of_documents and (threshold is not None or measure != "jaccard" or shingles is not None):
        raise UsageError("threshold, measure and shingles are for documents; signatures are joined within a radius")
    if measure == "containment":
        raise UsageError("on Spark documents are compared by Jaccard or cosine: for containment use sosie.join")
    work = Work.of(a.sparkSession, None if scratch is None else os.fspath(scratch), partitions)
    try:
        if of_documents:
            least = as_fraction(THRESHOLD if threshold is None else threshold)
            by = Compared(least, measure, shingles or Shingles(), text_column, id_column)
            found = join_documents(work, frames, by, max_pairs)
            return Joined(found.pairs, found.rows, found.counters, 1.0, _work=work)
        return _join_signed(work, read_signed(work, frames, None), radius, method, max_pairs)
    except BaseException:
        work.remove()
        raise


def verify(
    pairs: DataFrame,
    documents: DataFrame,
    *,
    threshold: float | str | Fraction,
    measure: Measure = "jaccard",
    shingles: Shingles | None = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    partitions: int | None = None,
) -> Joined:
    """Return the pairs of ids (columns `a` and `b`) whose documents are at least as similar as the threshold says.

    Each pair is there once, with the true similarity, compared exactly.
    """
    check_frame(pairs)
    check_frame(documents)
    for name in ("a", "b"):
        if name not in pairs.columns:
            raise UsageError(f"pairs have the columns a and b, which hold ids; there are: {', '.join(pairs.columns)}")
    if measure == "containment":
        raise UsageError("on Spark documents are compared by Jaccard or cosine: for containment use sosie.verify")
    by = Compared(as_fraction(threshold), measure, shingles or Shingles(), text_column, id_column)
    work = Work.of(documents.sparkSession, None if scratch is None else os.fspath(scratch), partitions)
    try:
        found = verify_pairs(work, pairs, documents, by)
    except BaseException:
        work.remove()
        raise
    return Joined(found.pairs, found.rows, found.counters, None, _work=work)


def _join_signed(work: Work, signed: Signed, radius: int | None, method: JoinMethod, max_pairs: int) -> Joined:
    """Join signatures within the radius, or keys that are equal."""
    blocks, bits, split = signed.blocks, signed.bits, signed.split
    if bits is None:
        if radius is not None or method != "auto":
            raise UsageError("keys are joined where they are equal: pass neither radius nor method")
        found = equal_keys(work, blocks, signed.width, split, max_pairs)
        return _joined(work, signed, found.frame, 2, found.pairs, max_pairs, {}, None)
    if radius is None:
        raise UsageError("signatures are joined within a radius: pass radius=")
    largest = bits if method in ("auto", "brute") or isinstance(method, Window) else bits - 1
    if not 0 <= radius <= largest:
        raise UsageError(f"radius must be between 0 and {largest}, got {radius}")
    by = choose_join(blocks.rows, bits, radius) if method == "auto" else method
    if isinstance(by, Window) or check_method(by) == "window":
        within = window_pairs(work, signed, radius, by if isinstance(by, Window) else Window())
        share = within.share
        said = (None, None) if share is None else (share.recall, share.interval)
        exact = share is not None and share.interval == (1.0, 1.0)
        recall, interval = (1.0, None) if exact else said
        columns = PAIR_COLUMNS
        return _joined(work, signed, within.frame, columns, within.pairs, max_pairs, within.counters, recall, interval)
    if by == "blocks":
        found = header_candidates(work, blocks, _NONE, bits, radius, split=split, star=1 << 62)
    else:
        found = tile_candidates(work, blocks, _NONE, bits, radius, split=split, max_pairs=max_pairs)
    return _joined(work, signed, found.frame, 2, found.pairs, max_pairs, found.counters, 1.0)


def _joined(
    work: Work,
    signed: Signed,
    entries: DataFrame,
    columns: int,
    count: int,
    max_pairs: int,
    counters: dict[str, int],
    recall: float | None,
    interval: tuple[float, float] | None = None,
) -> Joined:
    check_pairs(count, max_pairs)
    pairs = with_ids(work, signed.blocks, row_pairs(work, entries, columns), signed.split)
    return Joined(work.write(pairs, "joined"), count, counters, recall, interval, _work=work)
