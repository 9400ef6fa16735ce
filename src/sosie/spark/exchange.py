"""Entries to buckets: each task packs its entries by bucket, Spark brings the buckets together, a task takes each.

What is made of a bucket does not depend on how its entries arrive: whoever takes them sorts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.spark.packed import pack
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "bucket int, kind int, entries long, data binary"
_WAITING = 1 << 24  # bytes of entries that wait in a task until they are packed
_BLOB = 1 << 15  # bytes of entries that are packed together, about
_BATCH = 1 << 22  # bytes of a batch
_NAMES = ["bucket", "kind", "entries", "data"]
_KINDS = [pa.int32(), pa.int32(), pa.int64(), pa.binary()]
Blob = tuple[int, int, int, bytes]  # the bucket, the kind, how many entries, and these


class Sent(NamedTuple):
    """A table, the function that makes entries of its batches, and what that takes."""

    frame: DataFrame
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


def send(work: Work, sent: Sequence[Sent], buckets: int) -> DataFrame:
    """Return the entries of all tables, those of a bucket together, in order of bucket and kind."""
    packed = [work.run(each.frame, each.function, SCHEMA, *each.arguments) for each in sent]
    together = packed[0]
    for other in packed[1:]:
        together = together.unionAll(other)
    partitions = max(1, min(work.partitions, buckets))
    return together.repartition(partitions, "bucket").sortWithinPartitions("bucket", "kind")


def exchange(
    work: Work, sent: Sequence[Sent], buckets: int, take: Callable[..., Any], schema: str, *arguments: Any
) -> DataFrame:
    """Send entries to buckets, and return what a function makes of the buckets of each partition: see `buckets_of`."""
    return work.run(send(work, sent, buckets), take, schema, *arguments)


class Packer:
    """Packs entries by bucket: rows that ascend inside each call, and columns of numbers, one value for each.

    >>> packer = Packer()
    >>> packer.add(np.array([1, 0, 1]), np.array([4, 5, 6]))
    >>> [batch.to_pydict()["bucket"] for batch in packer.finish()]
    [[0, 1]]
    """

    def __init__(self, kind: int = 0) -> None:
        self._kind = kind
        self._parts: list[tuple[NDArray[Any], I64, list[NDArray[Any]]]] = []
        self._bytes = 0

    def add(self, buckets: NDArray[Any], rows: I64, columns: Sequence[NDArray[Any]] = ()) -> None:
        """Add entries; what is too much to wait comes out of `ready`."""
        if len(rows):
            self._parts.append((buckets, rows, list(columns)))
            self._bytes += rows.nbytes + sum(column.nbytes for column in columns)

    def ready(self) -> Batches:
        """Yield what is packed because too much waits."""
        if self._bytes > _WAITING:
            yield from self.finish()

    def finish(self) -> Batches:
        """Yield all that waits."""
        if not self._parts:
            return
        buckets = np.concatenate([part[0] for part in self._parts])
        rows = np.concatenate([part[1] for part in self._parts])
        columns = [np.concatenate(each) for each in zip(*(part[2] for part in self._parts), strict=True)]
        self._parts, self._bytes = [], 0
        order = _order(buckets, rows)
        buckets, rows, columns = buckets[order], rows[order], [column[order] for column in columns]
        size = rows.itemsize // 4 + sum(column.itemsize for column in columns)
        yield from batched(_cut(buckets, rows, columns, max(_BLOB // size, 1), self._kind))


def batched(blobs: Iterator[Blob]) -> Batches:
    """Yield blobs, each with its bucket, its kind and its number of entries, as Arrow batches of few bytes."""
    waiting: list[Blob] = []
    size = 0
    for blob in blobs:
        waiting.append(blob)
        size += len(blob[3])
        if size > _BATCH:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def buckets_of(batches: Batches) -> Iterator[tuple[int, dict[int, list[Any]]]]:
    """Yield each bucket with its blobs by kind; the rows of a bucket follow each other, over batches as well.

    >>> rows = [_batch([(0, 0, 1, b"a"), (3, 0, 1, b"b")]), _batch([(3, 1, 1, b"c")])]
    >>> [(bucket, sorted(kinds)) for bucket, kinds in buckets_of(iter(rows))]
    [(0, [0]), (3, [0, 1])]
    """
    current, held = -1, {}  # type: int, dict[int, list[Any]]
    for batch in batches:
        columns = [batch.column(name) for name in ("bucket", "kind")]
        buckets, kinds = (column.to_numpy(zero_copy_only=False).tolist() for column in columns)
        for bucket, kind, data in zip(buckets, kinds, batch.column("data"), strict=True):
            if bucket != current:
                if held:
                    yield current, held
                current, held = bucket, {}
            held.setdefault(kind, []).append(data.as_buffer())
    if held:
        yield current, held


def record_batch(**columns: Any) -> Any:
    """Return an Arrow batch; unsigned numbers, which Spark does not know, as the signed ones of the same bits."""
    arrays = []
    for column in columns.values():
        if isinstance(column, np.ndarray) and column.dtype == np.uint64:
            column = column.view(np.int64)
        arrays.append(column if isinstance(column, pa.Array) else pa.array(column))
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _order(buckets: NDArray[Any], rows: I64) -> I64:
    """Return the order by bucket and row; rows that ascend already need no comparison."""
    few = buckets.astype(np.uint16) if len(buckets) and buckets.max() < 1 << 16 else buckets
    order = np.argsort(few, kind="stable")
    falls = (np.diff(rows[order]) < 0) & (np.diff(few[order].astype(np.int64)) == 0)
    return np.lexsort((rows, buckets)) if falls.any() else order


def empty_entries() -> Any:
    """Return a batch of no entries."""
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in _KINDS], _NAMES)


def _cut(buckets: NDArray[Any], rows: I64, columns: list[NDArray[Any]], most: int, kind: int) -> Iterator[Blob]:
    edges = np.flatnonzero(np.diff(buckets, prepend=-1, append=-1))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for first in range(start, stop, most):
            here = slice(first, min(first + most, stop))
            data = pack(rows[here], [column[here] for column in columns])
            yield int(buckets[start]), kind, here.stop - first, data


def _batch(blobs: list[Blob]) -> Any:
    columns = zip(*blobs, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _KINDS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, _NAMES)
