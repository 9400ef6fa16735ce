"""The rows of a slice index: their words, their lists, and the latest rows, which are in no list yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.errors import StorageError, UsageError
from sosie.index.files import check_array
from sosie.index.room import check_room
from sosie.kernels.slices.expand import SliceTable
from sosie.kernels.slices.lists import SliceLists, build_lists, list_bytes, list_starts, slice_edges
from sosie.storage.size import show_size

_WIDEST = 4096  # bits of a signature; the kernels' sums hold no more
_WIDTHS = range(2, 29)
_ROWS = 2**32 - 1
_LATEST = 16  # rows in lists for each that may be in none,
_SPARSE = 64  # and values of a slice: making lists anew would cost more


class SliceStore:
    """Rows in the order of adding; `width` is the most that a slice may have.

    Rows that were added are looked at one by one while they are few beside those in the lists, or beside the number of
    lists; then all lists are made anew, without the rows that were removed.
    """

    def __init__(self, bits: int, width: int) -> None:
        if not 1 <= bits <= _WIDEST:
            raise UsageError(f"a slice index holds signatures of up to {_WIDEST} bits, got {bits}")
        if width not in _WIDTHS:
            raise UsageError(f"slices have {_WIDTHS[0]} to {_WIDTHS[-1]} bits, got width={width}")
        self.width = width
        self.edges = slice_edges(bits, width)
        self.rows = 0
        self._listed = 0
        self._words = np.empty((0, -(-bits // 64)), np.uint64)
        self._live = np.empty(0, np.bool_)
        self._lists: SliceLists | None = None

    @property
    def words(self) -> U64:
        """The signatures."""
        return read_only(self._words[: self.rows])

    def table(self, present: int) -> SliceTable:
        """Return all that kernels need; `present` rows are there, at least one."""
        assert self._lists is not None
        return SliceTable(self._lists, self.words, read_only(self._live[: self.rows]), self._listed, present)

    def check_room(self, more: int) -> None:
        """Refuse more rows than the machine's memory holds."""
        rows, words = self.rows + more, 8 * (self.rows + more) * self._words.shape[1]
        if rows > _ROWS:
            raise UsageError(f"a SliceIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        needed = list_bytes(self.edges, rows) + words
        what = f"slice lists of {rows:,} rows and {np.diff(self.edges).max()}-bit slices"
        check_room(what, needed, f"use a smaller width, or FlatIndex, which takes {show_size(words)}")

    def append(self, words: U64) -> None:
        """Store rows after those that are there."""
        rows = self.rows + len(words)
        if rows > len(self._words):
            room = max(rows, self.rows + self.rows // 2)
            store, live = np.empty((room, words.shape[1]), np.uint64), np.zeros(room, np.bool_)
            store[: self.rows], live[: self.rows] = self._words[: self.rows], self._live[: self.rows]
            self._words, self._live = store, live
        self._words[self.rows : rows], self._live[self.rows : rows] = words, True
        self.rows = rows
        if self._lists is None or rows - self._listed > max(self._listed // _LATEST, 2**self.width // _SPARSE):
            self._lists = None  # the old ones go first: two would take twice the memory
            made = build_lists(self.words, read_only(self._live[:rows]), read_only(self.edges))
            self._lists, self._listed = _frozen(made), rows

    def forget(self, rows: I64) -> None:
        """Never find these rows again."""
        self._live[rows] = False

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters and arrays from which `restored` makes the store again."""
        arrays: dict[str, Any] = {"words": self.words}
        if self._lists is not None:
            arrays |= {"list_offsets": self._lists.offsets, "list_rows": self._lists.rows}
        return {"width": self.width, "listed": self._listed}, arrays

    @classmethod
    def restored(cls, rows: tuple[int, I64], bits: int, state: Mapping[str, Any], arrays: Mapping[str, Any]) -> Self:
        """Return a store from what was read from files and is not trusted; `rows` are how many, and those removed."""
        if type(state["width"]) is not int or type(state["listed"]) is not int:
            raise StorageError("the width and the rows in lists are no whole numbers")
        store = cls(bits, state["width"])
        store.rows, removed = rows
        store._words = arrays["words"]
        check_array(store._words, np.uint64, (store.rows, -(-bits // 64)))
        store._live = np.ones(store.rows, np.bool_)
        store._live[removed] = False
        store._listed = state["listed"]
        if store.rows:
            store._lists = store._checked_lists(arrays["list_offsets"], arrays["list_rows"])
        return store

    def _checked_lists(self, offsets: Any, rows: Any) -> SliceLists:
        starts = list_starts(self.edges)
        check_array(offsets, np.uint32, (int(starts[-1]),))
        if rows.ndim != 2 or not rows.shape[1] <= self._listed <= self.rows:
            raise StorageError("the lists do not hold the rows that they should")
        check_array(rows, np.uint32, (len(self.edges) - 1, rows.shape[1]))
        if np.any(rows >= self._listed):
            raise StorageError("a list names a row that is in none")
        falls = np.flatnonzero(offsets[1:] < offsets[:-1]) + 1
        firsts, lasts = offsets[starts[:-1]], offsets[starts[1:] - 1]
        if np.any(firsts != 0) or np.any(lasts != rows.shape[1]) or np.any(~np.isin(falls, starts)):
            raise StorageError("the lists do not follow each other")
        return _frozen(SliceLists(self.edges, starts, offsets, rows))


def _frozen(lists: SliceLists) -> SliceLists:
    return SliceLists(*(read_only(array) for array in lists))
