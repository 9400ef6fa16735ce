"""The arrays that kernels take, and where they begin in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
