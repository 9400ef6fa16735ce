"""The index of keys: which rows share a key with this one?"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError, StorageError
from sosie.index.files import State, check_array, check_starts, write_index
from sosie.index.ids import RowIds
from sosie.index.room import check_room
from sosie.kernels.tables.hits import Hits, concat_hits, room_for_hits, sort_hits, take_hits
from sosie.kernels.tables.keys import KeyTables, build_tables, directory_bits, find_rows, most_found
from sosie.parallel import ordered_map, spans
from sosie.types import I32, I64, U64, Bools, Keys, Matches

_ROOM = 1 << 20  # rows that one piece of work may find


class KeyIndex:
    """Rows by their keys, as sorted tables with a directory, so that a look-up costs a step or two.

    Added rows form a run of their own; a run is merged into the one before it as soon as that is less than twice as
    long, so that there are few runs and every row is sorted few times.

    >>> index = KeyIndex(Keys(np.array([[1, 5], [2, 5], [1, 6]], np.uint64)))
    >>> found = index.candidates(Keys(np.array([[1, 6]], np.uint64)))
    >>> found.rows.tolist(), found.distances.tolist()
    ([2, 0], [0, 1])
    """

    def __init__(self, keys: Keys) -> None:
        self._tables: int = keys.values.shape[1]
        self._digest = keys.digest
        self._ids = RowIds()
        self._removed = np.empty(0, np.int64)
        self._runs: list[tuple[U64, int, KeyTables]] = []
        self.add(keys)

    def __len__(self) -> int:
        return len(self._ids) - len(self._removed)

    @property
    def tables(self) -> int:
        """The number of keys of a row."""
        return self._tables

    @property
    def digest(self) -> str | None:
        """The spec that made the keys, None if unknown."""
        return self._digest

    @property
    def ids(self) -> Any:
        """The id of every row that was ever added, by row number, as an Arrow array."""
        return self._ids.all

    @property
    def row_ids(self) -> RowIds:
        """What knows the rows by their ids."""
        return self._ids

    def add(self, keys: Keys) -> None:
        """Append rows; they are found at once. A known id raises `MismatchError`.

        More than the machine's memory can hold is refused.
        """
        self._check(keys)
        rows = len(self._ids) + len(keys)
        needed = self._tables * (24 * rows + (8 << directory_bits(rows)))
        check_room(f"{rows:,} rows of {self._tables} keys", needed, "use fewer rows or tables")
        first = len(self._ids)
        self._ids.add(keys.ids)
        values = np.array(keys.values)
        if not len(values):
            return
        while self._runs and len(self._runs[-1][0]) < 2 * len(values):
            before, first, _ = self._runs.pop()
            values = np.concatenate([before, values])
        self._runs.append((values, first, build_tables(values, first)))

    def remove(self, ids: Any) -> None:
        """Remove rows by their ids; the other rows keep their numbers. An unknown id raises `MismatchError`."""
        self._removed = np.concatenate([self._removed, self._ids.remove(ids)])

    def candidates(self, queries: Keys, *, threads: int | None = None) -> Matches:
        """Return for each query the rows that share a key in some table, each once.

        They are ordered by (number of tables that do not agree, row); that number is their distance. The counter
        `looked_up` tells how many table entries were read.
        """
        self._check(queries)
        values = np.ascontiguousarray(queries.values)
        bounds = sum((most_found(run, values) for _, _, run in self._runs), np.zeros(len(values), np.int64))
        cuts = spans(np.concatenate([[0], np.cumsum(bounds)]), _ROOM)
        live = np.ones(len(self._ids), np.bool_)
        live[self._removed] = False
        found = list(ordered_map(lambda cut: self._find(values[cut[0] : cut[1]], live), cuts, threads))
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part[0]) for part in found)])
        rows = np.concatenate([np.empty(0, np.int64), *(part[1] for part in found)])
        distances = np.concatenate([np.empty(0, np.int32), *(part[2] for part in found)])
        return Matches(np.cumsum(sizes), rows, distances, self._ids.of(rows), {"looked_up": int(bounds.sum())})

    def save(self, directory: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the index to a directory, from which `load_index` maps it without building it again.

        The directory appears whole. It must not exist or be empty; `overwrite` replaces one that Sosie wrote.
        """
        arrays: dict[str, Any] = {"removed": self._removed}
        for i, (values, _, run) in enumerate(self._runs):
            parts = {"values": values, "keys": run.keys, "rows": run.rows, "directory": run.directory}
            arrays |= {f"run{i}_{name}": array for name, array in parts.items()}
        parameters = {"tables": self._tables, "runs": [len(values) for values, _, _ in self._runs]}
        write_index(directory, "KeyIndex", self._ids, self.digest, (parameters, arrays), overwrite=overwrite)

    @classmethod
    def restored(cls, ids: RowIds, digest: str | None, state: State) -> Self:
        """Return the index that `save` wrote; for `load_index`, which has checked what it can."""
        parameters, arrays = state
        index = cls.__new__(cls)
        index._tables, index._digest, index._ids, index._runs = int(parameters["tables"]), digest, ids, []
        index._removed = np.array(arrays["removed"])
        first = 0
        for i, count in enumerate(parameters["runs"]):
            values = arrays[f"run{i}_values"]
            check_array(values, np.uint64, (count, index._tables))
            named = {name: read_only(arrays[f"run{i}_{name}"]) for name in ("keys", "rows", "directory")}
            tables = KeyTables(**named, bits=directory_bits(count))
            _check_tables(tables, index._tables, first, count)
            index._runs.append((values, first, tables))
            first += count
        if first != len(ids):
            raise StorageError("the runs do not hold all rows")
        return index

    def _find(self, queries: U64, live: Bools) -> tuple[I64, I64, I32]:
        hits = concat_hits([_find_in(run, queries, first) for _, first, run in self._runs])
        return sort_hits(take_hits(hits, np.flatnonzero(live[hits.rows])), len(queries), self._tables)

    def _check(self, other: Keys) -> None:
        if other.values.shape[1] != self._tables:
            raise MismatchError(f"keys of {other.values.shape[1]} tables do not fit an index of {self._tables}")
        if self.digest is not None and other.digest is not None and other.digest != self.digest:
            raise MismatchError(
                f"keys of spec {other.digest} do not fit an index of spec {self.digest}: make both the same way"
            )


def _find_in(run: KeyTables, queries: U64, first: int) -> Hits:
    room = room_for_hits(int(np.minimum(most_found(run, queries), run.keys.shape[1]).sum()))
    return take_hits(room, slice(find_rows(run, queries, first, room)))


def _check_tables(run: KeyTables, tables: int, first: int, count: int) -> None:
    """Refuse tables from a file if a look-up in them could leave the arrays."""
    check_array(run.keys, np.uint64, (tables, count))
    check_array(run.rows, np.int64, (tables, count))
    check_array(run.directory, np.int64, (tables, (1 << run.bits) + 1))
    check_starts(run.directory, count)
    if np.any(run.rows < first) or np.any(run.rows >= first + count):
        raise StorageError("a table names a row that is not in it")
