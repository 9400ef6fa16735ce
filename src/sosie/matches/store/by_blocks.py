"""A batch matched by block tables: they are built around the batch, which is small, and the store streams by (PSM 7.2).

Every row of the store is looked up in them: all matches are found, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.index.block_run import UNCUT, BlockCut, BlockRun, checked_shape
from sosie.index.ids import live_bits
from sosie.kernels.tables.blocks import Store
from sosie.kernels.tables.hits import Hits
from sosie.matches.store.run import StoreRun
from sosie.matches.store.streaming import Task, Tile
from sosie.planner.constants.joins import STORE_QUERIES as _MOST
from sosie.planner.constants.joins import STORE_TASK as TASK
from sosie.planner.methods.blocks import choose_header
from sosie.types import Signatures


def block_cut(batch: Signatures, radius: int, blocks: int | None) -> BlockCut:
    """Return into how many blocks bits are cut: as asked, or as costs least for so many queries."""
    _, given, header = checked_shape(batch.bits, radius, blocks, None)
    if given is not None and header is not None:
        return BlockCut.of(batch.bits, given, header)
    if radius >= batch.bits:
        return BlockCut.of(batch.bits, *UNCUT)
    header = choose_header(batch.bits, radius, len(batch))
    return BlockCut.of(batch.bits, radius + header, header)


def block_tiles(batch: Signatures, cut: BlockCut, radius: int) -> Iterator[Tile]:
    """Yield the queries of a batch in tables."""
    for begin in range(0, len(batch), _MOST):
        yield _BlockTile(begin, read_only(batch.words[begin : begin + _MOST]), cut, radius)


class _BlockTile(Tile):
    """Queries in tables."""

    def __init__(self, begin: int, words: U64, cut: BlockCut, radius: int) -> None:
        super().__init__(begin, len(words))
        self._words = words
        self._radius = radius
        self._run = BlockRun.of(words, 0, cut)
        self._waiting = live_bits(len(words))
        self._answers = 0

    def tasks(self, run: StoreRun) -> Iterator[Task]:
        """Yield all rows of a run."""
        rows = max(1, TASK // run.words.shape[1])
        for begin in range(0, len(run), rows):
            yield Task(begin, min(begin + rows, len(run)))

    def meet(self, run: StoreRun, task: Task) -> tuple[Hits, I64]:
        """Look some rows of a run up in the tables."""
        store = Store(self._words, read_only(self._live()))
        hits, compared = self._run.find(store, read_only(run.words[task.begin : task.end]), self._radius, False)
        probes = (task.end - task.begin) * len(self._run.cut.headers)
        found = Hits(hits.rows.astype(np.int32), task.begin + hits.queries.astype(np.int64), hits.distances)
        return found, np.array([compared, probes])

    def _live(self) -> U64:
        """Return a bit for each query without an answer."""
        answers = int(np.count_nonzero(self.answered))
        if answers != self._answers:  # all threads of a chunk come to the same
            self._waiting, self._answers = live_bits(len(self._words), np.flatnonzero(self.answered)), answers
        return self._waiting
