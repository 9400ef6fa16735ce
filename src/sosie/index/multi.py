"""Multi-index hashing: exact top-k and radius search by look-ups in tables of substrings (Norouzi et al. 2012)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError, UsageError
from sosie.index.answer import GIVEN_UP, Part, answer, in_order
from sosie.index.block_run import BlockRun
from sosie.index.cut import UNCUT, Cut
from sosie.index.files import State, check_array
from sosie.index.flat import FlatIndex
from sosie.index.room import check_room
from sosie.kernels.planes.layout import BLOCK
from sosie.kernels.planes.top import UNFILLED
from sosie.kernels.tables.blocks import BlockTables
from sosie.kernels.tables.multi import COMPARISONS, PROBES, Rows, near_by_tables, top_by_tables
from sosie.storage.size import show_size
from sosie.types import I64, U64, Counters, Matches, Signatures

SHORT = 1024  # a run of fewer rows has no tables: it is looked through
PATIENCE = 0.5  # of a scan's time, that a query may take in tables before it is given to a scan
WIDEST = 28  # bits of a substring that can be an address
_ROWS = 2**32 - 1


class MultiIndex(FlatIndex):
    """Exact top-k and radius search by look-ups, as long as they cost less than comparing all rows.

    The bits are cut into `tables` substrings of up to 28 bits, and there is a table for each, addressed by its value.
    Signatures that differ in at most r bits differ in at most `r // tables` bits in some substring: the values around
    each of the query's substrings are looked up, the nearest first, until every row that can be in the answer was seen.
    By default a substring has `log2(rows) - 5` bits.

    A query whose look-ups and lists would take more than half the time of a scan is compared with every row instead,
    as by `FlatIndex`; the counter `scanned` tells how many were, `probes` how many values were looked up. In
    `benchmarks.hamming`, the 10 nearest of four million clustered rows of 64 bits are found several times faster than
    by a scan, and the rows within 10 bits more than ten times faster. Wide signatures pay within a radius of up to some
    20 bits; their k nearest are as a rule farther away, and looking in vain makes a search up to twice as long.

    The signatures are held twice, and a table takes 12 bytes for each row and 4 for each value; more than the machine's
    memory is refused. Added rows form a run with tables of its own; a run is merged into the one before it as soon as
    that is less than twice as long. Fewer than 1024 rows have no tables and are looked through.

    >>> index = MultiIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64)))
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist()
    ([0, 1], [1, 1])
    """

    def __init__(self, signatures: Signatures, tables: int | None = None) -> None:
        self._tables = _checked_tables(signatures.bits, tables)
        self._runs: list[tuple[U64, BlockRun]] = []
        super().__init__(signatures)

    @property
    def tables(self) -> int:
        """Into how many substrings the bits of the longest run are cut; 1 where there are too few rows for tables."""
        return len(self._runs[0][1].cut.headers) if self._runs else 1

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        if rows > _ROWS:
            raise UsageError(f"a MultiIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        shape, once = self._shape(rows), 8 * signatures.words.shape[1] * rows
        needed = 2 * once + _table_bytes(self.bits, *shape, rows)
        check_room(f"{rows:,} rows in {shape[0]:,} tables", needed, f"a FlatIndex takes {show_size(once)}")
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
        """Return into how many substrings a run of so many rows is cut, and that one of them makes an address."""
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
            if (tables, chosen) != UNCUT and (_checked_tables(self.bits, tables) is None or chosen != 1):
                raise StorageError(f"tables of {chosen} substrings out of {tables}")
            if type(count) is not int or not 0 < count <= self._rows - first:
                raise StorageError(f"a run of {count} rows")
            words = arrays[f"run{i}_words"]
            check_array(words, np.uint64, (count, -(-self.bits // 64)))
            named = {name: arrays[f"run{i}_{name}"] for name in ("near", "rows", "starts")}
            cut = Cut.of(self.bits, tables, chosen)
            self._runs.append((read_only(words), BlockRun.restored(first, count, cut, named, WIDEST)))
            first += count
        if first != self._rows:
            raise StorageError("the runs do not hold all rows")

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        def look_up(part: U64) -> Part:
            left, best, work = self._patience(part), np.full((len(part), k), UNFILLED), np.zeros(4, np.int64)
            for tables, rows in self._searched():
                work += top_by_tables(tables, rows, part, left, best)
            sizes = np.where(left < 0, GIVEN_UP, k)
            return sizes, np.sort(best[sizes > 0], axis=1).reshape(-1), _counters(work)

        scan = partial(super()._top, k=k, threads=threads)
        return answer(look_up, scan, queries, threads)

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        def look_up(part: U64) -> Part:
            left, work, found = self._patience(part), np.zeros(4, np.int64), []
            for tables, rows in self._searched():
                sizes = np.empty(len(part), np.int64)
                keys, state = near_by_tables(tables, rows, part, radius, left, sizes)
                found.append((np.repeat(np.arange(len(part)), sizes), keys))
                work += state
            asked, keys = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            return *in_order(asked, keys, left < 0, first), _counters(work)

        scan = partial(super()._near, radius=radius, first=first, threads=threads)
        return answer(look_up, scan, queries, threads)

    def _searched(self) -> list[tuple[BlockTables, Rows]]:
        """Return the tables and the rows of every run."""
        live = read_only(self._live.reshape(-1))
        return [(run.tables, Rows(words, live, run.first)) for words, run in self._runs]

    def _patience(self, queries: U64) -> I64:
        """Return what each query may cost in tables, in planes of a block that a scan counts."""
        blocks = -(-self._rows // BLOCK)
        return np.full(len(queries), int(PATIENCE * blocks * self._planes.shape[1]))


def choose_tables(bits: int, rows: int) -> int:
    """Return into how many substrings to cut: of log2(rows) - 5 bits, and no more than can be an address.

    The authors choose log2(rows) bits, one row for each value. Some dozens of rows are compared in the time of a
    look-up, and wider substrings need many more look-ups.

    >>> [choose_tables(64, 1 << log) for log in (10, 17, 22, 24)], choose_tables(1024, 1 << 20)
    ([13, 5, 4, 3], 68)
    """
    width = max(1.0, math.log2(rows) - 5)
    return min(bits, max(round(bits / width), -(-bits // WIDEST)))


def _checked_tables(bits: int, tables: int | None) -> int | None:
    if tables is not None and not (type(tables) is int and -(-bits // WIDEST) <= tables <= bits):
        raise UsageError(
            f"{bits} bits are cut into {-(-bits // WIDEST)} to {bits} substrings of up to {WIDEST} bits, got {tables}"
        )
    return tables


def _table_bytes(bits: int, tables: int, chosen: int, rows: int) -> int:
    """Return how much memory tables of so many rows take."""
    return tables * (12 * rows + 4 * (1 << chosen * -(-bits // tables)))


def _counters(work: I64) -> Counters:
    return {"comparisons": int(work[COMPARISONS]), "probes": int(work[PROBES])}
