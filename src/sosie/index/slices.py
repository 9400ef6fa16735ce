"""The index of inverted signature slice lists (TOPK 2013; ISSL 2015)."""

from __future__ import annotations

import numpy as np

from sosie.errors import UsageError
from sosie.index.base import Index
from sosie.index.slice_search import SliceSearch
from sosie.kernels.arrays import I64, U64, read_only
from sosie.kernels.hits import concat_hits, room_for_hits, sort_hits, take_hits
from sosie.kernels.parallel import ordered_map, thread_count
from sosie.kernels.slice_expand import BREADTH, WORK, SliceTable
from sosie.kernels.slice_lists import SliceLists, build_lists, list_bytes, slice_edges
from sosie.kernels.slice_sums import no_sums
from sosie.kernels.slice_top import UNFILLED, slice_top
from sosie.kernels.slice_within import slice_within
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import I32, Counters, Matches, Signatures

_WIDEST = 4096  # bits of a signature; the kernels' sums hold no more
_WIDTHS = range(2, 29)
_SPARSE = 64  # lists for each row that is looked at instead: making them anew would cost more
_ROOM = 1 << 16  # matches that are collected, beside those of one more query, before they are put aside
_Found = tuple[I64, I64, I32, I64]  # sizes by query, rows, distances, work


class SliceIndex(Index):
    """Approximate search of up to 4096 bits: rows are found in the lists of values near each slice of a query.

    The bits are cut into slices of at most `width` bits (2 to 28). One more bit for every doubling of the rows keeps
    the lists short; the lists take 4 bytes for every slice of every row and for every value of every slice. `effort`
    says how far a search goes, and may be replaced at any time.

    What it relaxes: `search` compares rows that were seen in some list only, so it may miss some of the k nearest, or
    give fewer than k; `within` gives a part of the exact answer. Distances and order are always true. Both are exact
    at full effort: a breadth of `width`, with any rule to stop; `within` with radius < (breadth + 1) * slices, too.

    Counters: `lists` and `postings` that were read, `candidates` that were chosen, `comparisons` made (rows that are in
    no list yet included), the largest `breadth`, and `stopped_all`, `stopped_certain`, `stopped_early`: how many
    queries stopped by which rule.

    Added rows are looked at one by one until they are half as many as those in the lists (and not few beside the
    number of lists), then all lists are made anew,
    without the rows that were removed. When that happens never changes a result.

    >>> index = SliceIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64), bits=1 * 64), width=16)
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist(), matches.counters["lists"] == 4 * (1 + 16 + 120 + 560)
    ([0, 1], [1, 1], True)
    """

    def __init__(self, signatures: Signatures, width: int = 16, effort: SliceSearch | None = None) -> None:
        if signatures.bits > _WIDEST:
            raise UsageError(f"a slice index holds signatures of up to {_WIDEST} bits, got {signatures.bits}")
        if width not in _WIDTHS:
            raise UsageError(f"slices have {_WIDTHS[0]} to {_WIDTHS[-1]} bits, got width={width}")
        self.effort = effort or SliceSearch()
        self._edges = slice_edges(signatures.bits, width)
        self._store = np.empty((0, signatures.words.shape[1]), np.uint64)
        self._live = np.empty(0, np.bool_)
        self._rows = self._listed = 0
        self._lists: SliceLists | None = None
        super().__init__(signatures)

    @property
    def slices(self) -> int:
        """The number of slices of a signature."""
        return len(self._edges) - 1

    @property
    def width(self) -> int:
        """The width of the widest slice."""
        return int(np.diff(self._edges).max())

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once."""
        rows = self._rows + len(signatures)
        needed = list_bytes(self._edges, rows) + 8 * rows * self._store.shape[1]
        if needed > physical_memory():
            raise UsageError(
                f"slice lists of {rows:,} rows and {self.width}-bit slices take {show_size(needed)}, this machine has "
                f"{show_size(physical_memory())} of memory: use a smaller width, or FlatIndex, which takes "
                f"{show_size(8 * rows * self._store.shape[1])}"
            )
        super().add(signatures)

    def _append(self, words: U64) -> None:
        rows = self._rows + len(words)
        if rows > len(self._store):
            room = max(rows, self._rows + self._rows // 2)
            store, live = np.empty((room, words.shape[1]), np.uint64), np.zeros(room, np.bool_)
            store[: self._rows], live[: self._rows] = self._store[: self._rows], self._live[: self._rows]
            self._store, self._live = store, live
        self._store[self._rows : rows], self._live[self._rows : rows] = words, True
        self._rows = rows
        if self._lists is None or rows - self._listed > max(self._listed // 2, 2**self.width // _SPARSE):
            self._make_lists()

    def _make_lists(self) -> None:
        self._lists = None  # the old ones go first: two would take twice the memory
        made = build_lists(self._words(), read_only(self._live[: self._rows]), self._edges)
        self._lists = SliceLists(*(read_only(array) for array in made))
        self._listed = self._rows

    def _forget(self, rows: I64) -> None:
        self._live[rows] = False

    def _words(self) -> U64:
        return read_only(self._store[: self._rows])

    def _table(self) -> SliceTable:
        assert self._lists is not None
        return SliceTable(self._lists, self._words(), read_only(self._live[: self._rows]), self._listed, len(self))

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        table, effort = self._table(), self.effort.effort(self.width, k)

        def run(part: U64) -> _Found:
            best = np.full((len(part), k), UNFILLED)
            work = slice_top(table, read_only(part), effort, no_sums(self._rows), best)
            found = best != UNFILLED
            keys = best[found]
            return found.sum(axis=1), keys & (2**48 - 1), (keys >> 48).astype(np.int32), work

        return _joined([*ordered_map(run, _parts(queries.words, threads), threads)])

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        table, effort = self._table(), self.effort.effort(self.width, 1)
        limits = radius, effort.admit, first

        def run(part: U64) -> _Found:
            work = np.zeros(len(WORK), np.int64)
            sums, room, pieces, query = no_sums(self._rows), room_for_hits(_ROOM + self._rows), [], 0
            while query < len(part):
                query, count = slice_within(table, read_only(part), query, limits, sums, room, work)
                pieces.append(take_hits(room, slice(count)))
            offsets, rows, distances = sort_hits(concat_hits(pieces), len(part), self.bits)
            return np.diff(offsets), rows, distances, work

        return _joined([*ordered_map(run, _parts(queries.words, threads), threads)])


def _parts(queries: U64, threads: int | None) -> list[U64]:
    """Cut the queries into a few parts for each thread."""
    return np.array_split(queries, min(len(queries), 4 * thread_count(threads)))


def _joined(found: list[_Found]) -> Matches:
    sizes, rows, distances, work = zip(*found, strict=True)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return Matches(offsets, np.concatenate(rows), np.concatenate(distances), None, _counters(np.array(work)))


def _counters(work: I64) -> Counters:
    total = work.sum(axis=0)
    total[BREADTH] = work[:, BREADTH].max()
    return dict(zip(WORK, total.tolist(), strict=True))
