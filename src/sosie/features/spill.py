"""Features that grow as documents are read: in memory while they are few, on disk beyond."""

from __future__ import annotations

from types import TracebackType

import numpy as np

from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import I32, I64, U64, Features, offsets_of

CHUNK = 1 << 22  # features that are copied at a time


class FeatureSpill:
    """Hashes of features, and how often each occurs where that is asked for, row after row.

    >>> import tempfile
    >>> with FeatureSpill(Room(tempfile.mkdtemp()), counts=False) as spill:
    ...     spill.append(np.array([3, 7, 5], np.uint64))
    ...     spill.features([np.array([2, 0]), np.array([1])]).offsets.tolist()
    [0, 2, 2, 3]
    """

    def __init__(self, room: Room, counts: bool) -> None:
        self._hashes = Spill(room.scratch, np.uint64, memory=room.memory, keep=room.keep)
        self._counts = Spill(room.scratch, np.int32, memory=room.memory, keep=room.keep) if counts else None

    def __enter__(self) -> FeatureSpill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for spill in (self._hashes, self._counts):
            if spill is not None:
                spill.close()

    def append(self, hashes: U64, counts: I32 | None = None) -> None:
        """Append the features of some rows."""
        self._hashes.append(hashes)
        if self._counts is not None and counts is not None:
            self._counts.append(counts)

    def append_features(self, features: Features) -> None:
        """Append all rows of other features."""
        for start in range(0, len(features.hashes), CHUNK):
            here = slice(start, start + CHUNK)
            self.append(features.hashes[here], None if features.counts is None else features.counts[here])

    def features(self, sizes: list[I64]) -> Features:
        """Return all features, given the number of features of every row; they outlive the spill."""
        offsets = offsets_of(np.concatenate(sizes))
        return Features(self._hashes.array(), offsets, None if self._counts is None else self._counts.array())
