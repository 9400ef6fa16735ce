"""Runs that stream by: chunk after chunk in their order, met by a batch that is prepared for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import I64, Bools
from sosie.kernels.tables.hits import Hits, concat_hits, lowest_rows, take_hits
from sosie.matches.store.run import StoreRun
from sosie.parallel import ordered_map
from sosie.planner.constants.joins import STORE_CHUNK as CHUNK
from sosie.storage.resident import give_back_rows


class Task(NamedTuple):
    """Consecutive rows of a run, by their places, for one thread; `pieces` are what a tile needs to know of them."""

    begin: int
    end: int
    pieces: Any = None


class Tile(ABC):
    """Some queries of a batch, from number `begin` on, prepared so that sorted rows can stream by."""

    def __init__(self, begin: int, count: int) -> None:
        self.begin = begin
        self.answered: Bools = np.zeros(count, np.bool_)

    @abstractmethod
    def tasks(self, run: StoreRun) -> Iterator[Task]:
        """Yield all rows of a run that may be matches, in order."""

    @abstractmethod
    def meet(self, run: StoreRun, task: Task) -> tuple[Hits, I64]:
        """Return the matches of queries without an answer, by number in the tile, and the places of their rows.

        With them, how many rows were compared, and how many look-ups that took.
        """


class Found(NamedTuple):
    """What was found in one run: queries by number in the batch, and the places of their matches."""

    run: StoreRun
    hits: Hits


class Streaming(NamedTuple):
    """How runs stream by: with `first`, one match of each query is enough. `own` is the run of the batch itself.

    Of that, only the rows before a query are matches of it.
    """

    first: bool = False
    own: StoreRun | None = None
    threads: int | None = None

    def past(self, tiles: Iterable[Tile], runs: Sequence[StoreRun]) -> tuple[list[Found], dict[str, int]]:
        """Let all runs stream past each tile; return what was found, and what that took."""
        found, counters = [], Counter({"comparisons": 0, "probes": 0, "chunks": 0, "bytes_read": 0})
        for tile in tiles:
            for run in [*runs, *([] if self.own is None else [self.own])]:
                for chunk in _chunks(tile.tasks(run), run.words.shape[1]):
                    if self.first and tile.answered.all():
                        break
                    met = list(ordered_map(lambda task: tile.meet(run, task), chunk, self.threads))  # noqa: B023
                    hits = self._wanted(tile, run, concat_hits([hits for hits, _ in met]))
                    if len(hits.rows):
                        found.append(Found(run, hits._replace(queries=hits.queries + np.int32(tile.begin))))
                    work = np.sum([work for _, work in met], axis=0)
                    rows = sum(task.end - task.begin for task in chunk)
                    counters.update(comparisons=int(work[0]), probes=int(work[1]), chunks=1)
                    counters.update(bytes_read=rows * run.words[:1].nbytes)
                    give_back_rows(run.words, chunk[0].begin, chunk[-1].end)
        return found, dict(counters)

    def _wanted(self, tile: Tile, run: StoreRun, hits: Hits) -> Hits:
        if run is self.own:
            hits = take_hits(hits, np.flatnonzero(run.sorted.rows[hits.rows] < hits.queries + tile.begin))
        if self.first and len(hits.rows):
            hits = take_hits(hits, lowest_rows(hits, len(tile.answered)))
            tile.answered[hits.queries] = True
        return hits


def _chunks(tasks: Iterable[Task], width: int) -> Iterator[list[Task]]:
    """Put tasks together as long as they have less than a chunk."""
    chunk: list[Task] = []
    size = 0
    for task in tasks:
        chunk.append(task)
        size += (task.end - task.begin) * width
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
