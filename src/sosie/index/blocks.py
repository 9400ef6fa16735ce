"""The block index: all rows within a small radius, exactly, by look-ups in tables (Manku et al. 2007; PSM 7.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError, UsageError
from sosie.index.block_run import BlockRun, run_bytes
from sosie.index.cut import UNCUT, Cut, checked_shape, choose_header
from sosie.index.files import State, check_array
from sosie.index.flat import FlatIndex
from sosie.index.room import check_room
from sosie.kernels.tables.blocks import Store
from sosie.kernels.tables.hits import concat_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.types import U64, Matches, Signatures

SHORT = 1024  # a run of fewer rows has no tables: it is looked through
_ROWS = 2**32 - 1
_TILE = 1024  # queries of one piece of work,
_SMALL_TILE = 64  # and of one where most of what is found is not wanted


class BlockIndex(FlatIndex):
    """Exact search within a small radius, by tables; whatever they cannot answer is compared with all rows.

    The bits are cut into `blocks`, and there is a table for every choice of `header` blocks. Signatures that differ in
    at most `blocks - header` bits agree in one of the headers: up to that radius, which is at least `radius`, `within`
    is a look-up in each table. Beyond it, `within` compares every row, as `FlatIndex` does. `search` looks up what is
    within the tables' radius; only queries with fewer than k rows there are compared with every row.

    By default there are `radius + header` blocks, and `header` makes `tables * (64 + rows / 2**p)` least, where p is
    the mean number of bits in a header: 64 bits within radius 3 have 4 tables up to six million rows, then 10. The
    radius of the tables is at most bits - 1. The signatures are held twice, and a table takes 12 bytes for each row
    and up to 4 for its addresses; more than the machine's memory is refused.

    Added rows form a run with tables of its own; a run is merged into the one before it as soon as that is less than
    twice as long, so that there are few runs and every row is sorted few times. Fewer than 1024 rows have no tables
    and are looked through. The counter `probes` tells how often a table was looked up.

    >>> index = BlockIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64)), radius=1)
    >>> matches = index.within(Signatures(np.array([0b001], np.uint64)), radius=1)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(
        self, signatures: Signatures, radius: int = 3, blocks: int | None = None, header: int | None = None
    ) -> None:
        self._radius, self._blocks, self._header = checked_shape(signatures.bits, radius, blocks, header)
        self._store = np.empty((0, signatures.words.shape[1]), np.uint64)
        self._runs: list[BlockRun] = []
        super().__init__(signatures)

    @property
    def radius(self) -> int:
        """Up to which radius the tables answer."""
        return self._radius

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        if rows > _ROWS:
            raise UsageError(f"a BlockIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        tables = math.comb(*self._shape(rows))
        needed = run_bytes(rows, tables) + 16 * self._store.shape[1] * rows
        remedy = "choose fewer tables (header=1, a smaller radius) or a FlatIndex"
        check_room(f"{rows:,} rows in {tables:,} tables", needed, remedy)
        super().add(signatures)

    def _append(self, words: U64) -> None:
        first = self._rows
        super()._append(words)
        if not self._store.flags.writeable or len(self._store) < self._rows:
            store = np.empty((max(self._rows, first + first // 2), words.shape[1]), np.uint64)
            store[:first] = self._store[:first]
            self._store = store
        self._store[first : self._rows] = words
        while self._runs and self._runs[-1].count < max(SHORT, 2 * (self._rows - first)):
            first = self._runs.pop().first
        cut = Cut.of(self.bits, *self._shape(self._rows - first))
        self._runs.append(BlockRun.of(self._words()[first:], first, cut))

    def _words(self) -> U64:
        return self._store[: self._rows]

    def _state(self) -> State:
        parameters, arrays = super()._state()
        given = {"radius": self._radius, "blocks": self._blocks, "header": self._header}
        runs = [{"first": run.first, "count": run.count, "cut": run.cut.shape} for run in self._runs]
        tables = {f"run{i}_{name}": array for i, run in enumerate(self._runs) for name, array in run.arrays().items()}
        return {**parameters, **given, "runs": runs}, {**arrays, "words": self._words(), **tables}

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        super()._restore(parameters, arrays)
        given = (parameters[name] for name in ("radius", "blocks", "header"))
        self._radius, self._blocks, self._header = checked_shape(self.bits, *given)
        self._store = arrays["words"]
        check_array(self._store, np.uint64, (self._rows, -(-self.bits // 64)))
        self._runs, first = [], 0
        for i, run in enumerate(parameters["runs"]):
            cut = _checked_cut(self.bits, self._radius, *run["cut"])
            if run["first"] != first or not 0 < run["count"] <= self._rows - first:
                raise StorageError("the runs do not follow each other")
            named = {name: arrays[f"run{i}_{name}"] for name in ("near", "rows", "starts")}
            self._runs.append(BlockRun.restored(first, run["count"], cut, named))
            first += run["count"]
        if first != self._rows:
            raise StorageError("the runs do not hold all rows")

    def _shape(self, rows: int) -> tuple[int, int]:
        """Return into how many blocks a run of so many rows is cut, and how many are in a header."""
        if rows < SHORT:
            return UNCUT
        if self._blocks and self._header:
            return self._blocks, self._header
        header = choose_header(self.bits, self._radius, rows)
        return self._radius + header, header

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        if radius > self._radius:
            return super()._near(queries, radius, first, threads)
        parts = _on_tiles(lambda tile: self._look_up(tile, radius, first), queries.words, _TILE, threads)
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(found.offsets) for found in parts)])
        rows, distances = (np.concatenate([getattr(found, name) for found in parts]) for name in ("rows", "distances"))
        return Matches(np.cumsum(sizes), rows, distances, None, _sum_counters(parts), 1.0)

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        parts = _on_tiles(lambda tile: self._nearest(tile, k), queries.words, _SMALL_TILE, threads)
        sizes = np.concatenate([np.diff(found.offsets) for found in parts])
        enough, others = np.flatnonzero(sizes), np.flatnonzero(sizes == 0)
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.int32)
        rows[enough] = np.concatenate([found.rows for found in parts]).reshape(-1, k)
        distances[enough] = np.concatenate([found.distances for found in parts]).reshape(-1, k)
        counters = _sum_counters(parts)
        if len(others):
            far = super()._top(queries.take(others), k, threads)
            rows[others], distances[others] = far.rows.reshape(-1, k), far.distances.reshape(-1, k)
            counters["comparisons"] += far.counters["comparisons"]
        return Matches(np.arange(len(queries) + 1) * k, rows.reshape(-1), distances.reshape(-1), None, counters, 1.0)

    def _nearest(self, queries: U64, k: int) -> Matches:
        """Return the k nearest rows of the queries for which tables know them, and no row of the others."""
        near = self._look_up(queries, self._radius, False)
        enough = np.diff(near.offsets) >= k
        places = (near.offsets[:-1][enough, None] + np.arange(k)).reshape(-1)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(k * enough)])
        return Matches(offsets, near.rows[places], near.distances[places], None, near.counters)

    def _look_up(self, queries: U64, radius: int, first: bool) -> Matches:
        """Find rows by tables, on one thread."""
        store = Store(read_only(self._words()), read_only(self._live.reshape(-1)))
        found = [run.find(store, read_only(queries), radius, first) for run in self._runs]
        hits = concat_hits([hits for hits, _ in found])
        hits = take_hits(hits, np.argsort(hits.rows, kind="stable"))
        if first:  # every run, and every table of it, may have brought one
            hits = take_hits(hits, np.unique(hits.queries, return_index=True)[1])
        probes = len(queries) * sum(len(run.cut.headers) for run in self._runs)
        counters = {"comparisons": sum(work for _, work in found), "probes": probes}
        return Matches(*sort_hits(hits, len(queries), self.bits), None, counters)


def _on_tiles(run: Callable[[U64], Matches], queries: U64, size: int, threads: int | None) -> list[Matches]:
    tiles = [queries[start : start + size] for start in range(0, len(queries), size)]
    return list(ordered_map(run, tiles, min(thread_count(threads), len(tiles))))


def _sum_counters(parts: list[Matches]) -> dict[str, int]:
    return {name: sum(found.counters[name] for found in parts) for name in ("comparisons", "probes")}


def _checked_cut(bits: int, radius: int, blocks: int, header: int) -> Cut:
    """Return a cut that comes from a file."""
    if (blocks, header) != UNCUT:
        checked_shape(bits, radius, blocks, header)
    return Cut.of(bits, blocks, header)
