"""The arrays that kernels take, and where they begin in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.errors import MismatchError

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
U16 = NDArray[np.uint16]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LINE = 8  # words of a cache line


def aligned_zeros(shape: tuple[int, ...]) -> U64:
    """Return zeroed words that begin on a cache line: a vector of 64 bytes across two lines costs twice.

    >>> aligned_zeros((3, 8)).ctypes.data % 64
    0
    """
    size = math.prod(shape)
    words = np.zeros(size + _LINE, np.uint64)
    start = -(words.ctypes.data // 8) % _LINE
    return words[start : start + size].reshape(shape)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written, like a map of a file, so that kernels are compiled for one kind of array.

    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    view = np.asarray(array)[:]
    view.flags.writeable = False
    return view


def check_column(what: str, column: Any, dtype: DTypeLike, length: int | None = None) -> None:
    """Refuse what is no flat array of this type, or not of this length: kernels trust both.

    >>> check_column("rows", np.arange(3.0), np.int64)
    Traceback (most recent call last):
    ...
    sosie.errors.MismatchError: rows are int64[n], got float64[3]
    """
    if not isinstance(column, np.ndarray):
        raise MismatchError(f"{what} are a NumPy array, got {type(column).__name__}")
    if column.dtype != dtype or column.ndim != 1 or length not in (None, len(column)):
        wanted = f"{np.dtype(dtype)}[{'n' if length is None else length}]"
        raise MismatchError(f"{what} are {wanted}, got {column.dtype}{list(column.shape)}")


def check_rows(what: str, rows: I64, count: int | None = None) -> None:
    """Refuse rows that are not numbered from 0 up to `count`, if that is known.

    >>> check_rows("the rows of pairs", np.array([0, 3]), 3)
    Traceback (most recent call last):
    ...
    sosie.errors.MismatchError: the rows of pairs are numbered from 0 to 2, got 3
    """
    if len(rows) and rows.min() < 0:
        raise MismatchError(f"{what} are numbered from 0, got {rows.min()}")
    if len(rows) and count is not None and rows.max() >= count:
        raise MismatchError(f"{what} are numbered from 0 to {count - 1}, got {rows.max()}")


def check_offsets(what: str, offsets: I64, count: int) -> None:
    """Refuse offsets of rows that do not ascend, or leave an array of `count` entries.

    >>> check_offsets("offsets", np.array([0, 9, 3]), 3)
    Traceback (most recent call last):
    ...
    sosie.errors.MismatchError: offsets ascend from 0 to at most 3, one more than there are rows
    """
    if not len(offsets) or offsets[0] < 0 or offsets[-1] > count or np.any(offsets[1:] < offsets[:-1]):
        raise MismatchError(f"{what} ascend from 0 to at most {count}, one more than there are rows")
