"""Ids: as plain arrays of an artefact, and found again by their hashes.

Integers are kept as they are, strings as UTF-8 with offsets. `IdTable` knows which row has which id without a Python
object for each: it holds 64-bit hashes, and equal hashes are confirmed by the ids themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sosie.arrays import I64, U64, Bools
from sosie.errors import MismatchError, StorageError
from sosie.runs import Runs
from sosie.storage.resident import give_back

IDS = ("ids", "id_bytes", "id_offsets")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PIECE = 1 << 14  # ids that are hashed at a time: what that takes stays in the cache
_NUMBERS = 1 << 20  # ids that are checked, or compared with their rows, at a time
_WEIGHTS = 1 << 16


def id_arrays(ids: Any) -> dict[str, NDArray[Any]]:
    """Return an Arrow array of ids as arrays of an artefact.

    >>> {name: array.tolist() for name, array in id_arrays(pa.array(["a", "bc"])).items()}
    {'id_bytes': [97, 98, 99], 'id_offsets': [0, 1, 3]}
    """
    if pa.types.is_integer(ids.type):
        return {"ids": ids.to_numpy()}
    texts = ids.cast(pa.large_string())
    if not len(texts):
        return {"id_bytes": np.empty(0, np.uint8), "id_offsets": np.zeros(1, np.int64)}
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return {"id_bytes": _bytes(data)[offsets[0] : offsets[-1]], "id_offsets": offsets - offsets[0]}


def ids_of(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the ids as an Arrow array, checked; strings become large strings."""
    if "ids" in arrays:
        ids = arrays["ids"]
        if ids.dtype.kind not in "iu" or ids.ndim != 1:
            raise StorageError(f"the ids are {ids.dtype}{list(ids.shape)}, and neither integers nor texts")
        return pa.array(ids)
    offsets, data = arrays["id_offsets"], arrays["id_bytes"]
    flat = offsets.ndim == data.ndim == 1
    if not flat or offsets.dtype != np.int64 or not len(offsets) or data.dtype != np.uint8:
        raise StorageError("the ids are not bytes with offsets")
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    ids = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    for start in range(0, max(len(ids), 1), _NUMBERS):  # a piece at a time: there may be gigabytes
        ids.slice(start, _NUMBERS).validate(full=True)
        give_back(data)
    return ids


