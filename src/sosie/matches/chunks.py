"""The tables of a sliding window and their chunks: rows in the order of permuted bits, and the pairs found there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time
from typing import NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.kernels.planes.ranges import Asked, near_each
from sosie.kernels.planes.weighed import stages_of, weigh
from sosie.kernels.tables.permuted import draw_permutation, permuted_order
from sosie.matches.order import packed, unpacked
from sosie.planner.constants.joins import WINDOW_CHUNK
from sosie.types import I64, U64


@dataclass(frozen=True)
class Window:
    """How signatures are joined by a sliding window: `tables` is Q of the paper, `window` is B and `chunk` is M.

    In each table the bits of all rows are permuted, and the rows are put in the order of the permuted signatures, equal
    ones by row. Each is compared with the `window` rows that follow. A table is worked off in chunks of `chunk` rows,
    which takes memory and changes nothing else.

    >>> Window(tables=100)
    Window(tables=100, window=2000, chunk=490000, seed=0)
    """

    tables: int = 300
    window: int = 2000
    chunk: int = WINDOW_CHUNK
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("tables", 1), ("window", 1), ("chunk", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**31:
                raise UsageError(f"the {name} of a window join must be a whole number from {least} on, got {value!r}")


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of all sides in the order of a table, and what it took to find it."""

    number: int
    order: I64
    making: float


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk of a table: `rows[carried:]`, and before them those of the chunks before that their windows reach."""

    table: Table
    rows: I64
    carried: int

    @property
    def making(self) -> float:
        """The share of the table's making that falls to the chunk, in seconds of a processor."""
        return self.table.making * (len(self.rows) - self.carried) / len(self.table.order)


class Detected(NamedTuple):
    """How many pairs were found in a chunk of a table, and what that took: rows, comparisons, seconds."""

    table: int
    pairs: int
    rows: int
    comparisons: int
    across: int
    making: float
    detecting: float


@dataclass(frozen=True, eq=False)
class WindowJoin:
    """What is joined, and how. Rows are numbered through: those of the second side come after the first."""

    sides: list[U64]
    bits: int
    radius: int
    by: Window

    @property
    def rows(self) -> int:
        """How many rows there are on all sides."""
        return sum(map(len, self.sides))

    @property
    def brute(self) -> int:
        """How many comparisons it takes to compare all with all."""
        first, *other = map(len, self.sides)
        return first * other[0] if other else first * (first - 1) // 2

    def order(self, table: int) -> Table:
        """Put all rows into the order of a table."""
        began = thread_time()
        order = permuted_order(self.sides, draw_permutation(self.bits, self.by.seed, table))
        return Table(table, order, thread_time() - began)

    def chunks(self, table: Table) -> Iterator[Chunk]:
        """Cut a table into chunks, each with the rows before it that are within the window of its first."""
        for start in range(0, len(table.order), self.by.chunk):
            before = max(start - self.by.window, 0)
            yield Chunk(table, table.order[before : start + self.by.chunk], start - before)

    def detect(self, chunk: Chunk, keep: Callable[[int, U64], None]) -> Detected:
        """Find the pairs of which the later row is in the chunk proper; `keep` takes the table and pairs, packed."""
        began = thread_time()
        stages = stages_of(self.bits, self.radius)
        asked, others, first, last = self._sought(chunk)
        rows = weigh(self._words(others), self.bits, stages)
        sought = Asked(read_only(self._words(asked)), read_only(first), read_only(last))
        made = thread_time()
        count = 0
        for queries, near in near_each(rows, sought, stages, self.radius):
            keep(chunk.table.number, packed(asked[queries], others[near]))
            count += len(near)
        size, carried, window = len(chunk.rows), chunk.carried, self.by.window
        comparisons = int(np.minimum(np.arange(carried, size), window).sum())
        return Detected(
            chunk.table.number,
            count,
            size - carried,
            comparisons,
            int((last - first).sum()),
            chunk.making + made - began,
            thread_time() - made,
        )

    def _sought(self, chunk: Chunk) -> tuple[I64, I64, I64, I64]:
        """Return the rows that ask, those that are compared with them, and where in these each begins and ends."""
        window, size, place = self.by.window, len(chunk.rows), np.arange(len(chunk.rows))
        if len(self.sides) == 1:
            later = place[chunk.carried :]
            return chunk.rows[later], chunk.rows, np.maximum(later - window, 0), later
        second = chunk.rows >= len(self.sides[0])
        sides = np.flatnonzero(~second), np.flatnonzero(second)
        asking, others = sorted(sides, key=len)  # who asks costs more
        least = np.where(asking < chunk.carried, chunk.carried, asking - window)
        first = np.searchsorted(others, least)
        last = np.maximum(np.searchsorted(others, np.minimum(asking + window, size), "right"), first)
        return chunk.rows[asking], chunk.rows[others], first, last

    def _words(self, rows: I64) -> U64:
        """Return rows of one side."""
        side = len(self.sides) - 1 if len(rows) and rows[0] >= len(self.sides[0]) else 0
        return self.sides[side][rows - (len(self.sides[0]) if side else 0)]

    def distances(self, pairs: U64) -> I64:
        """Return how far the rows of packed pairs are from each other."""
        a, b = unpacked(pairs)
        second = self.sides[-1][b - (len(self.sides[0]) if len(self.sides) > 1 else 0)]
        return np.asarray(np.bitwise_count(self.sides[0][a] ^ second).sum(axis=1, dtype=np.int64))
