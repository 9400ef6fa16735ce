"""The block index: all rows within a small radius, exactly, by look-ups in tables (Manku et al. 2007; PSM 7.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sosie.errors import StorageError, UsageError
from sosie.index.block_run import BlockRun, run_bytes
from sosie.index.cut import Cut
from sosie.index.files import State, check_array
from sosie.index.flat import FlatIndex
from sosie.kernels.arrays import read_only
from sosie.kernels.block_tables import Store
from sosie.kernels.hits import concat_hits, sort_hits, take_hits
from sosie.kernels.parallel import ordered_map, thread_count
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import I32, I64, U64, Matches, Signatures

SHORT = 1024  # a run of fewer rows has no tables: it is looked through
UNCUT = 1, 0  # one block, none in the header
_PROBE = 64  # the cost of a look-up, in comparisons
_TABLES = 64  # more are never worth it, unless asked for
_MOST = 10_000  # tables
_ROWS = 2**32 - 1
_TILE = 1024  # queries of one piece of work


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
        self._radius, self._blocks, self._header = _checked(signatures.bits, radius, blocks, header)
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
        needed, there = run_bytes(rows, tables) + 16 * self._store.shape[1] * rows, physical_memory()
        if needed > there:
            raise UsageError(
                f"{rows:,} rows in {tables:,} tables need about {show_size(needed)} of memory, and this machine has "
                f"{show_size(there)}: choose fewer tables (header=1, a smaller radius) or a FlatIndex"
            )
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
        self._runs.append(
            BlockRun.of(self._words()[first:], first, Cut.of(self.bits, *self._shape(self._rows - first)))
        )

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
        self._radius, self._blocks, self._header = _checked(self.bits, *given)
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
        header = _choose_header(self.bits, self._radius, rows)
        return self._radius + header, header

    def _near(self, queries: U64, radius: int, first: bool, threads: int | None) -> Matches:
        if radius > self._radius:
            return super()._near(queries, radius, first, threads)
        store = Store(read_only(self._words()), read_only(self._live.reshape(-1)))

        def find(start: int) -> tuple[I64, I64, I32, int]:
            asked = read_only(queries[start : start + _TILE])
            found = [run.find(store, asked, radius, first) for run in self._runs]
            hits = concat_hits([hits for hits, _ in found])
            hits = take_hits(hits, np.argsort(hits.rows, kind="stable"))
            if first:  # every run, and every table of it, may have brought one
                hits = take_hits(hits, np.unique(hits.queries, return_index=True)[1])
            return *sort_hits(hits, len(asked), self.bits), sum(work for _, work in found)

        starts = range(0, len(queries), _TILE)
        parts = list(ordered_map(find, starts, min(thread_count(threads), len(starts))))
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part[0]) for part in parts)])
        probes = len(queries) * sum(len(run.cut.headers) for run in self._runs)
        counters = {"comparisons": sum(part[3] for part in parts), "probes": probes}
        rows, distances = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
        return Matches(np.cumsum(sizes), rows, distances, None, counters)

    def _top(self, queries: U64, k: int, threads: int | None) -> Matches:
        near = self._near(queries, self._radius, False, threads)
        sizes = np.diff(near.offsets)
        enough, others = np.flatnonzero(sizes >= k), np.flatnonzero(sizes < k)
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.int32)
        places = near.offsets[enough, None] + np.arange(k)
        rows[enough], distances[enough] = near.rows[places], near.distances[places]
        counters = dict(near.counters)
        if len(others):
            far = super()._top(queries[others], k, threads)
            rows[others], distances[others] = far.rows.reshape(-1, k), far.distances.reshape(-1, k)
            counters["comparisons"] += far.counters["comparisons"]
        return Matches(np.arange(len(queries) + 1) * k, rows.reshape(-1), distances.reshape(-1), None, counters)


def _checked(bits: int, radius: int, blocks: int | None, header: int | None) -> tuple[int, int | None, int | None]:
    """Return the radius that the tables guarantee, and blocks and header: both, or neither if none was given."""
    if radius < 0:
        raise UsageError(f"radius must be at least 0, got {radius}")
    if blocks is None and header is None:
        return min(radius, bits - 1), None, None
    if header is None:
        header = (blocks or 0) - radius
    if blocks is None:
        blocks = radius + header
    if not 1 <= header <= blocks <= bits or blocks - header < radius:
        raise UsageError(
            f"{blocks} blocks with {header} in the header do not guarantee radius {radius} of {bits} bits: choose "
            f"at least 1 block in the header, and from header + radius to {bits} blocks"
        )
    if math.comb(blocks, header) > _MOST:
        raise UsageError(f"{header} of {blocks} blocks make more than {_MOST:,} tables: choose a smaller header")
    return blocks - header, blocks, header


def _checked_cut(bits: int, radius: int, blocks: int, header: int) -> Cut:
    """Return a cut that comes from a file."""
    if (blocks, header) != UNCUT:
        _checked(bits, radius, blocks, header)
    return Cut.of(bits, blocks, header)


def _choose_header(bits: int, radius: int, rows: int) -> int:
    """Return the number of blocks in a header that costs least.

    >>> [_choose_header(64, 3, 1 << log) for log in (20, 22, 23, 30, 33)]
    [1, 1, 2, 2, 3]
    """

    def cost(header: int) -> float:
        blocks = radius + header
        return math.comb(blocks, header) * (_PROBE + rows * math.exp2(-bits * header / blocks))

    few = [header for header in range(2, bits - radius + 1) if math.comb(radius + header, header) <= _TABLES]
    return min([1, *few], key=cost)