def given_ids(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the ids as `ids_of` does, None if they are the numbers that rows have when no ids are given.

    >>> given_ids({"ids": np.arange(3)}) is None, given_ids({"ids": np.array([0, 2])}).to_pylist()
    (True, [0, 2])
    """
    ids = ids_of(arrays)
    return None if len(ids) and ids.type == pa.int64() and _are_numbers(arrays["ids"]) else ids


def _are_numbers(ids: I64) -> bool:
    """Say whether ids are 0, 1, 2 and so on; in pieces, because there may be very many."""
    for start in range(0, len(ids), _NUMBERS):
        piece = ids[start : start + _NUMBERS]
        if not np.array_equal(piece, np.arange(start, start + len(piece))):
            return False
        give_back(ids)
    return True


@dataclass(frozen=True, eq=False)
class HashedRows:
    """A run of a table of ids: hashes in order, and the row of each."""

    hashes: U64
    rows: I64

    def __len__(self) -> int:
        return len(self.hashes)

    def followed_by(self, other: HashedRows) -> HashedRows:
        """Return both as one run; rows of one hash stay in order."""
        hashes, rows = np.concatenate([self.hashes, other.hashes]), np.concatenate([self.rows, other.rows])
        order = np.argsort(hashes, kind="stable")
        return HashedRows(hashes[order], rows[order])

    def kept(self, which: Bools) -> HashedRows:
        """Return some of the rows."""
        return self if which.all() else HashedRows(self.hashes[which], self.rows[which])


@dataclass(frozen=True, eq=False)
class IdTable:
    """Rows by the hashes of their ids, in sorted runs; a table never changes, adding gives another one.

    Ids may share a hash, and a row may have the id of one that is gone: whoever asks confirms what is found.

    >>> table = IdTable().added(hash_ids(pa.array([7, 3])), np.array([0, 1]))
    >>> [found.tolist() for found in table.find(hash_ids(pa.array([3, 5])))]
    [[0], [1]]
    """

    runs: Runs[HashedRows] = field(default_factory=Runs)

    def find(self, hashes: U64) -> tuple[I64, I64]:
        """Return the rows that have one of these hashes: the place of the hash, and the row, for each such row."""
        places, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for run in filter(len, self.runs):
            at = np.searchsorted(run.hashes, hashes)
            here = np.flatnonzero(run.hashes[np.minimum(at, len(run) - 1)] == hashes)
            if len(here):
                begin = at[here]
                sizes = np.searchsorted(run.hashes, hashes[here], "right") - begin
                ends = np.cumsum(sizes)
                places.append(np.repeat(here, sizes))
                rows.append(run.rows[np.arange(ends[-1]) + np.repeat(begin - ends + sizes, sizes)])
        return np.concatenate(places), np.concatenate(rows)

    def added(self, hashes: U64, rows: I64, keep: Callable[[I64], Bools] | None = None) -> IdTable:
        """Return a table with more rows; rows that need not be known any more are left out of runs that are merged."""
        if not len(hashes):
            return self
        order = np.argsort(hashes, kind="stable")

        def merge(a: HashedRows, b: HashedRows) -> HashedRows:
            merged = a.followed_by(b)
            return merged if keep is None else merged.kept(keep(merged.rows))

        return IdTable(self.runs.added(HashedRows(hashes[order], rows[order]), merge))


def hash_ids(ids: Any) -> U64:
    """Return a 64-bit hash of each id: integers are their own, anything else has a multilinear hash of its bytes."""
    ids = _plain(ids)
    if ids.type == pa.int64():
        return np.asarray(ids.to_numpy(zero_copy_only=False)).view(np.uint64)
    if not len(ids):
        return np.empty(0, np.uint64)
    if len(ids) > _PIECE:
        return np.concatenate([hash_ids(ids[start : start + _PIECE]) for start in range(0, len(ids), _PIECE)])
    _, offset_buffer, data_buffer = ids.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8)[first:last] if last > first else np.empty(0, np.uint8)
    lengths = np.diff(offsets)
    position = np.arange(last - first) - np.repeat(offsets[:-1] - first, lengths)
    weights = _mix(np.arange(1, min(int(lengths.max()), _WEIGHTS) + 2, dtype=np.uint64) * _GOLDEN)
    sums = np.zeros(last - first + 1, np.uint64)
    np.cumsum(data * weights[position % len(weights)], out=sums[1:])
    return _mix(sums[offsets[1:] - first] - sums[offsets[:-1] - first] + lengths.astype(np.uint64) * _GOLDEN)


def same_ids(a: Any, b: Any) -> Bools:
    """Say which ids of two arrays are the same, place by place."""
    return np.asarray(pc.equal(a, b).to_numpy(zero_copy_only=False), np.bool_)


def _plain(ids: Any) -> Any:
    """Return ids as 64-bit integers or large strings of the same order of bits; other types by what they read as."""
    kind = ids.type
    if kind in (pa.int64(), pa.large_string(), pa.large_binary()):
        return ids
    try:
        if pa.types.is_integer(kind):
            return ids.cast(pa.int64(), safe=False)  # of 64 bits without a sign, the same bits
        return ids.cast(pa.large_binary() if pa.types.is_binary(kind) else pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise MismatchError(f"ids of type {kind} cannot be told apart: use strings or integers") from error


def _mix(value: U64) -> U64:
    """Return splitmix64's finaliser of each value."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _bytes(data: Any) -> NDArray[np.uint8]:
    return np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
