"""The index of keys: which rows share a key with this one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError
from sosie.index.answers import joined_matches, without_self
from sosie.index.base import Index, State, check_room
from sosie.index.files import check_array, check_starts
from sosie.index.ids import RowIds, are_live
from sosie.index.segments import Segments, with_rows_of
from sosie.index.untrusted import check_each_once, whole
from sosie.kernels.tables.hits import Hits, concat_hits, room_for_hits, sort_hits, take_hits
from sosie.kernels.tables.keys import KeyTables, build_tables, find_few_rows, find_rows, most_found
from sosie.parallel import ordered_map, spans
from sosie.planner.methods.keys import directory_bits, few, least_room
from sosie.shown import counted
from sosie.types import U64, Keys, Matches, offsets_of

_ROOM = 1 << 20  # rows that one piece of work may find
_ARRAYS = "values", "keys", "rows", "directory"  # of a run
_TABLES = 1 << 20  # more are in no file


@dataclass(frozen=True, eq=False)
class KeyRun:
    """A run of rows by their keys: the keys as they are, and sorted tables of them."""

    values: U64
    first: int
    tables: KeyTables

    def __len__(self) -> int:
        return len(self.values)

    def put_rows(self, rows: U64, begin: int) -> None:
        """Write the keys to the places of their rows, of which `begin` is the first there."""
        rows[self.first - begin : self.first - begin + len(self)] = self.values

    def arrays(self) -> dict[str, Any]:
        """Return the arrays from which the run is made again."""
        tables = self.tables
        return {"values": self.values, "keys": tables.keys, "rows": tables.rows, "directory": tables.directory}

    def find(self, queries: U64) -> Hits:
        """Return the rows that share keys with queries, each once, rows in order."""
        most = most_found(self.tables, queries)
        if few(int(most.sum()), len(self)):
            room = room_for_hits(int(most.sum()))
            return take_hits(room, slice(find_few_rows(self.tables, queries, room)))
        room = room_for_hits(int(np.minimum(most, len(self)).sum()))
        return take_hits(room, slice(find_rows(self.tables, queries, self.first, room)))


class KeyIndex(Index):
    """Rows by their keys, as sorted tables with a directory, so that a look-up costs a step or two.

    Added rows form a run of their own; runs are merged by the rule of `index.segments`.

    >>> index = KeyIndex(Keys(np.array([[1, 5], [2, 5], [1, 6]], np.uint64)))
    >>> found = index.candidates(Keys(np.array([[1, 6]], np.uint64)))
    >>> found.rows.tolist(), found.distances.tolist()
    ([2, 0], [0, 1])
    """

    rows_are = Keys

    def __init__(self, keys: Keys) -> None:
        self._tables: int = keys.values.shape[1]
        super().__init__(keys)

    def _what(self) -> str:
        return f" in {counted(self.tables, 'table')}"

    @property
    def tables(self) -> int:
        """The number of keys of a row."""
        return self._tables

    @property
    def keys(self) -> Keys:
        """The rows that are present, with their ids, in order."""
        state = self._state
        rows = state.ids.present_rows
        ids = None if state.ids.numbered and len(rows) == len(state.ids) else state.ids.of(rows)
        values = with_rows_of(state.stored.runs, np.empty((0, self._tables), np.uint64))
        return Keys(values[rows], ids, self.digest, space=self.space)

    def candidates(self, queries: Keys, *, exclude_self: bool = False, threads: int | None = None) -> Matches:
        """Return for each query the rows that share a key in some table, each once.

        They are ordered by (number of tables that do not agree, row); that number is their distance. With
        `exclude_self`, rows that have the id of the query do not count. The counter `looked_up` tells how many table
        entries were read.
        """
        self._check(queries)
        state = self._state
        runs: Segments[KeyRun] = state.stored
        values = np.ascontiguousarray(queries.values)
        bounds = sum((most_found(run.tables, values) for run in runs), np.zeros(len(values), np.int64))
        cuts = spans(offsets_of(bounds), _ROOM)
        parts = list(ordered_map(lambda cut: self._find(state, values[slice(*cut)]), cuts, threads))
        nothing = Matches(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))
        found = state.named(replace(joined_matches([nothing, *parts]), counters={"looked_up": int(bounds.sum())}))
        return without_self(found, queries.ids) if exclude_self else found

    def _find(self, state: State, queries: U64) -> Matches:
        hits = concat_hits([run.find(queries) for run in state.stored])
        hits = take_hits(hits, np.flatnonzero(are_live(state.ids.live, hits.rows)))
        return Matches(*sort_hits(hits, len(queries), self._tables))

    def _nothing_stored(self) -> Segments[KeyRun]:
        return Segments()

    def _appended(self, state: State, ids: RowIds, values: U64) -> Segments[KeyRun]:
        runs: Segments[KeyRun] = state.stored

        def build(first: int, merged: tuple[KeyRun, ...]) -> KeyRun:
            together = with_rows_of(merged, values)
            return KeyRun(together, first, build_tables(together, first, directory_bits(len(together))))

        return runs.grown(len(values), build)

    def _check_room(self, rows: int) -> None:
        check_room(f"{rows:,} rows of {self._tables} keys", least_room(rows, self._tables), "use fewer rows or tables")

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        runs: Segments[KeyRun] = state.stored
        return {"tables": self._tables, "runs": [len(run) for run in runs]}, runs.arrays()

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        self._tables = whole("tables", parameters["tables"], 1, _TABLES)

        def restore(first: int, count: int, saved: Any, own: Any) -> KeyRun:
            check_array(own["values"], np.uint64, (count, self._tables))
            named = {name: read_only(own[name]) for name in ("keys", "rows", "directory")}
            tables = KeyTables(**named, bits=directory_bits(count))
            _check_tables(tables, self._tables, first, count)
            return KeyRun(own["values"], first, tables)

        return Segments.restored(parameters["runs"], len(ids), arrays, _ARRAYS, restore)

    def _check(self, other: Keys) -> None:
        self._check_type(other)
        if (tables := other.values.shape[1]) != self._tables:
            raise MismatchError(
                f"keys of {tables} tables do not fit an index of {self._tables}: make both the same way"
            )
        self._check_space(other, "keys", "make both the same way")


def _check_tables(run: KeyTables, tables: int, first: int, count: int) -> None:
    """Refuse tables from a file if a look-up in them could leave the arrays."""
    check_array(run.keys, np.uint64, (tables, count))
    check_array(run.rows, np.int64, (tables, count))
    check_array(run.directory, np.int64, (tables, (1 << run.bits) + 1))
    check_starts(run.directory, count)
    check_each_once(run.rows, first, count)
