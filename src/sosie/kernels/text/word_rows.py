"""Documents -> their folded words, as bytes: what a lexicon numbers, and how they begin, hashed.

As in `shingle`, documents of ASCII bytes take the short way, and arrays are replaced by larger ones outside of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.ascii import BLOCK, NOT_ASCII, ascii_words
from sosie.kernels.text.fold import fold_points
from sosie.kernels.text.shingle import Scratch
from sosie.kernels.text.unicode import UnicodeTables
from sosie.kernels.text.words import BYTES_PER_POINT, point_words
from sosie.kernels.text.xxh64 import xxh64_padded


@kernel
def word_rows(
    tables: UnicodeTables, data: NDArray[np.uint8], offsets: I64, first: int, last: int
) -> tuple[NDArray[np.uint8], I64, I64]:
    """Return the words of rows first..last: their bytes, where each starts, and the offsets of the rows in them.

    Word i is `out[starts[i] : starts[i + 1] - 1]`, and a space follows it. Two blocks after the last may be read.
    """
    longest = 0
    for row in range(first, last):
        longest = max(longest, offsets[row + 1] - offsets[row])
    lowered, edges = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    points = np.empty(BLOCK, np.int32)
    out = np.empty(_most(offsets, first, last), np.uint8)  # rows of ASCII bytes fit, whatever they hold
    starts = np.zeros(_most(offsets, first, last), np.int64)
    ends = np.zeros(last - first + 1, np.int64)
    row = first
    while True:
        scratch = Scratch(lowered, edges, out, starts)
        row = _ascii_rows(data, offsets, row, last, scratch, ends[row - first :])
        if row == last:
            break
        count, points = fold_points(tables, data, offsets[row], offsets[row + 1], points)
        total = ends[row - first]
        position = starts[total]
        rest = _most(offsets, row + 1, last)
        if out.size < position + BYTES_PER_POINT * count + rest:
            larger = np.empty(2 * (position + BYTES_PER_POINT * count) + rest, np.uint8)
            larger[:position] = out[:position]
            out = larger
        if starts.size < total + count + 1 + rest:
            more = np.empty(2 * (total + count + 1) + rest, np.int64)
            more[: total + 1] = starts[: total + 1]
            starts = more
        index, pages = tables.property_index, tables.property_pages
        words = point_words(index, pages, points, count, True, out[position:], starts[total:])
        for word in range(total, total + words + 1):
            starts[word] += position
        ends[row - first + 1] = total + words
        row += 1
    return out, starts[: ends[last - first] + 1], ends


@kernel
def _most(offsets: I64, first: int, last: int) -> int:
    """Return for how many bytes, and words, rows of ASCII bytes need scratch: a byte and a space, and two blocks."""
    return offsets[last] - offsets[first] + (last - first) + 2 * BLOCK


@kernel
def _ascii_rows(data: NDArray[np.uint8], offsets: I64, first: int, last: int, scratch: Scratch, ends: I64) -> int:
    """Write the words of rows from `first` on after those that are there; return the row that is not ASCII, or `last`.

    `ends[0]` says how many words there are already; `ends[i + 1]` becomes how many there are after row `first + i`.
    """
    lowered, edges, out, starts = scratch
    total = ends[0]
    position = starts[total]
    for row in range(first, last):
        words = ascii_words(data, offsets[row], offsets[row + 1], lowered, edges, out[position:], starts[total:])
        if words == NOT_ASCII:
            return row
        for word in range(total, total + words + 1):
            starts[word] += position
        total += words
        position = starts[total]
        ends[row - first + 1] = total
    return last


@kernel
def prefix_hashes(text: NDArray[np.uint8], starts: I64, width: int) -> U64:
    """Return the hash of the first `width` characters of every word, or of all it has.

    Word i is `text[starts[i] : starts[i + 1] - 1]`, as `word_rows` gives them.
    """
    hashes = np.empty(starts.size - 1, np.uint64)
    for word in range(hashes.size):
        begin, end = starts[word], starts[word + 1] - 1
        stop, characters = begin, 0
        while stop < end:
            if text[stop] & 0xC0 != 0x80:  # the first byte of a character
                if characters == width:
                    break
                characters += 1
            stop += 1
        hashes[word] = xxh64_padded(text, begin, stop, np.uint64(0))
    return hashes
