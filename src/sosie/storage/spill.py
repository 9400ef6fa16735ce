"""A flat array that grows: in memory while it is small, on disk beyond."""

from __future__ import annotations

import os
import tempfile
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.errors import StorageError
from sosie.storage.durable import naming

_GROWTH = 8  # times what there is, when there is no room for more: few values are copied more than once


class Spill:
    """An append-only array of one dtype, kept in memory below `memory` bytes and in a file of `directory` beyond.

    The file is removed when the spill is closed; with `keep` it stays, for whoever owns the directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Spill(folder, np.int64, memory=8) as numbers:
    ...     numbers.append(np.arange(2)), numbers.append(np.arange(2, 5)), len(numbers), numbers.array().tolist()
    (None, None, 5, [0, 1, 2, 3, 4])
    """

    def __init__(
        self, directory: str | os.PathLike[str], dtype: DTypeLike, memory: int = 64 << 20, *, keep: bool = False
    ) -> None:
        self.dtype = np.dtype(dtype)
        self._directory = directory
        self._memory = memory
        self._keep = keep
        self._room: NDArray[Any] = np.empty(0, self.dtype)
        self._length = 0
        self._descriptor: int | None = None
        self._path = ""

    def __len__(self) -> int:
        return self._length

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def on_disk(self) -> bool:
        """Whether the array has moved to disk."""
        return self._descriptor is not None

    def append(self, values: NDArray[Any]) -> None:
        """Append a flat array of the same dtype; after a failed write the length is as before."""
        if values.dtype != self.dtype or values.ndim != 1:
            raise ValueError(f"expected a flat {self.dtype} array, got {values.dtype}{list(values.shape)}")
        if self._descriptor is None:
            length = self._length + len(values)
            if length * self.dtype.itemsize < self._memory:
                self._make_room(length)
                self._room[self._length : length] = values
                self._length = length
                return
            self._move()
        self._write(values, self._length)
        self._length += len(values)

    def array(self) -> NDArray[Any]:
        """Return everything appended so far, read-only."""
        if self._length == 0:
            whole: NDArray[Any] = np.empty(0, self.dtype)
        elif self._descriptor is not None:
            with naming(self._path):
                size = os.stat(self._path).st_size
            if size < self._length * self.dtype.itemsize:
                raise StorageError(f"{self._path}: was cut short by another program. Run again.")
            with naming(self._path):
                return np.memmap(self._path, self.dtype, "r", shape=(self._length,))
        else:
            whole = self._room[: self._length]
        whole.flags.writeable = False
        return whole

    def close(self) -> None:
        """Let go of the file; arrays that were returned stay valid."""
        self._room, self._length = np.empty(0, self.dtype), 0
        self._remove(self._keep)

    def _make_room(self, length: int) -> None:
        """Have room for so many values; it is no memory before it is written to, so there may be much of it."""
        if length > len(self._room):
            most = self._memory // self.dtype.itemsize
            room: NDArray[Any] = np.empty(max(length, min(_GROWTH * length, most)), self.dtype)
            room[: self._length] = self._room[: self._length]
            self._room = room  # arrays that were returned keep the one before

    def _move(self) -> None:
        with naming(self._directory):
            self._descriptor, self._path = tempfile.mkstemp(".spill", dir=self._directory)
        try:
            self._write(self._room[: self._length], 0)
        except StorageError:
            self._remove()
            raise
        self._room = np.empty(0, self.dtype)

    def _remove(self, keep: bool = False) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            if not keep:
                os.unlink(self._path)
            self._descriptor = None

    def _write(self, values: NDArray[Any], at: int) -> None:
        """Write all bytes: one call may write fewer, and 2 GB at most."""
        assert self._descriptor is not None
        left = np.ascontiguousarray(values).view(np.uint8).data if len(values) else memoryview(b"")
        offset = at * self.dtype.itemsize
        with naming(self._path):
            while left:
                written = os.pwrite(self._descriptor, left, offset)
                left, offset = left[written:], offset + written
