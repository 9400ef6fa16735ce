"""The rows of a slice index: their words, their lists, and the latest rows, which are in no list yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.arrays import U64, read_only
from sosie.errors import StorageError, UsageError
from sosie.index.base import State, check_room
from sosie.index.files import check_array
from sosie.index.ids import RowIds
from sosie.index.segments import written_behind
from sosie.index.untrusted import check_distinct, check_padding, whole
from sosie.kernels.slices.expand import SliceTable
from sosie.kernels.slices.lists import SliceLists, build_lists, list_starts, slice_edges
from sosie.planner.methods.blocks import word_bytes
from sosie.planner.methods.slices import least_room, made_anew
from sosie.storage.size import show_size

_WIDEST = 4096  # bits of a signature; the kernels' sums hold no more
_WIDTHS = range(2, 29)
_ROWS = 2**32 - 1


@dataclass(frozen=True, eq=False)
class SliceRows:
    """Words of rows, with room behind them, and lists of the first `listed`; without any rows there are no lists."""

    words: U64
    lists: SliceLists | None = None
    listed: int = 0


class SliceShape:
    """How bits are cut into slices of at most `width` bits, and rows into lists."""

    def __init__(self, bits: int, width: int) -> None:
        if not 1 <= bits <= _WIDEST:
            raise UsageError(f"a slice index holds signatures of up to {_WIDEST} bits, got {bits}")
        if width not in _WIDTHS:
            raise UsageError(f"slices have {_WIDTHS[0]} to {_WIDTHS[-1]} bits, got width={width}")
        self.width = width
        self.edges = read_only(slice_edges(bits, width))
        self.nothing = SliceRows(np.empty((0, -(-bits // 64)), np.uint64))

    def check_room(self, rows: int) -> None:
        """Refuse more rows than the machine's memory holds."""
        if rows > _ROWS:
            raise UsageError(f"a SliceIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        bits = int(self.edges[-1])
        needed, words = least_room(rows, bits, self.width), word_bytes(rows, bits)
        what = f"slice lists of {rows:,} rows and {np.diff(self.edges).max()}-bit slices"
        check_room(what, needed, f"use a smaller width, or FlatIndex, which takes {show_size(words)}")

    def appended(self, before: SliceRows, begin: int, ids: RowIds, added: U64) -> SliceRows:
        """Return rows with more behind those that are there, `begin` of them; `ids` are those of all.

        Rows that were added are looked at one by one while they are few beside those in the lists, or beside the number
        of lists; then all lists are made anew, without the rows that were removed.
        """
        rows, words = len(ids), written_behind(before.words, begin, added)
        if before.lists is not None and not made_anew(before.listed, self.width, rows - before.listed):
            return SliceRows(words, before.lists, before.listed)
        listed = read_only(ids.present_rows.astype(np.uint32))
        return SliceRows(words, _frozen(build_lists(read_only(words[:rows]), listed, self.edges)), rows)

    def restored(self, rows: int, state: Mapping[str, Any], arrays: Mapping[str, Any]) -> SliceRows:
        """Return so many rows from what was read from files and is not trusted."""
        listed, words = whole("listed", state["listed"], 0, rows), arrays["words"]
        check_array(words, np.uint64, (rows, self.nothing.words.shape[1]))
        check_padding(words, int(self.edges[-1]))
        if not rows:
            return self.nothing
        return SliceRows(
            words, self._checked_lists((listed, rows), arrays["list_offsets"], arrays["list_rows"]), listed
        )

    def _checked_lists(self, counts: tuple[int, int], offsets: Any, rows: Any) -> SliceLists:
        starts, (listed, count) = list_starts(self.edges), counts
        check_array(offsets, np.uint32, (int(starts[-1]),))
        if rows.ndim != 2 or not rows.shape[1] <= listed <= count:
            raise StorageError("the lists do not hold the rows that they should")
        check_array(rows, np.uint32, (len(self.edges) - 1, rows.shape[1]))
        check_distinct(rows, 0, listed)
        falls = np.flatnonzero(offsets[1:] < offsets[:-1]) + 1
        firsts, lasts = offsets[starts[:-1]], offsets[starts[1:] - 1]
        if np.any(firsts != 0) or np.any(lasts != rows.shape[1]) or np.any(~np.isin(falls, starts)):
            raise StorageError("the lists do not follow each other")
        return _frozen(SliceLists(self.edges, starts, offsets, rows))


def slice_table(state: State) -> SliceTable:
    """Return all that kernels need of a state with rows."""
    stored: SliceRows = state.stored
    assert stored.lists is not None
    words = read_only(stored.words[: len(state.ids)])
    return SliceTable(stored.lists, words, read_only(state.ids.live), stored.listed, len(state))


def _frozen(lists: SliceLists) -> SliceLists:
    return SliceLists(*(read_only(array) for array in lists))
