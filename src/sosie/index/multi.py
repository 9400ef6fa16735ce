"""Multi-index hashing: exact top-k and radius search by look-ups in tables of substrings (Norouzi et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError, UsageError
from sosie.index.base import State, check_room
from sosie.index.block_run import TABLES, UNCUT, BlockCut, BlockRun
from sosie.index.files import check_array
from sosie.index.flat import FlatIndex, FlatRows
from sosie.index.ids import RowIds
from sosie.index.segments import Segments, with_rows_of
from sosie.index.untrusted import check_padding, whole
from sosie.kernels.planes.top import UNFILLED
from sosie.kernels.tables.blocks import BlockTables
from sosie.kernels.tables.multi import COMPARISONS, PROBES, Prices, RunRows, near_by_tables, top_by_tables
from sosie.parallel import ordered_map, thread_count
from sosie.planner.constants.search import COMPARE, FETCH, PROBE, TELLING
from sosie.planner.constants.search import SHORT_RUN as SHORT
from sosie.planner.methods.blocks import word_bytes
from sosie.planner.methods.multi import WIDEST, choose_tables, least_room, least_tables, patience
from sosie.storage.size import show_size
from sosie.types import I64, U64, Bools, Counters, Matches, Signatures, offsets_of

_PRICES = Prices(PROBE, COMPARE, FETCH, TELLING)
_GIVEN_UP = -1  # instead of the number of a query's keys
_ROWS = 2**32 - 1
_ROW = 2**48 - 1  # a key is distance << 48 | row
_TILE = 64  # queries of one piece of work
_Part = tuple[I64, I64, Counters]  # of some queries: how many keys each has, the keys in order, and the work


@dataclass(frozen=True, eq=False)
class MultiRun:
    """A run of rows with tables for substrings of their bits, and the words of the rows."""

    words: U64
    tables: BlockRun

    @property
    def first(self) -> int:
        """The lowest row."""
        return self.tables.first

    def __len__(self) -> int:
        return len(self.words)

    def put_rows(self, rows: U64, begin: int) -> None:
        """Write the words to the places of their rows, of which `begin` is the first there."""
        rows[self.first - begin : self.first - begin + len(self)] = self.words

    def arrays(self) -> dict[str, Any]:
        """Return the arrays from which the run is made again."""
        return {**self.tables.arrays(), "words": self.words}


@dataclass(frozen=True, eq=False)
class MultiRows(FlatRows):
    """Rows as bit planes, and in runs of tables."""

    runs: Segments[MultiRun]


class MultiIndex(FlatIndex):
    """Exact top-k and radius search by look-ups, as long as they cost less than comparing all rows.

    The bits are cut into `tables` substrings of up to 28 bits, and there is a table for each, addressed by its value.
    Signatures that differ in at most r bits differ in at most `r // tables` bits in some substring: the values around
    each of the query's substrings are looked up, the nearest first, until every row that can be in the answer was seen.
    By default a substring has `log2(rows) - 5` bits.

    A query whose look-ups and lists would take more than half the time of a scan is compared with every row instead,
    as by `FlatIndex`; the counter `scanned` tells how many were, `probes` how many values were looked up. In
    `benchmarks.hamming`, the 10 nearest of four million clustered rows of 64 bits are found several times faster than
    by a scan, and the rows within 10 bits more than ten times faster. Wide signatures pay within a radius of up to some
    20 bits; their k nearest are as a rule farther away, and looking in vain makes a search up to twice as long.

    The signatures are held twice, and a table takes 12 bytes for each row and 4 for each value; more than the machine's
    memory is refused. Added rows form a run with tables of its own; a run is merged into the one before it as soon as
    that is less than twice as long. Fewer than 1024 rows have no tables and are looked through.

    >>> index = MultiIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64)))
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(self, signatures: Signatures, tables: int | None = None) -> None:
        self._tables = _checked_tables(signatures.bits, tables)
        super().__init__(signatures)

    @property
    def tables(self) -> int:
        """Into how many substrings the bits of the longest run are cut; 1 where there are too few rows for tables."""
        runs: Segments[MultiRun] = self._state.stored.runs
        return len(runs.runs[0].tables.cut.headers) if runs else 1

    def _check_room(self, rows: int) -> None:
        if rows > _ROWS:
            raise UsageError(f"a MultiIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        shape, once = self._shape(rows), word_bytes(rows, self.bits)
        needed = least_room(rows, self.bits, *shape)
        check_room(f"{rows:,} rows in {shape[0]:,} tables", needed, f"a FlatIndex takes {show_size(once)}")

    def _nothing_stored(self) -> MultiRows:
        return MultiRows(super()._nothing_stored().planes, Segments())

    def _appended(self, state: State, ids: RowIds, values: U64) -> MultiRows:
        stored: MultiRows = state.stored

        def build(first: int, merged: tuple[MultiRun, ...]) -> MultiRun:
            words = read_only(with_rows_of(merged, values))
            return MultiRun(words, BlockRun.of(words, first, BlockCut.of(self.bits, *self._shape(len(words))), WIDEST))

        return MultiRows(stored.appended(len(state.ids), values), stored.runs.grown(len(values), build, SHORT))

    def _shape(self, rows: int) -> tuple[int, int]:
        """Return into how many substrings a run of so many rows is cut, and that one of them makes an address."""
        return UNCUT if rows < SHORT else (self._tables or choose_tables(self.bits, rows), 1)

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        parameters, arrays = super()._saved(state)
        runs: Segments[MultiRun] = state.stored.runs
        saved = [{"count": len(run), "cut": run.tables.cut.shape} for run in runs]
        return {**parameters, "tables": self._tables, "runs": saved}, {**arrays, **runs.arrays()}

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        flat = super()._restored(ids, parameters, arrays)
        self._tables = _checked_tables(self.bits, parameters["tables"])

        def restore(first: int, count: int, saved: Any, own: Any) -> MultiRun:
            tables, chosen = (whole("tables", number, 0, self.bits) for number in saved["cut"])
            if (tables, chosen) != UNCUT and (_checked_tables(self.bits, tables) is None or chosen != 1):
                raise StorageError(f"tables of {chosen} substrings out of {tables}")
            check_array(own["words"], np.uint64, (count, -(-self.bits // 64)))
            check_padding(own["words"], self.bits)
            cut = BlockCut.of(self.bits, tables, chosen)
            return MultiRun(read_only(own["words"]), BlockRun.restored(first, count, cut, own, WIDEST))

        runs = Segments.restored(parameters["runs"], len(ids), arrays, (*TABLES, "words"), restore)
        return MultiRows(flat.planes, runs)

    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        def look_up(part: U64) -> _Part:
            left, best, work = self._patience(state, part), np.full((len(part), k), UNFILLED), np.zeros(4, np.int64)
            for tables, rows in _searched(state):
                work += top_by_tables(tables, rows, part, _PRICES, left, best)
            sizes = np.where(left < 0, _GIVEN_UP, k)
            return sizes, np.sort(best[sizes > 0], axis=1).reshape(-1), _counters(work)

        scan = partial(super()._top, state, k=k, effort=effort, threads=threads)
        return _answer(look_up, scan, queries, threads)

    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        def look_up(part: U64) -> _Part:
            left, work, found = self._patience(state, part), np.zeros(4, np.int64), []
            for tables, rows in _searched(state):
                sizes = np.empty(len(part), np.int64)
                keys, counted = near_by_tables(tables, rows, part, radius, (_PRICES, left), sizes)
                found.append((np.repeat(np.arange(len(part)), sizes), keys))
                work += counted
            asked, keys = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            return *in_order(asked, keys, left < 0, first), _counters(work)

        scan = partial(super()._near, state, radius=radius, first=first, effort=effort, threads=threads)
        return _answer(look_up, scan, queries, threads)

    def _patience(self, state: State, queries: U64) -> I64:
        """Return what each query may cost in tables, in planes of a block that a scan counts."""
        return np.full(len(queries), patience(len(state.ids), state.stored.planes.shape[1]))


def _checked_tables(bits: int, tables: int | None) -> int | None:
    if tables is not None and not (type(tables) is int and least_tables(bits) <= tables <= bits):
        raise UsageError(
            f"{bits} bits are cut into {least_tables(bits)} to {bits} substrings of up to {WIDEST} bits, got {tables}"
        )
    return tables


def _counters(work: I64) -> Counters:
    return {"comparisons": int(work[COMPARISONS]), "probes": int(work[PROBES])}


def _searched(state: State) -> list[tuple[BlockTables, RunRows]]:
    """Return the tables and the rows of every run."""
    runs: Segments[MultiRun] = state.stored.runs
    live = read_only(state.ids.live)
    return [(run.tables.tables, RunRows(run.words, live, run.first)) for run in runs]


def in_order(asked: I64, keys: I64, given_up: Bools, first: bool) -> tuple[I64, I64]:
    """Return how many keys each query has and the keys, in order, from keys and the queries that asked for them.

    With `first`, every query has the key of its lowest row alone. Keys of queries that were given up are left out.

    >>> found = np.array([7, 2 << 48 | 3, 1 << 48 | 5])
    >>> sizes, keys = in_order(np.array([2, 0, 0]), found, given_up=np.zeros(3, np.bool_), first=True)
    >>> sizes.tolist(), (keys >> 48).tolist(), (keys & 2**48 - 1).tolist()
    ([1, 0, 1], [2, 0], [3, 7])
    """
    wanted = ~given_up[asked]
    asked, keys = asked[wanted], keys[wanted]
    order = np.lexsort((keys & _ROW if first else keys, asked))
    if first:
        order = order[np.unique(asked[order], return_index=True)[1]]
    sizes = np.bincount(asked[order], minlength=len(given_up))
    sizes[given_up] = _GIVEN_UP
    return sizes, keys[order]


def _answer(
    look_up: Callable[[U64], _Part], scan: Callable[[Signatures], Matches], queries: Signatures, threads: int | None
) -> Matches:
    """Look up all queries, some at a time on threads, and scan for those that were given up.

    The counters are those of the look-ups, with the comparisons of the scan, and `scanned`, the number of its queries.
    """
    tiles = [read_only(queries.words[start : start + _TILE]) for start in range(0, len(queries), _TILE)]
    parts = list(ordered_map(look_up, tiles, min(thread_count(threads), len(tiles))))
    sizes, keys = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    counters = {name: sum(part[2][name] for part in parts) for name in parts[0][2]}
    given_up = sizes == _GIVEN_UP
    if np.any(given_up):
        far = scan(queries.take(np.flatnonzero(given_up)))
        counters["comparisons"] += far.counters["comparisons"]
        sizes[given_up] = np.diff(far.offsets)
        scanned = np.repeat(given_up, sizes)
        near, keys = keys, np.empty(len(scanned), np.int64)
        keys[~scanned], keys[scanned] = near, far.distances.astype(np.int64) << 48 | far.rows
    counters["scanned"] = int(np.count_nonzero(given_up))
    return Matches(offsets_of(sizes), keys & _ROW, (keys >> 48).astype(np.int32), None, counters, 1.0)
