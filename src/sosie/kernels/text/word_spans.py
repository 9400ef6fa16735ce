"""Where the words of a text are, as it is written: for people and programs that need the text between them, too.

A character counts as what it folds to first, so words are those of the shingles: a soft hyphen or a joiner, which fold
to nothing, divide no word. In a script that is written without spaces every unit, a character with its marks, is one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.text.unicode import FOLD_POOLED, Point, UnicodeTables, looked_up
from sosie.kernels.text.utf8 import decode
from sosie.kernels.text.words import MARK, SPACELESS, WORD

_NOTHING = -1


@kernel
def word_spans(tables: UnicodeTables, data: NDArray[np.uint8], offsets: I64, first: int, last: int) -> tuple[I64, I64]:
    """Return first and last bounds of the words of rows first..last, and the offsets of the rows in them.

    A word has four numbers: the first character and the one after the last, counted in its text, and the same in bytes
    of `data`.
    """
    bounds = np.empty(((offsets[last] - offsets[first]) // 2 + (last - first), 4), np.int64)
    ends = np.zeros(last - first + 1, np.int64)
    for row in range(first, last):
        ends[row - first + 1] = _row_spans(tables, data, offsets[row], offsets[row + 1], bounds, ends[row - first])
    return bounds[: ends[last - first]], ends


@kernel
def _row_spans(tables: UnicodeTables, data: NDArray[np.uint8], start: int, stop: int, bounds: I64, total: int) -> int:
    fold_index, fold_pages, pool = tables.fold_index, tables.fold_pages, tables.fold_pool
    index, pages = tables.property_index, tables.property_pages
    inside = 0  # the class of the word being read, 0 between words
    position, character = start, 0
    while position < stop:
        begin = position
        point, position = decode(data, position, stop)
        character += 1
        folded = _first_folded(fold_index, fold_pages, pool, point)
        if folded == _NOTHING:
            continue
        kind = looked_up(index, pages, folded) >> 8 & 3
        fresh = kind == SPACELESS
        if kind == MARK:
            kind = inside if inside else WORD
        if kind and (fresh or kind != inside):
            bounds[total, 0], bounds[total, 2] = character - 1, begin
            total += 1
        if kind:
            bounds[total - 1, 1], bounds[total - 1, 3] = character, position
        inside = kind
    return total


@kernel
def _first_folded(index: NDArray[np.uint16], pages: NDArray[np.int32], pool: NDArray[np.int32], point: Point) -> Point:
    """Return the first code point that one folds to, or _NOTHING."""
    entry = looked_up(index, pages, point)
    if not entry & FOLD_POOLED:
        return point + (entry >> 8)
    return np.int64(pool[entry >> 13]) if entry >> 8 & 31 else _NOTHING


@kernel
def copy_spans(data: NDArray[np.uint8], starts: I64, stops: I64) -> tuple[NDArray[np.uint8], I64]:
    """Return the bytes of all spans, one after the other, and the offsets of the spans in them."""
    offsets = np.zeros(starts.size + 1, np.int64)
    for i in range(starts.size):
        offsets[i + 1] = offsets[i] + stops[i] - starts[i]
    copied = np.empty(offsets[-1], np.uint8)
    for i in range(starts.size):
        copy_first(data[starts[i] :], copied[offsets[i] :], stops[i] - starts[i])
    return copied, offsets
