"""Inverted signature slice lists (TOPK 2013; ISSL 2015): the rows by the value of each slice of their bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import I64, U32, U64, Bools
from sosie.kernels.compile import kernel
from sosie.kernels.parallel import ordered_map


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


def list_bytes(edges: I64, rows: int) -> int:
    """Return the memory that lists take.

    >>> list_bytes(slice_edges(1024, 16), 2**20) == 4 * 64 * (2**20 + 2**16 + 1)
    True
    """
    return 4 * int(np.sum((1 << np.diff(edges)) + 1 + rows))


def build_lists(words: U64, live: Bools, edges: I64, threads: int | None = None) -> SliceLists:
    """Invert the live rows, slice by slice, on threads."""
    starts = np.concatenate([[0], np.cumsum((1 << np.diff(edges)) + 1)])
    shape = len(edges) - 1, int(np.count_nonzero(live))
    lists = SliceLists(edges, starts, np.zeros(starts[-1], np.uint32), np.empty(shape, np.uint32))
    for _ in ordered_map(lambda which: _invert(words, live, lists, which), range(shape[0]), threads):
        pass
    return lists


@kernel
def _invert(words: U64, live: Bools, lists: SliceLists, which: int) -> None:
    """Make the lists of one slice in two passes: count, then fill."""
    low, width = lists.edges[which], lists.edges[which + 1] - lists.edges[which]
    ends = lists.offsets[lists.starts[which] : lists.starts[which + 1]]
    for row in range(live.size):
        if live[row]:
            ends[slice_value(words, row, low, width) + 1] += np.uint32(1)
    for value in range(1, ends.size):
        ends[value] += ends[value - 1]
    for row in range(live.size):
        if live[row]:
            value = slice_value(words, row, low, width)
            lists.rows[which, ends[value]] = row
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
