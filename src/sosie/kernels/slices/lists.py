"""Inverted signature slice lists (TOPK 2013; ISSL 2015): the rows by the value of each slice of their bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.parallel import ordered_map

_SPAN = 1 << 14  # rows of one piece of work
_TILE = 64  # rows whose words stay in the cache while they are cut into slices


class SliceLists(NamedTuple):
    """The lists of every slice, as CSR.

    Slice s covers the bits from `edges[s]` to `edges[s + 1]`. The rows with value v there are, in order, those of
    `rows[s]` from `offsets[starts[s] + v]` to `offsets[starts[s] + v + 1]`.
    """

    edges: I64
    starts: I64
    offsets: U32
    rows: U32


def slice_edges(bits: int, width: int) -> I64:
    """Return where the slices begin, and the end: as few as possible of at most `width` bits, equal up to one bit.

    >>> slice_edges(64, 16).tolist(), slice_edges(10, 4).tolist()
    ([0, 16, 32, 48, 64], [0, 3, 6, 10])
    """
    slices = -(-bits // width)
    return bits * np.arange(slices + 1) // slices


def list_starts(edges: I64) -> I64:
    """Return where the offsets of each slice begin: it has one for every value, and the end.

    >>> list_starts(slice_edges(10, 4)).tolist()
    [0, 9, 18, 35]
    """
    return np.concatenate([[0], np.cumsum((1 << np.diff(edges)) + 1)])


def build_lists(words: U64, listed: U32, edges: I64, threads: int | None = None) -> SliceLists:
    """Invert some rows: cut them into slices, then count and fill the lists of each slice, all on threads."""
    starts = list_starts(edges)
    rows = np.empty((len(edges) - 1, len(listed)), np.uint32)
    lists = SliceLists(edges, starts, np.zeros(starts[-1], np.uint32), rows)
    for _ in ordered_map(lambda first: _cut(words, listed, edges, first, rows), range(0, len(listed), _SPAN), threads):
        pass
    for _ in ordered_map(lambda which: _invert(listed, lists, which), range(len(rows)), threads):
        pass
    return lists


@kernel
def _cut(words: U64, listed: U32, edges: I64, first: int, values: U32) -> None:
    """Write the value of every slice of a span of rows: reading the words once, not once for every slice."""
    last = min(first + _SPAN, listed.size)
    for tile in range(first, last, _TILE):
        for which in range(edges.size - 1):
            low, width = edges[which], edges[which + 1] - edges[which]
            for place in range(tile, min(tile + _TILE, last)):
                values[which, place] = slice_value(words, listed[place], low, width)


@kernel
def _invert(listed: U32, lists: SliceLists, which: int) -> None:
    """Make the lists of one slice, where its values are, in two passes: count, then fill (TOPK 3.1)."""
    rows = lists.rows[which]
    ends = lists.offsets[lists.starts[which] : lists.starts[which + 1]]
    values = rows.copy()
    for value in values:
        ends[value + np.uint64(1)] += np.uint32(1)
    for value in range(1, ends.size):
        ends[value] += ends[value - 1]
    for place in range(values.size):
        value = values[place]
        rows[ends[value]] = listed[place]
        ends[value] += np.uint32(1)
    for value in range(ends.size - 1, 0, -1):  # every list was filled up to where the next begins
        ends[value] = ends[value - 1]
    ends[0] = 0


@kernel
def slice_value(words: U64, row: int, low: int, width: int) -> int:
    """Return `width` bits of a row, from bit `low` on."""
    word, shift = low >> 6, low & 63
    value = words[row, word] >> np.uint64(shift)
    if shift + width > 64:
        value |= words[row, word + 1] << np.uint64(64 - shift)
    return np.int64(value & np.uint64((1 << width) - 1))
