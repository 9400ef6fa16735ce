"""Multi-index hashing: exact top-k and radius search by look-ups in tables of substrings (Norouzi et al. 2012)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sosie.errors import StorageError, UsageError
from sosie.index.block_run import BlockRun
from sosie.index.cut import UNCUT, Cut
from sosie.index.files import State, check_array
from sosie.index.flat import FlatIndex
from sosie.kernels.arrays import read_only
from sosie.kernels.block_tables import BlockTables
from sosie.kernels.multi_tables import COMPARISONS, PROBES, Rows, near_by_tables, top_by_tables
from sosie.kernels.parallel import ordered_map, thread_count
from sosie.kernels.plane_top import UNFILLED
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import I64, U64, Bools, Matches, Signatures, offsets_of

SHORT = 1024  # a run of fewer rows has no tables: it is looked through
PATIENCE = 1.0  # the share of a scan's time that a query may take in tables before it is given to a scan
WIDEST = 28  # bits of a substring that can be an address
_ROWS = 2**32 - 1
_TILE = 64  # queries of one piece of work
_GIVEN_UP = -1  # instead of a number of keys
_ROW = 2**48 - 1  # the bits of a key that are the row
_Part = tuple[I64, I64, I64]  # of some queries: how many keys each has, the keys in order, and the work


class MultiIndex(FlatIndex):
    """Exact top-k and radius search by look-ups where they are fewer than the rows, else as `FlatIndex`.

    The bits are cut into `tables` substrings, and there is a table for each, addressed by its value. Signatures that
    differ in at most r bits differ in at most `r // tables` bits in some substring, so the values around each of the
    query's substrings are looked up, nearer ones first, until no row that was not seen can be among the answer.

    >>> index = MultiIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64)))
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(self, signatures: Signatures, tables: int | None = None) -> None:
        self._tables = _checked_tables(signatures.bits, tables)
        self._runs: list[tuple[U64, BlockRun]] = []
        super().__init__(signatures)

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        if rows > _ROWS:
            raise UsageError(f"a MultiIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        tables, _ = self._shape(rows)
        needed, there = _table_bytes(self.bits, tables, rows) + 16 * signatures.words.shape[1] * rows, physical_memory()
        if needed > there:
            raise UsageError(
                f"{rows:,} rows in {tables:,} tables need about {show_size(needed)} of memory, and this machine has "
                f"{show_size(there)}: choose other tables or a FlatIndex"
            )
        super().add(signatures)

    def _append(self, words: U64) -> None:
        first = self._rows
        super()._append(words)
        while self._runs and len(self._runs[-1][0]) < max(SHORT, 2 * len(words)):
            before, run = self._runs.pop()
            words, first = np.concatenate([before, words]), run.first
        words = read_only(np.array(words))
        self._runs.append((words, BlockRun.of(words, first, Cut.of(self.bits, *self._shape(len(words))), WIDEST)))

    def _shape(self, rows: int) -> tuple[int, int]:
        """Return into how many substrings a run of so many rows is cut, and that one of them is an address."""
        return UNCUT if rows < SHORT else (self._tables or choose_tables(self.bits, rows), 1)

    def _state(self) -> State:
        parameters, arrays = super()._state()
        runs = [{"count": run.count, "cut": run.cut.shape} for _, run in self._runs]
        for i, (words, run) in enumerate(self._runs):
            arrays = {**arrays, **{f"run{i}_{name}": array for name, array in run.arrays().items()}}
            arrays[f"run{i}_words"] = words
        return {**parameters, "tables": self._tables, "runs": runs}, arrays

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        super()._restore(parameters, arrays)
        self._tables = _checked_tables(self.bits, parameters["tables"])
        self._runs, first = [], 0
        for i, saved in enumerate(parameters["runs"]):
            count, (tables, chosen) = saved["count"], saved["cut"]
            if (tables, chosen) != UNCUT and (chosen != 1 or _checked_tables(self.bits, tables) is None):
                raise StorageError(f"{chosen} of {tables} substrings in a table")
            if not 0 < count <= self._rows - first:
                raise StorageError("a run has rows that are not there")
            words = arrays[f"run{i}_words"]
            check_array(words, np.uint64, (count, -(-self.bits // 64)))
            named = {name: arrays[f"run{i}_{name}"] for name in ("near", "rows", "starts")}
            cut = Cut.of(self.bits, tables, chosen)
            self._runs.append((read_only(words), BlockRun.restored(first, count, cut, named, WIDEST)))
            first += count
        if first != self._rows:
            raise StorageError("the runs do not hold all rows")

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        def look_up(part: U64) -> _Part:
            left, best, work = self._patience(part), np.full((len(part), k), UNFILLED), np.zeros(4, np.int64)
            for tables, rows in self._searched():
                work += top_by_tables(tables, rows, part, left, best)
            sizes = np.where(left < 0, _GIVEN_UP, k)
            return sizes, np.sort(best[sizes > 0], axis=1).reshape(-1), work

        scan = partial(super()._top, k=k, threads=threads)
        return _answer(_on_tiles(look_up, queries.words, threads), queries, scan)

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        def look_up(part: U64) -> _Part:
            left, work, found = self._patience(part), np.zeros(4, np.int64), []
            for tables, rows in self._searched():
                sizes = np.empty(len(part), np.int64)
                keys, state = near_by_tables(tables, rows, part, radius, left, sizes)
                found.append((np.repeat(np.arange(len(part)), sizes), keys))
                work += state
            asked, keys = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            sizes, keys = _ordered(asked, keys, left < 0, first)
            return sizes, keys, work

        scan = partial(super()._near, radius=radius, first=first, threads=threads)
        return _answer(_on_tiles(look_up, queries.words, threads), queries, scan)

    def _searched(self) -> list[tuple[BlockTables, Rows]]:
        """Return the tables and the rows of every run."""
        live = read_only(self._live.reshape(-1))
        return [(run.tables, Rows(words, live, run.first)) for words, run in self._runs]

    def _patience(self, queries: U64) -> I64:
        """Return what each query may cost in tables, in planes of a block that a scan counts."""
        blocks, planes, _ = self._planes.shape
        return np.full(len(queries), int(PATIENCE * blocks * planes))


def choose_tables(bits: int, rows: int) -> int:
    """Return into how many substrings to cut: about log2(rows) bits each, and no more than can be an address.

    >>> [choose_tables(64, 1 << log) for log in (10, 16, 22, 32)], choose_tables(1024, 1 << 20), choose_tables(8, 1 << 20)
    ([6, 4, 3, 3], 51, 1)
    """
    return max(round(bits / math.log2(rows)), -(-bits // WIDEST))


def _checked_tables(bits: int, tables: int | None) -> int | None:
    if tables is not None and not -(-bits // WIDEST) <= tables <= bits:
        raise UsageError(
            f"{bits} bits are cut into {-(-bits // WIDEST)} to {bits} substrings of up to {WIDEST} bits, got {tables}"
        )
    return tables


def _table_bytes(bits: int, tables: int, rows: int) -> int:
    """Return how much memory tables of so many rows take."""
    return tables * (12 * rows + 4 * (1 << -(-bits // tables)))


def _on_tiles(look_up: Callable[[U64], _Part], queries: U64, threads: int | None) -> list[_Part]:
    tiles = [read_only(queries[start : start + _TILE]) for start in range(0, len(queries), _TILE)]
    return list(ordered_map(look_up, tiles, min(thread_count(threads), len(tiles))))


def _ordered(asked: I64, keys: I64, given_up: Bools, first: bool) -> tuple[I64, I64]:
    """Return how many keys each query has and the keys, in order; with `first`, that of the lowest row alone."""
    wanted = ~given_up[asked]
    asked, keys = asked[wanted], keys[wanted]
    order = np.lexsort((keys & _ROW if first else keys, asked))
    if first:
        order = order[np.unique(asked[order], return_index=True)[1]]
    sizes = np.bincount(asked[order], minlength=len(given_up))
    sizes[given_up] = _GIVEN_UP
    return sizes, keys[order]


def _answer(parts: list[_Part], queries: Signatures, scan: Callable[[Signatures], Matches]) -> Matches:
    """Return what tables found, with what a scan finds for the queries that were given up."""
    sizes, keys, work = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    probes, comparisons = (int(work.reshape(len(parts), -1)[:, place].sum()) for place in (PROBES, COMPARISONS))
    given_up = np.flatnonzero(sizes == _GIVEN_UP)
    if len(given_up):
        far = scan(queries.take(given_up))
        comparisons += far.counters["comparisons"]
        sizes[given_up] = np.diff(far.offsets)
        scanned = np.repeat(np.isin(np.arange(len(sizes)), given_up), sizes)
        looked_up, keys = keys, np.empty(len(scanned), np.int64)
        keys[~scanned], keys[scanned] = looked_up, far.distances.astype(np.int64) << 48 | far.rows
    counters = {"comparisons": comparisons, "probes": probes, "scanned": len(given_up)}
    return Matches(offsets_of(sizes), keys & _ROW, (keys >> 48).astype(np.int32), None, counters, 1.0)
