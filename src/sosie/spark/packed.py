"""Rows of numbers as bytes: what is sent between tasks, a few thousand entries at a time.

An entry has a row number and any columns. Spark moves bytes faster than rows, and rows that ascend take one or two
bytes each instead of eight.
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

    Integers, none of which is negative, take as many bytes as the largest of their column needs.

    >>> data = pack(np.array([7, 7, 300]), [np.array([1.5, 2.5]), np.array([3, 4, 5])])
    >>> rows, columns = unpack(data, [np.float64, np.int64])
    >>> rows.tolist(), [column.tolist() for column in columns], len(data) < 100
    ([7, 7, 300], [[1.5, 2.5], [3, 4, 5]], True)
    """
    head, parts = [len(rows), int(rows[0]) if len(rows) else 0], []
    for column in (np.diff(rows), *columns):
        narrow = _narrowed(column)
        head += [len(narrow), narrow.itemsize]
        parts.append(narrow.tobytes())
    return b"".join([np.array(head, np.int64).tobytes(), *parts])


def unpack(data: Any, dtypes: Sequence[DTypeLike]) -> tuple[I64, list[NDArray[Any]]]:
    """Return the rows and the columns, which are of these types."""
    head = np.frombuffer(data, np.int64, 4 + 2 * len(dtypes)).tolist()
    at, columns = 8 * len(head), []
    for length, width, dtype in zip(head[2::2], head[3::2], (np.int64, *dtypes), strict=True):
        kind = np.dtype(f"<u{width}") if np.dtype(dtype).kind in "iu" else np.dtype(dtype)
        columns.append(np.frombuffer(data, kind, length, at).astype(dtype))
        at += width * length
    rows = np.full(head[0], head[1], np.int64)
    rows[1:] += np.cumsum(columns[0])
    return rows, columns[1:]


def _narrowed(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in as few bytes as they fit into."""
    if column.dtype.kind not in "iu":
        return column
    largest = int(column.max(initial=0))
    return column.astype(next(kind for kind in _WIDTHS if largest <= np.iinfo(kind).max))


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
