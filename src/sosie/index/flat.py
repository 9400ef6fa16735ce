"""The exhaustive index: every row is compared, exactly, over bit planes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from sosie.arrays import aligned_zeros, read_only
from sosie.errors import StorageError, UsageError
from sosie.index.base import State, check_room
from sosie.index.files import check_array
from sosie.index.hamming import HammingIndex
from sosie.index.ids import RowIds
from sosie.kernels.planes.layout import BLOCK, ask_planes, get_rows, plane_count, set_rows
from sosie.kernels.planes.top import UNFILLED, plane_top
from sosie.kernels.planes.within import plane_within, room_within
from sosie.kernels.tables.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.planner.methods.flat import least_room, workers_for
from sosie.types import I64, U64, Matches, Signatures, offsets_of

R = TypeVar("R")
TILE = 64  # queries that share a pass over the rows
_WIDEST = 16384  # bits; distances are held in 15 bits
_MANY = 2**62  # more matches than there can be
_Task = tuple[int, int, int]  # first query, first block, last block


@dataclass(frozen=True, eq=False)
class FlatRows:
    """Rows as bit planes. There may be room behind them, where nobody looks who has no bits of live rows there."""

    planes: U64

    def appended(self, begin: int, words: U64) -> U64:
        """Return planes with rows from `begin` on, written into the room behind the others if there is enough.

        Room grows by halves, so that adding row by row costs little.
        """
        have, blocks, planes = len(self.planes), -(-(begin + len(words)) // BLOCK), self.planes
        if blocks > have or not planes.flags.writeable:
            planes = aligned_zeros((max(blocks, have + have // 2), *planes.shape[1:]))
            planes[:have] = self.planes
        set_rows(planes, begin, read_only(words))
        return planes


class FlatIndex(HammingIndex):
    """Exact search of up to 16384 bits by comparing every row.

    The rows are held as bit planes only (`kernels.planes`): counting over planes is faster than comparing row by row at
    every width, for a batch and for one query. They take as much memory as the signatures, up to 31 bits of padding.

    >>> index = FlatIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64), bits=1 * 64))
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(self, signatures: Signatures) -> None:
        if signatures.bits > _WIDEST:
            raise UsageError(f"an index holds signatures of up to {_WIDEST} bits, got {signatures.bits}")
        super().__init__(signatures)

    def _nothing_stored(self) -> FlatRows:
        return FlatRows(aligned_zeros((0, plane_count(self.bits), BLOCK // 64)))

    def _appended(self, state: State, ids: RowIds, values: U64) -> FlatRows:
        stored: FlatRows = state.stored
        return FlatRows(stored.appended(len(state.ids), values))

    def _check_room(self, rows: int) -> None:
        check_room(f"{rows:,} rows of {self.bits} bits", least_room(rows, self.bits), "use fewer rows or bits")

    def _words(self, state: State) -> U64:
        words = np.empty((len(state.ids), -(-self.bits // 64)), np.uint64)
        get_rows(read_only(state.stored.planes), words)
        return words

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        parameters, arrays = super()._saved(state)
        live = state.ids.live.reshape(-1, BLOCK // 64)
        return parameters, {**arrays, "planes": state.stored.planes[: len(live)], "live": live}

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        super()._restored(ids, parameters, arrays)
        if not 1 <= self.bits <= _WIDEST:
            raise StorageError(f"signatures of {self.bits} bits")
        planes, live = arrays["planes"], arrays["live"]
        blocks = -(-len(ids) // BLOCK)
        check_array(planes, np.uint64, (blocks, plane_count(self.bits), BLOCK // 64))
        check_array(live, np.uint64, (blocks, BLOCK // 64))
        if planes[:, self.bits :].any():
            raise StorageError(f"signatures of more than {self.bits} bits")
        if not np.array_equal(live.reshape(-1), ids.live):
            raise StorageError("the rows that are marked are not those that were not removed")
        return FlatRows(planes)

    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        planes, live = _scanned(state)

        def run(task: _Task) -> I64:
            query, first, last = task
            asked = ask_planes(queries.words[query : query + TILE], planes.shape[1])
            best = np.full((len(asked.order), k), UNFILLED)
            plane_top(planes, live, first, last, asked, best)
            return best

        pieces = _by_tile(run, live, len(queries) * planes.shape[1], len(queries), threads)
        best = np.concatenate([np.sort(np.concatenate(parts, axis=1), axis=1)[:, :k] for parts in pieces]).reshape(-1)
        offsets = np.arange(len(queries) + 1) * k
        counters = {"comparisons": len(queries) * len(state)}
        return Matches(offsets, best & (2**48 - 1), (best >> 48).astype(np.int32), None, counters, 1.0)

    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        planes, live = _scanned(state)

        def run(task: _Task) -> Hits:
            part = queries.words[task[0] : task[0] + TILE]
            return _scan((planes, live), part, task[1:], radius, np.full(len(part), 1 if first else _MANY))

        found = []
        for start, parts in enumerate(_by_tile(run, live, len(queries) * planes.shape[1], len(queries), threads)):
            hits = concat_hits(parts)
            if first:  # every span of rows may have brought one
                hits = take_hits(hits, np.unique(hits.queries, return_index=True)[1])
            found.append(sort_hits(hits, min(TILE, len(queries) - start * TILE), self.bits))
        sizes = np.concatenate([np.diff(offsets) for offsets, _, _ in found])
        rows, distances = np.concatenate([f[1] for f in found]), np.concatenate([f[2] for f in found])
        looked_at = _up_to_first(sizes, rows, len(state)) if first else len(sizes) * len(state)
        return Matches(offsets_of(sizes), rows, distances, None, {"comparisons": looked_at}, 1.0)


def _scanned(state: State) -> tuple[U64, U64]:
    """Return the planes of a state and the bits of its rows, block by block."""
    return read_only(state.stored.planes), read_only(state.ids.live.reshape(-1, BLOCK // 64))


def _scan(held: tuple[U64, U64], queries: U64, span: tuple[int, int], radius: int, wanted: I64) -> Hits:
    """Collect the matches of some queries in a span of blocks, a room full at a time; `wanted` is counted down."""
    planes, live = held
    asked = ask_planes(queries, planes.shape[1])
    room = room_within(len(queries), planes.shape[1])
    pieces, block = [], span[0]
    while True:
        block, count = plane_within(planes, live, block, span[1], asked, radius, wanted, room)
        pieces.append(take_hits(room, slice(count)))
        if block >= span[1]:
            return concat_hits(pieces)


def _by_tile(run: Callable[[_Task], R], live: U64, work: int, queries: int, threads: int | None) -> list[list[R]]:
    """Run every tile of queries, split by rows where there are too few tiles; results are grouped by tile.

    `work` is the number of planes that are counted in each block.
    """
    blocks, tiles = len(live), -(-queries // TILE)
    workers = workers_for(work, blocks, thread_count(threads))
    parts = min(-(-2 * workers // tiles), blocks) if 1 < workers and tiles < 2 * workers else 1
    cuts = [blocks * part // parts for part in range(parts + 1)]
    tasks = [(t * TILE, cuts[p], cuts[p + 1]) for t in range(tiles) for p in range(parts)]
    results = zip(tasks, ordered_map(run, tasks, min(workers, len(tasks))), strict=True)
    return [[result for _, result in tile] for _, tile in groupby(results, key=lambda pair: pair[0][0])]


def _up_to_first(sizes: I64, rows: I64, present: int) -> int:
    """Return the rows up to the first match, or all where there is none."""
    return int(np.sum(rows + 1)) + int(np.sum(sizes == 0)) * present
