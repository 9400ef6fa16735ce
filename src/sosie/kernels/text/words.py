"""Documents -> their folded words, as bytes: each word followed by one space; and the hashes of what they begin with.

A word is a run of letters, marks, numbers and connectors. Within it, a run of a script that is written without spaces
(Han, kana, Thai, Lao, Khmer, Myanmar) becomes overlapping pairs of units, a unit being a character with its marks:
ABCD gives AB BC CD, a single unit itself. A mark belongs to what precedes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.text.ascii import BLOCK, NOT_ASCII, SPACE, ascii_words
from sosie.kernels.text.fold import fold_points
from sosie.kernels.text.tags import tag_padded
from sosie.kernels.text.unicode import UnicodeTables, looked_up
from sosie.kernels.text.utf8 import encode
from sosie.kernels.text.xxh64 import xxh64_padded

WORD, SPACELESS, MARK = 1, 2, 3
BYTES_PER_POINT = 9  # four, written twice in two pairs, and a space
STARTS_PER_POINT = 2  # a character and a space


class WordRoom(NamedTuple):
    """Scratch for one document: its lowered bytes, where words begin and end, its words, where each of them starts."""

    lowered: NDArray[np.uint8]
    edges: NDArray[np.int64]
    out: NDArray[np.uint8]
    starts: NDArray[np.int64]


@kernel
def word_rows(
    tables: UnicodeTables, data: NDArray[np.uint8], offsets: I64, first: int, last: int
) -> tuple[NDArray[np.uint8], I64, I64]:
    """Return the words of rows first..last: their bytes, where each starts, and the offsets of the rows in them.

    Word i is `out[starts[i] : starts[i + 1] - 1]`, and a space follows it. Two blocks after the last may be read. As in
    `shingle`, documents of ASCII bytes take the short way, and arrays are replaced by larger ones outside of it.
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
        room = WordRoom(lowered, edges, out, starts)
        row = _ascii_rows(data, offsets, row, last, room, ends[row - first :])
        if row == last:
            break
        count, points = fold_points(tables, data, offsets[row], offsets[row + 1], points)
        total = ends[row - first]
        position = starts[total]
        rest = _most(offsets, row + 1, last)
        if out.size < position + BYTES_PER_POINT * count + rest:
            larger = np.empty(2 * (position + BYTES_PER_POINT * count) + rest, np.uint8)
            copy_first(out, larger, position)
            out = larger
        if starts.size < total + count + 1 + rest:
            more = np.empty(2 * (total + count + 1) + rest, np.int64)
            copy_first(starts, more, total + 1)
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
    """Return for how many bytes, and words, rows of ASCII bytes need room: a byte and a space, and two blocks."""
    return offsets[last] - offsets[first] + (last - first) + 2 * BLOCK


@kernel
def _ascii_rows(data: NDArray[np.uint8], offsets: I64, first: int, last: int, room: WordRoom, ends: I64) -> int:
    """Write the words of rows from `first` on after those that are there; return the row that is not ASCII, or `last`.

    `ends[0]` says how many words there are already; `ends[i + 1]` becomes how many there are after row `first + i`.
    """
    lowered, edges, out, starts = room
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
def point_words(
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    points: NDArray[np.int32],
    count: int,
    pairs: bool,
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
) -> int:
    """Write the words of `points[:count]`, each followed by a space, to `out`; return how many there are.

    Word i is `out[starts[i] : starts[i + 1] - 1]`. Without `pairs`, runs of spaceless scripts are not cut up. `out`
    has room for BYTES_PER_POINT of each code point, `starts` for one entry of each and one more.
    """
    words = 0
    position = 0
    inside = 0  # the class of the word being written, 0 between words
    units = 0  # written of the current spaceless run
    unit = 0  # where the last of them begins
    for i in range(count):
        point = np.int64(points[i])
        kind = looked_up(index, pages, point) >> 8 & 3
        if point < 0x80 and inside != SPACELESS:  # the same as below, without a branch to mispredict
            starts[words] = position
            words += (inside == 0) & (kind != 0)
            out[position] = point if kind else SPACE
            position += (inside | kind) != 0
            inside = kind
            continue
        if kind == 0:
            if inside:
                out[position] = SPACE
                position += 1
            inside = 0
            continue
        fresh = kind == SPACELESS and pairs
        if kind == MARK:
            kind = inside if inside else WORD
        elif not fresh:
            kind = WORD
        if kind != inside:
            if inside:
                out[position] = SPACE
                position += 1
            starts[words] = position
            words += 1
            inside = kind
            units = 0
        if fresh:
            if units > 1:
                end = position
                out[position] = SPACE
                position += 1
                starts[words] = position
                words += 1
                for byte in range(unit, end):
                    out[position] = out[byte]
                    position += 1
            units += 1
            unit = position
        position = encode(point, out, position)
    if inside:
        out[position] = SPACE
        position += 1
    starts[words] = position
    return words


@kernel
def character_starts(out: NDArray[np.uint8], size: int, starts: NDArray[np.int64]) -> int:
    """List where the characters of the valid UTF-8 `out[:size]` begin, then its end; return how many there are."""
    count = 0
    for position in range(size):
        starts[count] = position
        count += (out[position] & 0xC0) != 0x80
    starts[count] = size
    return count


@kernel
def prefix_hashes(text: NDArray[np.uint8], starts: I64, width: int, key: U64) -> tuple[U64, U32]:
    """Return the hash of the first `width` characters of every word, or of all it has, and its tag if there is a key.

    Word i is `text[starts[i] : starts[i + 1] - 1]`, as `word_rows` gives them.
    """
    hashes = np.empty(starts.size - 1, np.uint64)
    tags = np.empty(hashes.size if key.size else 0, np.uint32)
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
        if key.size:
            tags[word] = tag_padded(text, begin, stop, key)
    return hashes, tags
