"""A batch matched by probes: its likely flips, worked out once and sorted, meet sorted runs (PSM 6.3, 7.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sosie.arrays import I64, U32, U64, read_only
from sosie.errors import UsageError
from sosie.index.flips import FlipModel, checked_volatility
from sosie.index.probe_run import ProbeHeader
from sosie.index.probing import ProbedRows, ProbeTile, Probing
from sosie.kernels.tables.hits import Hits
from sosie.kernels.tables.streamed import (
    QUERIES,
    Asked,
    Probes,
    count_probes,
    leads_of,
    meet_probes,
    part_bounds,
    place_probes,
)
from sosie.matches.store.run import StoreRun
from sosie.matches.store.streaming import Task, Tile
from sosie.parallel import ordered_map
from sosie.planner.constants.joins import STORE_PART as _PART
from sosie.planner.constants.joins import STORE_PROBES as MOST
from sosie.planner.constants.joins import STORE_TASK as TASK
from sosie.planner.methods.probes import shape
from sosie.types import Signatures, offsets_of

_TILE = 4096  # queries whose flips are worked out at a time
_PARTS = 14  # parts, as a power of 2, at most


def probing(bits: int, rows: int, radius: int, probes: int, model: FlipModel | None) -> Probing:
    """Return which headers are probed in a store of so many rows, by the leading log2 of them, rounded."""
    places = ProbeHeader.of(np.arange(bits - shape(bits, rows), bits))
    return Probing(ProbedRows((), np.empty(0, np.uint64), model), places, bits, radius, probes)


def probe_tiles(batch: Signatures, search: Probing, largest: int, threads: int | None) -> Iterator[Tile]:
    """Yield the queries of a batch, as many at a time as their probes are few; `largest` is the longest run."""
    if search.probes > MOST:
        raise UsageError(f"{search.probes:,} probes of each query are too many: choose fewer, or block tables")
    parts = max(0, min(largest.bit_length() - 1 - _PART, len(search.header), _PARTS))
    size = min(MOST // search.probes, QUERIES)
    sums = checked_volatility(batch)
    for begin in range(0, len(batch), size):
        chosen = slice(begin, begin + size)
        tile = ProbeTile(batch.words, sums).take(chosen)
        yield _ProbeTile(begin, tile, search, parts, threads)


class _ProbeTile(Tile):
    """Queries by their probes, part by part."""

    def __init__(self, begin: int, tile: ProbeTile, search: Probing, parts: int, threads: int | None) -> None:
        super().__init__(begin, len(tile.words))
        self._words: U64 = tile.words
        self._search = search
        self._parts = parts
        flips = np.empty((len(tile.words), search.probes), np.uint32)

        def work_out(start: int) -> None:
            flips[start : start + _TILE] = search.flips(tile.take(slice(start, start + _TILE)))

        for _ in ordered_map(work_out, range(0, len(tile.words), _TILE), threads):
            pass
        self._probes = _placed(tile.words, flips, search, parts)

    def tasks(self, run: StoreRun) -> Iterator[Task]:
        """Yield the parts of a run that have probes, cut where they are long and put together where they are short."""
        bounds, starts = part_bounds(run.words, run.bits, self._parts), self._probes.starts
        asked = np.flatnonzero((np.diff(bounds) > 0) & (np.diff(starts) > 0))
        rows = max(1, TASK // run.words.shape[1])
        counts = -(-(bounds[asked + 1] - bounds[asked]) // rows)
        part, number = np.repeat(asked, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        begins = bounds[part] + number * rows
        pieces = np.stack([part, begins, np.minimum(begins + rows, bounds[part + 1])], axis=1)
        for chosen in _together(pieces[:, 2] - pieces[:, 1], rows):
            some = pieces[chosen]
            yield Task(int(some[0, 1]), int(some[-1, 2]), read_only(np.ascontiguousarray(some)))

    def meet(self, run: StoreRun, task: Task) -> tuple[Hits, I64]:
        """Look the probes up in pieces of a run."""
        asked = Asked(self._words, len(self._search.header), read_only(self.answered))
        return meet_probes(run.words, run.bits, task.pieces, self._probes, asked, self._search.radius)


def _placed(words: U64, flips: U32, search: Probing, parts: int) -> Probes:
    leads, header = leads_of(words, search.bits), len(search.header)
    counts = np.zeros(1 << parts, np.int64)
    count_probes(leads, flips, header, counts)
    starts = offsets_of(counts)
    made = Probes(np.empty(starts[-1], np.uint64), np.empty(starts[-1], np.uint32), starts)
    place_probes(leads, flips, header, starts[:-1].copy(), made)
    return Probes(read_only(made.leads), read_only(made.origins), read_only(made.starts))


def _together(sizes: I64, most: int) -> Iterator[slice]:
    """Yield slices of consecutive sizes that have about `most` together."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = ends[begin] - sizes[begin]
        end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(begin, end)
        begin = end
