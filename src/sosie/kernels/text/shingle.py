"""Documents -> the hashes of their shingles: fold, cut into words or characters, hash every run.

ASCII documents take the short way. The first one that is not, or that does not fit, is read by the general way, which
may replace arrays by larger ones; then the short way goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.text.ascii import BLOCK, NOT_ASCII, ascii_words
from sosie.kernels.text.fold import fold_points
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
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of all shingles of rows first..last, in reading order, and the offsets of the rows in them."""
    longest = 0
    for row in range(first, last):
        longest = max(longest, offsets[row + 1] - offsets[row])
    lowered, edges = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    out, starts = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    points = np.empty(BLOCK, np.int32)
    hashes = np.empty((offsets[last] - offsets[first]) // (2 if by_character else 5) + 16, np.uint64)
    ends = np.zeros(last - first + 1, np.int64)
    row = first
    while True:
        room = WordRoom(lowered, edges, out, starts)
        row = _ascii_rows(data, offsets, row, last, width, by_character, room, hashes, ends[row - first :])
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
        if total + most > hashes.size:
            larger = np.empty(2 * (total + most), np.uint64)
            copy_first(hashes, larger, total)
            hashes = larger
        ends[row - first + 1] = hash_runs(out, starts, words, width, by_character, hashes, total)
        row += 1
    return hashes[: ends[last - first]], ends


@kernel
def _ascii_rows(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    width: int,
    by_character: bool,
    room: WordRoom,
    hashes: NDArray[np.uint64],
    ends: NDArray[np.int64],
) -> int:
    """Hash rows from `first` on; return the row that is not ASCII or for which there is no room, or `last`.

    `ends[0]` says how many hashes there are already; `ends[i + 1]` becomes how many there are after row `first + i`.
    """
    lowered, edges, out, starts = room
    total = ends[0]
    for row in range(first, last):
        begin, end = offsets[row], offsets[row + 1]
        if total + end - begin > hashes.size:
            return row
        words = ascii_words(data, begin, end, lowered, edges, out, starts)
        if words == NOT_ASCII:
            return row
        total = hash_runs(out, starts, words, width, by_character, hashes, total)
        ends[row - first + 1] = total
    return last


@kernel
def hash_runs(
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
    words: int,
    width: int,
    by_character: bool,
    hashes: NDArray[np.uint64],
    total: int,
) -> int:
    """Hash every run of `width` words or characters, or all if there are fewer; return the new total."""
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
            hashes[total + i] = xxh64_padded(out, starts[i], starts[i + span] - gap, np.uint64(0))
        return total + runs
    for step in range(0, runs, LANES):
        i = min(step, runs - LANES)  # the last step may hash some runs again
        long = xxh64_lanes(out, starts, i, span, gap, hashes, total + i)
        while long:
            j = i + np.int64(trailing_zeros(long))
            hashes[total + j] = xxh64_padded(out, starts[j], starts[j + span] - gap, np.uint64(0))
            long &= long - np.uint64(1)
    return total + runs
