"""The exhaustive index: every row is compared, exactly, over bit planes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from sosie.arrays import aligned_zeros, read_only
from sosie.errors import StorageError, UsageError
from sosie.index.base import Index
from sosie.index.files import State, check_array
from sosie.index.live import forget_bits, live_bits
from sosie.index.room import check_room
from sosie.kernels.planes.layout import BLOCK, ask_planes, get_rows, plane_count, set_rows
from sosie.kernels.planes.top import UNFILLED, plane_top
from sosie.kernels.planes.within import plane_within, room_within
from sosie.kernels.tables.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.types import I64, U64, Matches, Signatures

R = TypeVar("R")
WORTH_A_THREAD = 1 << 19  # planes to be counted; starting a thread takes as long
TILE = 64  # queries that share a pass over the rows
_WIDEST = 16384  # bits; distances are held in 15 bits
_MANY = 2**62  # more matches than there can be
_Task = tuple[int, int, int]  # first query, first block, last block


class FlatIndex(Index):
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
        self._planes = aligned_zeros((0, plane_count(signatures.bits), BLOCK // 64))
        self._live = aligned_zeros((0, BLOCK // 64))
        self._rows = 0
        super().__init__(signatures)

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        check_room(f"{rows:,} rows of {self.bits} bits", rows * plane_count(self.bits) // 8, "use fewer rows or bits")
        super().add(signatures)

    def _append(self, words: U64) -> None:
        rows = self._rows + len(words)
        self._reserve(-(-rows // BLOCK))
        set_rows(self._planes, self._rows, words)
        set_rows(self._live.reshape(-1, 1, BLOCK // 64), self._rows, np.ones((len(words), 1), np.uint64))
        self._rows = rows

    def _reserve(self, blocks: int) -> None:
        """Make room for blocks; room grows by halves, so that adding row by row costs little."""
        have = len(self._planes)
        if blocks <= have and self._planes.flags.writeable:
            return
        room = max(blocks, have + have // 2)
        planes, live = aligned_zeros((room, *self._planes.shape[1:])), aligned_zeros((room, BLOCK // 64))
        planes[:have], live[:have] = self._planes, self._live
        self._planes, self._live = planes, live

    def _forget(self, rows: I64) -> None:
        if not self._live.flags.writeable:
            live = aligned_zeros(self._live.shape)
            live[:] = self._live
            self._live = live
        forget_bits(self._live.reshape(-1), rows)

    def _words(self) -> U64:
        words = np.empty((self._rows, -(-self.bits // 64)), np.uint64)
        get_rows(read_only(self._planes), words)
        return words

    def _state(self) -> State:
        blocks = -(-self._rows // BLOCK)
        return {}, {"planes": self._planes[:blocks], "live": self._live[:blocks]}

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        if not 1 <= self.bits <= _WIDEST:
            raise StorageError(f"signatures of {self.bits} bits")
        self._planes, self._live, self._rows = arrays["planes"], arrays["live"], len(self._ids)
        blocks = -(-self._rows // BLOCK)
        check_array(self._planes, np.uint64, (blocks, plane_count(self.bits), BLOCK // 64))
        check_array(self._live, np.uint64, (blocks, BLOCK // 64))
        alive, expected = self._live.reshape(-1), live_bits(self._rows, self._removed)
        if not np.array_equal(alive[: len(expected)], expected) or np.any(alive[len(expected) :]):
            raise StorageError("the rows that are marked are not those that were not removed")

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        def run(task: _Task) -> I64:
            query, first, last = task
            asked = ask_planes(queries.words[query : query + TILE], self._planes.shape[1])
            best = np.full((len(asked.order), k), UNFILLED)
            plane_top(read_only(self._planes), read_only(self._live), first, last, asked, best)
            return best

        pieces = self._by_tile(run, len(queries), threads)
        best = np.concatenate([np.sort(np.concatenate(parts, axis=1), axis=1)[:, :k] for parts in pieces]).reshape(-1)
        offsets = np.arange(len(queries) + 1) * k
        counters = {"comparisons": len(queries) * len(self)}
        return Matches(offsets, best & (2**48 - 1), (best >> 48).astype(np.int32), None, counters, 1.0)

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        def run(task: _Task) -> Hits:
            part = queries.words[task[0] : task[0] + TILE]
            return self._scan(part, task[1:], radius, np.full(len(part), 1 if first else _MANY))

        found = []
        for start, parts in enumerate(self._by_tile(run, len(queries), threads)):
            hits = concat_hits(parts)
            if first:  # every span of rows may have brought one
                hits = take_hits(hits, np.unique(hits.queries, return_index=True)[1])
            found.append(sort_hits(hits, min(TILE, len(queries) - start * TILE), self.bits))
        sizes = np.concatenate([np.diff(offsets) for offsets, _, _ in found])
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows, distances = np.concatenate([f[1] for f in found]), np.concatenate([f[2] for f in found])
        counters = {"comparisons": self._looked_at(sizes, rows, first)}
        return Matches(offsets, rows, distances, None, counters, 1.0)

    def _scan(self, queries: U64, span: tuple[int, int], radius: int, wanted: I64) -> Hits:
        """Collect the matches of some queries in a span of blocks, a room full at a time; `wanted` is counted down."""
        planes, live = read_only(self._planes), read_only(self._live)
        asked = ask_planes(queries, planes.shape[1])
        room = room_within(len(queries), planes.shape[1])
        pieces, block = [], span[0]
        while True:
            block, count = plane_within(planes, live, block, span[1], asked, radius, wanted, room)
            pieces.append(take_hits(room, slice(count)))
            if block >= span[1]:
                return concat_hits(pieces)

    def _by_tile(self, run: Callable[[_Task], R], queries: int, threads: int | None) -> list[list[R]]:
        """Run every tile of queries, split by rows where there are too few tiles; results are grouped by tile."""
        blocks = -(-self._rows // BLOCK)
        tiles = -(-queries // TILE)
        workers = min(thread_count(threads), 1 + queries * blocks * self._planes.shape[1] // WORTH_A_THREAD)
        parts = min(-(-2 * workers // tiles), blocks) if 1 < workers and tiles < 2 * workers else 1
        cuts = [blocks * part // parts for part in range(parts + 1)]
        tasks = [(t * TILE, cuts[p], cuts[p + 1]) for t in range(tiles) for p in range(parts)]
        results = zip(tasks, ordered_map(run, tasks, min(workers, len(tasks))), strict=True)
        return [[result for _, result in tile] for _, tile in groupby(results, key=lambda pair: pair[0][0])]

    def _looked_at(self, sizes: I64, rows: I64, first: bool) -> int:
        """Return the rows up to the first match where that was enough, else all."""
        if not first:
            return len(sizes) * len(self)
        return int(np.sum(rows + 1)) + int(np.sum(sizes == 0)) * len(self)
