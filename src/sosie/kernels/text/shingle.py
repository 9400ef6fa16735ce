"""Documents -> the hashes of their shingles: fold, cut into words or characters, hash every run.

ASCII documents take the short way. The first one that is not, or that does not fit, is read by the general way, which
may replace arrays by larger ones; then the short way goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.text.ascii import BLOCK, NOT_ASCII, ascii_words
from sosie.kernels.text.fold import fold_points
from sosie.kernels.text.tags import Hashed, tag_padded, tagged_lanes
from sosie.kernels.text.unicode import UnicodeTables
from sosie.kernels.text.words import BYTES_PER_POINT, STARTS_PER_POINT, WordRoom, character_starts, point_words
from sosie.kernels.text.xxh64 import LANES, xxh64_lanes, xxh64_padded


@kernel
def shingle_rows(
    tables: UnicodeTables,
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    width: int,
    by_character: bool,
    key: U64,
) -> tuple[U64, U32, I64]:
    """Return the hashes of all shingles of rows first..last, in reading order, and the offsets of the rows in them.

    Between the two are their tags; there are none if the key is empty.
    """
    longest = 0
    for row in range(first, last):
        longest = max(longest, offsets[row + 1] - offsets[row])
    lowered, edges = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    out, starts = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    points = np.empty(BLOCK, np.int32)
    most = (offsets[last] - offsets[first]) // (2 if by_character else 5) + 16
    hashed = Hashed(np.empty(most, np.uint64), np.empty(most if key.size else 0, np.uint32), key)
    ends = np.zeros(last - first + 1, np.int64)
    row = first
    while True:
        room = WordRoom(lowered, edges, out, starts)
        row = _ascii_rows(data, offsets, row, last, width, by_character, room, hashed, ends[row - first :])
        if row == last:
            break
        count, points = fold_points(tables, data, offsets[row], offsets[row + 1], points)
        if out.size < BYTES_PER_POINT * count + BLOCK:
            out = np.empty(2 * BYTES_PER_POINT * count + BLOCK, np.uint8)
        if starts.size < STARTS_PER_POINT * count + 2:
            starts = np.empty(2 * STARTS_PER_POINT * count + 2, np.int64)
        words = point_words(tables.property_index, tables.property_pages, points, count, not by_character, out, starts)
        total = ends[row - first]
        most = STARTS_PER_POINT * count
        if total + most > hashed.hashes.size:
            hashed = enlarged(hashed, total, 2 * (total + most))
        ends[row - first + 1] = hash_runs(out, starts, words, width, by_character, hashed, total)
        row += 1
    total = ends[last - first]
    return hashed.hashes[:total], hashed.tags[:total], ends


@kernel
def enlarged(hashed: Hashed, total: int, size: int) -> Hashed:
    """Return larger room, with the first `total` entries in it."""
    hashes, tags = np.empty(size, np.uint64), np.empty(size if hashed.key.size else 0, np.uint32)
    copy_first(hashed.hashes, hashes, total)
    if hashed.key.size:
        copy_first(hashed.tags, tags, total)
    return Hashed(hashes, tags, hashed.key)


@kernel
def _ascii_rows(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    width: int,
    by_character: bool,
    room: WordRoom,
    hashed: Hashed,
    ends: NDArray[np.int64],
) -> int:
    """Hash rows from `first` on; return the row that is not ASCII or for which there is no room, or `last`.

    `ends[0]` says how many hashes there are already; `ends[i + 1]` becomes how many there are after row `first + i`.
    """
    lowered, edges, out, starts = room
    total = ends[0]
    for row in range(first, last):
        begin, end = offsets[row], offsets[row + 1]
        if total + end - begin > hashed.hashes.size:
            return row
        words = ascii_words(data, begin, end, lowered, edges, out, starts)
        if words == NOT_ASCII:
            return row
        total = hash_runs(out, starts, words, width, by_character, hashed, total)
        ends[row - first + 1] = total
    return last


@kernel
def hash_runs(
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
    words: int,
    width: int,
    by_character: bool,
    hashed: Hashed,
    total: int,
) -> int:
    """Hash every run of `width` words or characters, or all if there are fewer; return the new total.

    Where there is a key, every run gets a tag of the same bytes.
    """
    if words == 0:
        return total
    units = words
    gap = 1  # a word is followed by a space that is no part of its shingle
    if by_character:
        units = character_starts(out, starts[words] - 1, starts)
        gap = 0
    span = min(width, units)
    runs = units - span + 1
    if runs < LANES:
        for i in range(runs):
            _hash_run(out, starts[i], starts[i + span] - gap, hashed, total + i)
        return total + runs
    tagged = hashed.key.size > 0
    for step in range(0, runs, LANES):
        i = min(step, runs - LANES)  # the last step may hash some runs again
        if tagged:
            long = tagged_lanes(out, starts, i, span, gap, hashed, total + i)
        else:
            long = xxh64_lanes(out, starts, i, span, gap, hashed.hashes, total + i)
        while long:
            j = i + np.int64(trailing_zeros(long))
            _hash_run(out, starts[j], starts[j + span] - gap, hashed, total + j)
            long &= long - np.uint64(1)
    return total + runs


@kernel
def _hash_run(out: NDArray[np.uint8], start: int, stop: int, hashed: Hashed, at: int) -> None:
    hashed.hashes[at] = xxh64_padded(out, start, stop, np.uint64(0))
    if hashed.key.size:
        hashed.tags[at] = tag_padded(out, start, stop, hashed.key)
