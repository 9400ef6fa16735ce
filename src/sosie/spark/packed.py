"""Rows of numbers as bytes: what is sent between tasks, a few thousand entries at a time.

An entry has a row number and any columns. Spark moves bytes faster than rows, and rows that ascend take one or two bytes
each instead of eight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from sosie.types import I64

_WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)


def pack(rows: I64, columns: Sequence[NDArray[Any]] = ()) -> bytes:
    """Return ascending rows and columns as bytes; a column may have another length than there are rows.

    >>> rows, (values,) = unpack(pack(np.array([7, 7, 300]), [np.array([1.5, 2.5])]), [np.float64])
    >>> rows.tolist(), values.tolist()
    ([7, 7, 300], [1.5, 2.5])
    """
    steps = np.diff(rows).astype(np.uint64)
    largest = int(steps.max(initial=0))
    width = next(kind for kind in _WIDTHS if largest <= np.iinfo(kind).max)
    head = [len(rows), np.dtype(width).itemsize, int(rows[0]) if len(rows) else 0, *(len(column) for column in columns)]
    parts = [np.array(head, np.int64).tobytes(), steps.astype(width).tobytes()]
    return b"".join(parts + [np.ascontiguousarray(column).tobytes() for column in columns])


def unpack(data: Any, dtypes: Sequence[DTypeLike]) -> tuple[I64, list[NDArray[Any]]]:
    """Return the rows and the columns, which are of these types."""
    head = np.frombuffer(data, np.int64, 3 + len(dtypes)).tolist()
    count, width, first = head[:3]
    at = 8 * len(head)
    rows = np.full(count, first, np.int64)
    if count > 1:
        steps = np.frombuffer(data, f"<u{width}", count - 1, at)
        rows[1:] += np.cumsum(steps, dtype=np.int64)
        at += width * (count - 1)
    columns = []
    for dtype, length in zip(dtypes, head[3:], strict=True):
        column = np.frombuffer(data, dtype, length, at)
        columns.append(column)
        at += column.nbytes
    return rows, columns


def unpack_all(blobs: Sequence[Any], dtypes: Sequence[DTypeLike]) -> tuple[I64, list[NDArray[Any]]]:
    """Return the rows and the columns of many, one after the other.

    >>> rows, _ = unpack_all([pack(np.array([3])), pack(np.array([1, 2]))], [])
    >>> rows.tolist()
    [3, 1, 2]
    """
    parts = [unpack(blob, dtypes) for blob in blobs]
    rows = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
    columns = [
        np.concatenate([np.empty(0, dtype), *(part[1][at] for part in parts)]) for at, dtype in enumerate(dtypes)
    ]
    return rows, columns


def bytes_of(column: Any) -> memoryview:
    """Return all bytes of a binary Arrow column, one value after the other, without a copy.

    >>> bytes(bytes_of(pa.array([b"ab", b"c"])))
    b'abc'
    """
    _, offset_buffer, data = column.buffers()
    kind = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    offsets = np.frombuffer(offset_buffer, kind)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(column):
        return memoryview(b"")
    return memoryview(data)[int(offsets[0]) : int(offsets[-1])]


def values_of(column: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Return what is in a binary Arrow column as numbers of one type, one value after the other."""
    return np.frombuffer(bytes_of(column), dtype)
