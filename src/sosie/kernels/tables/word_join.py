"""Pairs of one-word signatures within a radius, whose headers agree.

Rows are scattered into parts by the first half of the header, and each part, small enough for the cache, into groups by
the second half; the rows of a group are compared at once, while they are at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.tables.hamming_join import EQUAL, SoughtPairs
from sosie.kernels.tables.near_any import near_any


class JoinRoom(NamedTuple):
    """Room for one table's work, used again for the next: keys as they come, then keys and rows by parts."""

    keys: U64
    parted: U64
    rows: I32

    @staticmethod
    def of(count: int) -> JoinRoom:
        """Return room for so many rows."""
        return JoinRoom(np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count, np.int32))


@kernel
def split_parts(words: U64, moves: I64, bits: int, room: JoinRoom) -> I64:
    """Move blocks to the top of the signatures, scatter them by their top bits and return where the parts start.

    A move is (from bit, width, to bit). Moving blocks changes no distance.
    """
    keys = room.keys
    _move_blocks(words, moves, keys)
    shift = np.uint64(64 - bits)
    starts = np.zeros((1 << bits) + 1, np.int64)
    for i in range(keys.size):
        starts[np.int64(keys[i] >> shift) + 1] += 1
    for part in range(1 << bits):
        starts[part + 1] += starts[part]
    place = starts[:-1].copy()
    for i in range(keys.size):
        part = np.int64(keys[i] >> shift)
        at = place[part]
        place[part] = at + 1
        room.parted[at] = keys[i]
        room.rows[at] = i
    return starts


@kernel
def _move_blocks(words: U64, moves: I64, keys: U64) -> None:
    for start in range(0, keys.size, 2048):
        part, source = keys[start : start + 2048], words[start : start + 2048, 0]
        part[:] = np.uint64(0)
        for i in range(moves.shape[0]):
            down, up = np.uint64(moves[i, 0]), np.uint64(moves[i, 2])
            mask = ~np.uint64(0) >> np.uint64(64 - moves[i, 1])
            for row in range(part.size):
                part[row] |= ((source[row] >> down) & mask) << up


@kernel
def join_parts(
    starts: I64, room: JoinRoom, first: int, bits: int, sought: SoughtPairs, pairs: I64
) -> tuple[int, int, int, int]:
    """Write the pairs of the parts from `first` on, up to a part whose pairs do not fit.

    Return that part, the number of pairs written, the number of comparisons, and the number of pairs of the part that
    did not fit. Inside a part the keys are grouped by `bits` more bits.
    """
    parts = starts.size - 1
    top = np.uint64(0)
    while (1 << np.int64(top)) < parts:
        top += np.uint64(1)
    largest = 0
    for part in range(parts):
        largest = max(largest, starts[part + 1] - starts[part])
    near, rows = np.zeros(largest + 8, np.uint64), np.empty(largest, np.int32)
    ends = np.empty((1 << bits) + 2, np.int64)
    count, work = 0, 0
    for part in range(first, parts):
        span = slice(starts[part], starts[part + 1])
        _group(room.parted[span], room.rows[span], top, bits, near, rows, ends)
        kept, kept_work = count, work
        begin = 0
        for group in range(1 << bits):
            count, more = _join_group(near, rows, begin, ends[group], sought, pairs, count)
            if count == EQUAL:
                return part, EQUAL, work, 0
            work += more
            begin = ends[group]
        if count > pairs.shape[0]:
            return part, kept, kept_work, count - kept
    return parts, count, work, 0


@kernel
def _group(keys: U64, rows: I32, top: int, bits: int, near: U64, near_rows: I32, ends: I64) -> None:
    """Scatter a part by the bits below the top ones; `ends[group]` becomes the end of each group."""
    shift = np.uint64(63 - bits)  # and one more: there may be no bits, and a shift by 64 is not defined
    ends[:] = 0
    for i in range(keys.size):
        ends[np.int64((keys[i] << top) >> np.uint64(1) >> shift) + 2] += 1
    for group in range(2, ends.size):
        ends[group] += ends[group - 1]
    for i in range(keys.size):
        group = np.int64((keys[i] << top) >> np.uint64(1) >> shift) + 1
        at = ends[group]
        ends[group] = at + 1
        near[at] = keys[i]
        near_rows[at] = rows[i]
    for group in range(ends.size - 1):
        ends[group] = ends[group + 1]


@kernel
def _join_group(
    near: U64, rows: I32, begin: int, end: int, sought: SoughtPairs, pairs: I64, count: int
) -> tuple[int, int]:
    """Write the pairs of one group; return their number, counting on when the room is full, and the comparisons."""
    middle, last = begin, end - 1
    if sought.split > 0:
        while middle < end and rows[middle] < sought.split:
            middle += 1
        last = middle if middle < end else begin
    work = 0
    for i in range(begin, last):
        others = max(i + 1, middle)
        work += end - others
        if not near_any(near, others, end, near[i], sought.radius + 1):
            continue
        for j in range(others, end):
            if np.int64(popcount(near[i] ^ near[j])) > sought.radius:
                continue
            differ = sought.words[rows[i], 0] ^ sought.words[rows[j], 0]
            if differ == np.uint64(0) and sought.split == 0:
                return EQUAL, work
            if _first_shared(differ, sought.masks):
                if count < pairs.shape[0]:
                    pairs[count, 0], pairs[count, 1] = rows[i], rows[j]
                count += 1
    return count, work


@kernel
def _first_shared(differ: int, masks: U64) -> bool:
    """Say whether the last table is the first whose header does not differ."""
    last = masks.shape[0] - 1
    for table in range(last):
        if differ & masks[table, 0] == np.uint64(0):
            return False
    return differ & masks[last, 0] == np.uint64(0)
