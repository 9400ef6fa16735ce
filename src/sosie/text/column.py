"""Texts as one column: all bytes in one array, one offset per text. What every kernel reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sosie.documents.memory.given import column_of
from sosie.documents.memory.records import name_kind
from sosie.documents.source import Source
from sosie.errors import DataError, UsageError
from sosie.types import I64

_ACCEPTED = "a list or a generator of str, or a column of strings: NumPy, Arrow, Polars or pandas"


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts as UTF-8: text i is `data[offsets[i]:offsets[i + 1]]`. Both arrays are read-only.

    >>> column = as_column(["one", "", "three"])
    >>> len(column), column.offsets.tolist(), column.text(2)
    (3, [0, 3, 3, 8], 'three')
    """

    data: NDArray[np.uint8]
    offsets: I64

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _read_only(self.data, np.uint8))
        object.__setattr__(self, "offsets", _read_only(self.offsets, np.int64))
        if len(self.offsets) == 0:
            raise UsageError("a text column of n texts has n + 1 offsets, got none")
        if self.offsets[0] < 0 or self.offsets[-1] > len(self.data) or np.any(np.diff(self.offsets) < 0):
            raise DataError(f"the offsets of the text column do not ascend from 0 to at most {len(self.data)}")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, row: int) -> str:
        """Return one text; invalid UTF-8 shows as U+FFFD."""
        return bytes(self.data[self.offsets[row] : self.offsets[row + 1]]).decode("utf-8", "replace")


def as_column(texts: Any) -> TextColumn:
    """Return texts as a column, without a copy where the memory already has that shape.

    >>> len(as_column(pa.array(["a", "b"])))
    2
    """
    if isinstance(texts, TextColumn):
        return texts
    if isinstance(texts, list | tuple):
        return _from_array(_from_list(list(texts)))
    if isinstance(texts, Iterator):
        return _from_array(_from_list(list(texts)))
    return _from_array(_one_array(_as_arrow(texts)))


def _as_arrow(texts: Any) -> Any:
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return texts
    if isinstance(texts, np.ndarray):
        return column_of(texts)
    if isinstance(texts, str):
        raise UsageError("one str is given where several texts are expected: put it into a list")
    if isinstance(texts, Source | os.PathLike):
        raise UsageError(f"texts are {_ACCEPTED}; {type(texts).__name__} names documents, which `sosie sign` reads")
    try:
        if hasattr(texts, "__arrow_c_stream__"):
            return pa.chunked_array(texts)
        if hasattr(texts, "__arrow_c_array__"):
            return pa.array(texts)
        if name_kind(texts) == "pandas.Series":  # before 3.0
            return column_of(texts)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UsageError(f"these texts cannot be read through Arrow ({error}); pass {_ACCEPTED}") from error
    raise UsageError(f"texts are {_ACCEPTED}, got {type(texts).__name__}")


def _from_list(texts: list[Any]) -> Any:
    for row, text in enumerate(texts):
        if text is None:
            raise DataError(f"text {row} is missing (None): drop it or give it a text, '' at least")
        if not isinstance(text, str):
            remedy = ": decode it, as in text.decode('utf-8')" if isinstance(text, bytes) else ""
            raise UsageError(f"text {row} is of type {type(text).__name__}, expected str{remedy}")
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        row = next(row for row, text in enumerate(texts) if not _encodable(text))
        raise DataError(f"text {row} is not valid Unicode ({error.reason}): replace its lone surrogates") from error


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _one_array(texts: Any) -> Any:
    """Return one array of (large) strings or binaries."""
    kind = texts.type.value_type if pa.types.is_dictionary(texts.type) else texts.type
    if not _is_text(kind):
        raise UsageError(f"texts of Arrow type {texts.type} are not supported: cast the column to string")
    _refuse_nulls(texts)
    several = isinstance(texts, pa.ChunkedArray) and texts.num_chunks != 1
    if several or not _has_offsets(texts.type):
        texts = pc.cast(texts, _large(kind))  # 64-bit offsets: a column may exceed 2 GB
        _refuse_nulls(texts)  # a dictionary may hold one
    if isinstance(texts, pa.ChunkedArray):
        chunks = texts.chunks or [pa.array([], texts.type)]
        texts = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    return texts


def _refuse_nulls(texts: Any) -> None:
    if texts.null_count:
        row = pc.index(pc.is_null(texts), True).as_py()
        raise DataError(f"text {row} is null ({texts.null_count} in all): drop the nulls or fill them with ''")


def _is_text(kind: Any) -> bool:
    return _has_offsets(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)


def _has_offsets(kind: Any) -> bool:
    named = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in named)


def _large(kind: Any) -> Any:
    return pa.large_string() if "string" in str(kind) else pa.large_binary()


def _from_array(array: Any) -> TextColumn:
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return TextColumn(np.empty(0, np.uint8), np.zeros(1, np.int64))
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    positions = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    content = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return TextColumn(content, positions.astype(np.int64, copy=False))


def _read_only(array: Any, kind: Any) -> Any:
    array = np.ascontiguousarray(array, kind).view()
    array.flags.writeable = False
    return array
