"""Which ids were there before: exact, columnar, decided in document order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.types import I64, U64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WEIGHTS = 1 << 16


class SeenIds:
    """The ids so far, as sorted runs of 64-bit hashes; equal hashes are confirmed by the ids themselves.

    `fetch` gives the ids of document numbers. Runs double in size, so that an id costs a few binary searches.
    """

    def __init__(self, fetch: Callable[[I64], Any]) -> None:
        self._fetch = fetch
        self._runs: list[tuple[U64, I64]] = []
        # Distinct ids whose hash belongs to another id: practically empty.
        self._collided: dict[Any, int] = {}

    def admit(self, ids: Any, rows: I64) -> I64:
        """Remember new ids; return for each the document number that had it before, -1 if it is new.

        >>> ids = pa.array(["a", "b", "a"], pa.large_string())
        >>> seen = SeenIds(lambda rows: ids.take(pa.array(rows)))
        >>> seen.admit(ids, np.arange(3)).tolist()
        [-1, -1, 0]
        """
        hashes = hash_ids(ids)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        suspects = self._same_hash(ordered, rows[order])
        new = suspects < 0
        earlier = np.full(len(rows), -1, np.int64)
        earlier[order] = suspects
        for position in self._collisions(ids, earlier):
            value = ids[position].as_py()
            first = self._collided.setdefault(value, int(rows[position]))
            earlier[position] = -1 if first == rows[position] else first
        self._add(ordered[new], rows[order][new])
        return earlier

    def _same_hash(self, ordered: U64, rows: I64) -> I64:
        """Return for each hash, sorted, the document that owns it, -1 if there is none before."""
        first = np.ones(len(ordered), bool)
        first[1:] = ordered[1:] != ordered[:-1]
        group = np.cumsum(first) - 1
        owner = rows[first][group] if len(rows) else rows.copy()
        owner[first] = -1
        for hashes, owners in self._runs:
            at = np.minimum(np.searchsorted(hashes, ordered), len(hashes) - 1)
            known = hashes[at] == ordered
            owner[known] = owners[at[known]]
        return owner

    def _collisions(self, ids: Any, earlier: I64) -> list[int]:
        positions = np.flatnonzero(earlier >= 0)
        if not len(positions):
            return []
        same = pc.equal(ids.take(pa.array(positions)), self._fetch(earlier[positions]))
        return [int(position) for position in positions[~same.to_numpy(zero_copy_only=False)]]

    def _add(self, hashes: U64, rows: I64) -> None:
        if not len(hashes):
            return
        self._runs.append((hashes, rows))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            (left, left_rows), (right, right_rows) = self._runs[-2:]
            merged = np.concatenate([left, right])
            order = np.argsort(merged, kind="stable")
            self._runs[-2:] = [(merged[order], np.concatenate([left_rows, right_rows])[order])]


def hash_ids(ids: Any) -> U64:
    """Return a 64-bit hash of each id: integers are their own, strings a multilinear hash of their bytes."""
    if ids.type == pa.int64():
        return np.asarray(ids.to_numpy(zero_copy_only=False)).view(np.uint64)
    _, offset_buffer, data_buffer = ids.buffers()
    if not len(ids):
        return np.empty(0, np.uint64)
    offsets = np.frombuffer(offset_buffer, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8)[first:last] if last > first else np.empty(0, np.uint8)
    lengths = np.diff(offsets)
    position = np.arange(last - first) - np.repeat(offsets[:-1] - first, lengths)
    weights = _mix(np.arange(1, min(int(lengths.max()), _WEIGHTS) + 2, dtype=np.uint64) * _GOLDEN)
    sums = np.zeros(last - first + 1, np.uint64)
    np.cumsum(data * weights[position % len(weights)], out=sums[1:])
    return _mix(sums[offsets[1:] - first] - sums[offsets[:-1] - first] + lengths.astype(np.uint64) * _GOLDEN)


def _mix(value: U64) -> U64:
    """Return splitmix64's finaliser of each value."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
