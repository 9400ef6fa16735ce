"""Pairs of signatures of one word within a radius, whose headers agree.

The blocks of a header are moved to the top of the word, which changes no distance. Rows are scattered into parts by the
first bits of the header, all of them or those of some parts only, and each part, small enough for the cache, into
groups by the bits that follow; the rows of a group are compared at once, while they are at hand, eight at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import near_any

EQUAL = -1  # instead of a number of pairs: two rows are equal
_STEP = 2048  # words that are moved at a time


class HeaderParts(NamedTuple):
    """How a table finds the part of a row: moves (from bit, width, to bit) of blocks, and how many top bits tell it."""

    moves: I64
    bits: int


class WordJoin(NamedTuple):
    """Which pairs one table of a block join shall find.

    `masks[table]` marks the header's bits of each table up to this one, moved as the words are: a pair is written only
    where its own header agrees and none before does. Rows from `split` on are the second collection. With a split of 0
    a collection is joined with itself; there, two equal rows end the work, and `EQUAL` is returned: they are to be
    collapsed first.
    """

    split: int
    radius: int
    masks: U64


@kernel
def count_parts(words: U64, first: int, left_out: U64, table: HeaderParts, counts: I64) -> None:
    """Add how many rows belong to each part; `words` are those of rows `first` and up.

    Rows whose bit is set in `left_out` do not count; where it is empty, all do.
    """
    shift = np.uint64(64 - table.bits)
    moved = np.empty(_STEP, np.uint64)
    for start in range(0, words.shape[0], _STEP):
        size = _move(words, start, table.moves, moved)
        for i in range(size):
            if left_out.size == 0 or not is_set(left_out, first + start + i):
                counts[np.int64(moved[i] >> shift)] += 1


@kernel
def scatter_parts(
    words: U64, first: int, left_out: U64, table: HeaderParts, low: int, places: I64, keys: U64, rows: I32
) -> None:
    """Write moved words and their rows to the next place of their part, which goes on; rows stay in order.

    The parts are those from `low` on that there are places for; rows of others, and those left out, are passed over.
    """
    shift = np.uint64(64 - table.bits)
    moved = np.empty(_STEP, np.uint64)
    for start in range(0, words.shape[0], _STEP):
        size = _move(words, start, table.moves, moved)
        for i in range(size):
            part = np.int64(moved[i] >> shift) - low
            if part < 0 or part >= places.size:
                continue
            row = first + start + i
            if left_out.size == 0 or not is_set(left_out, row):
                at = places[part]
                places[part] = at + 1
                keys[at] = moved[i]
                rows[at] = row


@kernel
def move_words(words: U64, moves: I64) -> U64:
    """Return words with their blocks moved."""
    moved = np.empty(words.shape[0], np.uint64)
    step = np.empty(_STEP, np.uint64)
    for start in range(0, words.shape[0], _STEP):
        for i in range(_move(words, start, moves, step)):
            moved[start + i] = step[i]
    return moved


@kernel
def _move(words: U64, start: int, moves: I64, moved: U64) -> int:
    """Move the blocks of the words from `start` on; return how many these are."""
    size = min(_STEP, words.shape[0] - start)
    for i in range(size):
        moved[i] = np.uint64(0)
    for move in range(moves.shape[0]):
        down, up = np.uint64(moves[move, 0]), np.uint64(moves[move, 2])
        mask = ~np.uint64(0) >> np.uint64(64 - moves[move, 1])
        for i in range(size):
            moved[i] |= ((words[start + i, 0] >> down) & mask) << up
    return size


@kernel
def is_set(bits: U64, row: int) -> bool:
    """Say whether the bit of a row is set."""
    return (bits[row >> 6] >> np.uint64(row & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def set_bits(bits: U64, rows: I64) -> None:
    """Set the bits of rows."""
    for i in range(rows.size):
        bits[rows[i] >> 6] |= np.uint64(1) << np.uint64(rows[i] & 63)


@kernel
def join_words(
    starts: I64, keys: U64, rows: I32, shape: tuple[int, int], place: I64, sought: WordJoin, pairs: U64
) -> tuple[int, int]:
    """Write the pairs of all parts, packed, as far as there is room; return their number and the comparisons.

    Part p is from `starts[p]` to `starts[p + 1]`, found by the first `shape[0]` bits; its groups by `shape[1]` more.
    `place` (part, group, row in the part) is where to begin, and becomes where to go on: it is done when all parts are.
    There has to be room for as many pairs as a part has rows.
    """
    parts, groups = starts.size - 1, 1 << shape[1]
    largest = np.int64(0)
    for part in range(place[0], parts):
        largest = max(largest, starts[part + 1] - starts[part])
    near, near_rows = np.zeros(largest + 8, np.uint64), np.empty(largest, np.int32)
    ends = np.empty(groups + 2, np.int64)
    count, work = np.int64(0), np.int64(0)
    for part in range(place[0], parts):
        span = slice(starts[part], starts[part + 1])
        if span.stop - span.start > 1:
            _group(keys[span], rows[span], shape[0], shape[1], near, near_rows, ends)
            begin = np.int64(0) if place[1] == 0 else ends[place[1] - 1]
            for group in range(place[1], groups):
                end = ends[group]
                if end - begin > 1:
                    at, count, more = _join_group(
                        near, near_rows, max(begin, place[2]), begin, end, sought, pairs, count
                    )
                    work += more
                    if count == EQUAL:
                        return EQUAL, work
                    if at >= 0:
                        place[0], place[1], place[2] = part, group, at
                        return count, work
                begin = end
        place[1], place[2] = 0, 0
    place[0] = parts
    return count, work


@kernel
def _group(keys: U64, rows: I32, top: int, bits: int, near: U64, near_rows: I32, ends: I64) -> None:
    """Scatter a part by the bits below the top ones; `ends[group]` becomes the end of each group."""
    up, shift = np.uint64(top), np.uint64(63 - bits)  # and one more: there may be no bits, and 64 is not defined
    for group in range(ends.size):
        ends[group] = 0
    for i in range(keys.size):
        ends[np.int64((keys[i] << up) >> np.uint64(1) >> shift) + 2] += 1
    for group in range(2, ends.size):
        ends[group] += ends[group - 1]
    for i in range(keys.size):
        group = np.int64((keys[i] << up) >> np.uint64(1) >> shift) + 1
        at = ends[group]
        ends[group] = at + 1
        near[at] = keys[i]
        near_rows[at] = rows[i]
    for group in range(ends.size - 1):
        ends[group] = ends[group + 1]


@kernel
def _join_group(
    near: U64, rows: I32, start: int, begin: int, end: int, sought: WordJoin, pairs: U64, count: int
) -> tuple[int, int, int]:
    """Write the pairs of one group, from the row at `start` on.

    Return the row to go on with where the room does not suffice, -1 if it does, the number of pairs, and comparisons.
    """
    middle, last = begin, end - 1
    if sought.split > 0:
        while middle < end and rows[middle] < sought.split:
            middle += 1
        last = middle if middle < end else begin
    work = 0
    for i in range(start, last):
        others = max(i + 1, middle)
        if near_any(near, others, end, near[i], sought.radius + 1):
            if count + end - others > pairs.size:
                return i, count, work
            for j in range(others, end):
                differ = near[i] ^ near[j]
                if np.int64(popcount(differ)) > sought.radius:
                    continue
                if differ == np.uint64(0) and sought.split == 0:
                    return -1, EQUAL, work
                if _first_shared(differ, sought.masks):
                    pairs[count] = np.uint64(rows[i]) << np.uint64(32) | np.uint64(rows[j])
                    count += 1
        work += end - others
    return -1, count, work


@kernel
def _first_shared(differ: int, masks: U64) -> bool:
    """Say whether the last table is the first whose header does not differ."""
    last = masks.size - 1
    for table in range(last):
        if differ & masks[table] == np.uint64(0):
            return False
    return differ & masks[last] == np.uint64(0)
