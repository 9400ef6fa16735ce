"""The block index: all rows within a small radius, exactly, by look-ups in tables (Manku et al. 2007; PSM 7.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.index.answers import joined_matches
from sosie.index.base import State, check_room
from sosie.index.block_run import TABLES, UNCUT, BlockCut, BlockRun, checked_shape
from sosie.index.files import check_array
from sosie.index.flat import FlatIndex, FlatRows
from sosie.index.ids import RowIds
from sosie.index.segments import Segments, written_behind
from sosie.index.untrusted import check_padding, whole, whole_or_none
from sosie.kernels.tables.blocks import Store
from sosie.kernels.tables.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.planner.constants.search import SHORT_RUN as SHORT
from sosie.planner.methods.blocks import choose_header, least_room
from sosie.types import U64, Matches, Signatures, offsets_of

_ROWS = 2**32 - 1
_TILE = 1024  # queries of one piece of work,
_SMALL_TILE = 64  # and of one where most of what is found is not wanted


@dataclass(frozen=True, eq=False)
class BlockRows(FlatRows):
    """Rows as bit planes, as words with room behind them, and in runs of tables."""

    words: U64
    runs: Segments[BlockRun]


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
    and are looked through. `any_within` reads one table after another and stops at the first row that it meets. The
    counter `probes` tells how often a table was looked up.

    >>> index = BlockIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64)), radius=1)
    >>> matches = index.within(Signatures(np.array([0b001], np.uint64)), radius=1)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(
        self, signatures: Signatures, radius: int = 3, blocks: int | None = None, header: int | None = None
    ) -> None:
        self._radius, self._blocks, self._header = checked_shape(signatures.bits, radius, blocks, header)
        super().__init__(signatures)

    @property
    def radius(self) -> int:
        """Up to which radius the tables answer."""
        return self._radius

    def _check_room(self, rows: int) -> None:
        if rows > _ROWS:
            raise UsageError(f"a BlockIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        tables = math.comb(*self._shape(rows))
        remedy = "choose fewer tables (header=1, a smaller radius) or a FlatIndex"
        check_room(f"{rows:,} rows in {tables:,} tables", least_room(rows, self.bits, tables), remedy)

    def _nothing_stored(self) -> BlockRows:
        words = np.empty((0, -(-self.bits // 64)), np.uint64)
        return BlockRows(super()._nothing_stored().planes, words, Segments())

    def _appended(self, state: State, ids: RowIds, values: U64) -> BlockRows:
        stored: BlockRows = state.stored
        begin, rows = len(state.ids), len(ids)
        planes, words = stored.appended(begin, values), written_behind(stored.words, begin, values)

        def build(first: int, merged: tuple[BlockRun, ...]) -> BlockRun:
            return BlockRun.of(words[first:rows], first, BlockCut.of(self.bits, *self._shape(rows - first)))

        return BlockRows(planes, words, stored.runs.grown(len(values), build, SHORT))

    def _words(self, state: State) -> U64:
        stored: BlockRows = state.stored
        return stored.words[: len(state.ids)]

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        parameters, arrays = super()._saved(state)
        given = {"radius": self._radius, "blocks": self._blocks, "header": self._header}
        runs: Segments[BlockRun] = state.stored.runs
        saved = [{"first": run.first, "count": run.count, "cut": run.cut.shape} for run in runs]
        return {**parameters, **given, "runs": saved}, {**arrays, "words": self._words(state), **runs.arrays()}

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        flat = super()._restored(ids, parameters, arrays)
        radius = whole("radius", parameters["radius"], 0, self.bits)
        given = (whole_or_none(name, parameters[name], 1, self.bits) for name in ("blocks", "header"))
        self._radius, self._blocks, self._header = checked_shape(self.bits, radius, *given)
        words = arrays["words"]
        check_array(words, np.uint64, (len(ids), -(-self.bits // 64)))
        check_padding(words, self.bits)

        def restore(first: int, count: int, saved: Any, own: Any) -> BlockRun:
            return BlockRun.restored(first, count, _checked_cut(self.bits, self._radius, *saved["cut"]), own)

        runs = Segments.restored(parameters["runs"], len(ids), arrays, TABLES, restore)
        return BlockRows(flat.planes, words, runs)

    def _shape(self, rows: int) -> tuple[int, int]:
        """Return into how many blocks a run of so many rows is cut, and how many are in a header."""
        if rows < SHORT:
            return UNCUT
        if self._blocks and self._header:
            return self._blocks, self._header
        header = choose_header(self.bits, self._radius, rows)
        return self._radius + header, header

    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        if radius > self._radius:
            return super()._near(state, queries, radius, first, effort, threads)
        parts = _on_tiles(lambda tile: self._look_up(state, tile, radius, first), queries.words, _TILE, threads)
        return replace(joined_matches(parts), recall=1.0)

    def _any(self, state: State, queries: Signatures, radius: int, effort: Any, threads: int | None) -> Matches:
        if radius > self._radius:
            return super()._any(state, queries, radius, effort, threads)
        parts = _on_tiles(lambda tile: self._meet(state, tile, radius), queries.words, _TILE, threads)
        return replace(joined_matches(parts), recall=1.0)

    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        parts = _on_tiles(lambda tile: self._nearest(state, tile, k), queries.words, _SMALL_TILE, threads)
        found = joined_matches(parts)
        sizes, counters = np.diff(found.offsets), dict(found.counters)
        enough, others = np.flatnonzero(sizes), np.flatnonzero(sizes == 0)
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.int32)
        rows[enough], distances[enough] = found.rows.reshape(-1, k), found.distances.reshape(-1, k)
        if len(others):
            far = super()._top(state, queries.take(others), k, effort, threads)
            rows[others], distances[others] = far.rows.reshape(-1, k), far.distances.reshape(-1, k)
            counters["comparisons"] += far.counters["comparisons"]
        return Matches(np.arange(len(queries) + 1) * k, rows.reshape(-1), distances.reshape(-1), None, counters, 1.0)

    def _meet(self, state: State, queries: U64, radius: int) -> Matches:
        """Find one row of each query by tables, on one thread: no table is read after the one that has it."""
        store = Store(read_only(self._words(state)), read_only(state.ids.live))
        waiting, met, work = np.arange(len(queries)), [], np.zeros(2, np.int64)
        for run in state.stored.runs:
            hits, more = run.meet(store, read_only(queries[waiting]), radius)
            work += more
            met.append(Hits(waiting[hits.queries].astype(np.int32), hits.rows, hits.distances))
            waiting = np.delete(waiting, hits.queries)
            if not len(waiting):
                break
        counters = {"comparisons": int(work[0]), "probes": int(work[1])}
        return Matches(*sort_hits(concat_hits(met), len(queries), self.bits), None, counters)

    def _nearest(self, state: State, queries: U64, k: int) -> Matches:
        """Return the k nearest rows of the queries for which tables know them, and no row of the others."""
        near = self._look_up(state, queries, self._radius, False)
        enough = np.diff(near.offsets) >= k
        places = (near.offsets[:-1][enough, None] + np.arange(k)).reshape(-1)
        return Matches(offsets_of(k * enough), near.rows[places], near.distances[places], None, near.counters)

    def _look_up(self, state: State, queries: U64, radius: int, first: bool) -> Matches:
        """Find rows by tables, on one thread."""
        store = Store(read_only(self._words(state)), read_only(state.ids.live))
        runs: Segments[BlockRun] = state.stored.runs
        found = [run.find(store, read_only(queries), radius, first) for run in runs]
        hits = concat_hits([hits for hits, _ in found])
        hits = take_hits(hits, np.argsort(hits.rows, kind="stable"))
        if first:  # every run, and every table of it, may have brought one
            hits = take_hits(hits, np.unique(hits.queries, return_index=True)[1])
        probes = len(queries) * sum(len(run.cut.headers) for run in runs)
        counters = {"comparisons": sum(work for _, work in found), "probes": probes}
        return Matches(*sort_hits(hits, len(queries), self.bits), None, counters)


def _on_tiles(run: Callable[[U64], Matches], queries: U64, size: int, threads: int | None) -> list[Matches]:
    tiles = [queries[start : start + size] for start in range(0, len(queries), size)]
    return list(ordered_map(run, tiles, min(thread_count(threads), len(tiles))))


def _checked_cut(bits: int, radius: int, blocks: int, header: int) -> BlockCut:
    """Return a cut that comes from a file."""
    blocks, header = whole("blocks", blocks, 1, bits), whole("header", header, 0, bits)
    if (blocks, header) != UNCUT:
        checked_shape(bits, radius, blocks, header)
    return BlockCut.of(bits, blocks, header)
