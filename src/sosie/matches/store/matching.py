"""A batch is matched with runs, by probes or by block tables, and what is found is put in order."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import UsageError
from sosie.index.answers import no_matches
from sosie.index.base import check_count
from sosie.index.flips import FlipModel
from sosie.index.probe_search import Calibration, ProbeSearch
from sosie.index.probing import Probing
from sosie.kernels.tables.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.matches.store.by_blocks import block_cut, block_tiles
from sosie.matches.store.by_probes import probe_tiles, probing
from sosie.matches.store.files import StoreState
from sosie.matches.store.planned import plan_batch, search_by
from sosie.matches.store.run import StoreRun
from sosie.matches.store.streaming import Found, Streaming, Tile
from sosie.planner.outcome import Outcome
from sosie.types import I64, Matches, Signatures


@dataclass(frozen=True, eq=False)
class Matching:
    """How a batch is matched: by so many probes, or by block tables cut into so many blocks.

    Where neither is given it is planned, so that the share `recall` is found.
    """

    radius: int
    first: bool
    search: ProbeSearch | None
    blocks: int | None
    flips: FlipModel | None
    threads: int | None
    recall: float | None = None

    def check(self, batch: Signatures) -> None:
        """Refuse a radius or blocks that signatures of this width do not have."""
        check_count("radius", self.radius, 0, batch.bits)
        if self.search is None:
            block_cut(batch, self.radius, self.blocks)

    def probing(self, state: StoreState, batch: Signatures, itself: bool) -> Probing:
        """Return which headers are probed."""
        assert self.search is not None
        rows = state.rows + (len(batch) if itself else 0)
        return probing(batch.bits, rows, self.radius, self.search.probes, self.flips)

    def matches(self, state: StoreState, batch: Signatures, own: StoreRun | None) -> Matches:
        """Return the matches in a store, and before each row in the batch itself if its run is given."""
        self.check(batch)
        if not len(batch) or not (state.rows or own):
            return replace(no_matches(len(batch)), ids=pa.array([], pa.int64()))
        if self.search is None and self.blocks is None:
            return self._planned(state, batch, own)
        return self._found(state, batch, own)

    def _planned(self, state: StoreState, batch: Signatures, own: StoreRun | None) -> Matches:
        """Plan how the batch is matched, and hold what was expected beside what happened."""
        asked = 1.0 if self.recall is None else self.recall
        rows = state.rows + (0 if own is None else len(own))
        plan = plan_batch(rows, batch, self.radius, asked, first=self.first, threads=self.threads)
        candidate = plan.chosen or plan.candidates[0]
        search, blocks = search_by(candidate)
        began = time.perf_counter()
        found = replace(self, search=search, blocks=blocks)._found(state, batch, own)
        seconds = round(time.perf_counter() - began, 3)
        work = {name: (float(value), found.counters.get(name)) for name, value in candidate.estimate.work.items()}
        outcome = Outcome.of(candidate, asked, measured=found.recall, seconds=seconds, work=work)
        return replace(found, recall=found.recall or candidate.estimate.recall, planned=outcome)

    def _found(self, state: StoreState, batch: Signatures, own: StoreRun | None) -> Matches:
        """Find the matches by what is given, or by tables."""
        streaming, recall = Streaming(self.first, own, self.threads), 1.0 if self.search is None else None
        tiles: Iterable[Tile]
        if self.search is None:
            tiles = block_tiles(batch, block_cut(batch, self.radius, self.blocks), self.radius)
        else:
            search = self.probing(state, batch, own is not None)
            longest = max(longest_run(state.runs), 0 if own is None else len(own))
            tiles = probe_tiles(batch, search, longest, self.threads)
            recall = self._recall(search, batch)
        found, counters = streaming.past(tiles, state.runs.runs)
        return _answer(found, batch, counters, recall)

    def _recall(self, search: Probing, batch: Signatures) -> float | None:
        if search.complete:
            return 1.0
        asked = self.radius, self.first, len(search.header), batch.volatility is not None
        known = self.search
        return known.recall if isinstance(known, Calibration) and known.holds(*asked) else None


def _answer(found: list[Found], batch: Signatures, counters: dict[str, int], recall: float | None) -> Matches:
    """Return what was found in the order of matches, with rows and ids instead of places."""
    parts = [Hits(each.hits.queries, each.run.rows_at(each.hits.rows), each.hits.distances) for each in found]
    hits = concat_hits(parts)
    hits = take_hits(hits, np.argsort(hits.rows))  # those of one query have different rows
    offsets, rows, distances = sort_hits(hits, len(batch), batch.bits)
    runs = {each.run.first: each.run for each in found}
    return Matches(offsets, rows, distances, _ids_of(rows, list(runs.values())), counters, recall)


def _ids_of(rows: I64, runs: list[StoreRun]) -> Any:
    """Return the ids of rows, each of which is in one of some runs."""
    if not runs:
        return pa.array([], pa.int64())
    if all(run.ids is None for run in runs):
        return pa.array(rows)
    runs = sorted(runs, key=lambda run: run.first)
    of = np.searchsorted([run.first for run in runs], rows, "right") - 1
    order = np.argsort(of, kind="stable")
    cuts = np.searchsorted(of[order], np.arange(len(runs) + 1))
    parts = [run.ids_of(rows[order[cuts[i] : cuts[i + 1]]]) for i, run in enumerate(runs)]
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return pa.concat_arrays(parts).take(pa.array(back))


def search_of(probes: int | ProbeSearch | None, blocks: int | None) -> ProbeSearch | None:
    """Return how far probes go, None for block tables; both at once are refused."""
    if probes is not None and blocks is not None:
        raise UsageError("a batch is matched by probes or by block tables: give probes or blocks, not both")
    return probes if probes is None or isinstance(probes, ProbeSearch) else ProbeSearch(probes)


def longest_run(runs: Iterable[StoreRun]) -> int:
    """Return how many rows the longest of some runs has."""
    return max(map(len, runs), default=0)
