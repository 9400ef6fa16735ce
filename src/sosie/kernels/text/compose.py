"""Canonical composition (form NFC): decompose, put marks in order, compose again.

Every step takes time linear in the text, however many marks are piled upon one letter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.unicode import BOUNDARY, Point, UnicodeTables, looked_up

LONGEST_DECOMPOSITION = 4
_HANGUL, _LEADS, _VOWELS, _TAILS = 0xAC00, 0x1100, 0x1161, 0x11A7
_LEAD_COUNT, _VOWEL_COUNT, _TAIL_COUNT = 19, 21, 28
_HANGUL_COUNT = _LEAD_COUNT * _VOWEL_COUNT * _TAIL_COUNT
_SHORT = 24  # up to here marks are ordered by insertion


@kernel
def compose(tables: UnicodeTables, points: NDArray[np.int32], count: int, parts: NDArray[np.int32]) -> int:
    """Bring `points[:count]` into form NFC, in place, and return the new count, which may be larger.

    `points` and `parts` (scratch) have room for LONGEST_DECOMPOSITION times `count`.
    """
    index, pages = tables.property_index, tables.property_pages
    total = _decompose(index, pages, tables.nfd_pool, points, count, parts)
    _order_marks(index, pages, parts, total)
    return _recompose(index, pages, tables.pair_keys, tables.pair_values, parts, total, points)


@kernel
def _decompose(
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    pool: NDArray[np.int32],
    points: NDArray[np.int32],
    count: int,
    parts: NDArray[np.int32],
) -> int:
    total = 0
    for i in range(count):
        point = np.int64(points[i])
        syllable = point - _HANGUL
        if 0 <= syllable < _HANGUL_COUNT:
            parts[total] = _LEADS + syllable // (_VOWEL_COUNT * _TAIL_COUNT)
            parts[total + 1] = _VOWELS + syllable // _TAIL_COUNT % _VOWEL_COUNT
            parts[total + 2] = _TAILS + syllable % _TAIL_COUNT
            total += 2 + (syllable % _TAIL_COUNT != 0)
            continue
        entry = looked_up(index, pages, point)
        size = entry >> 12 & 7
        if size == 0:
            parts[total] = point
            total += 1
        for j in range(size):
            parts[total] = pool[(entry >> 15) + j]
            total += 1
    return total


@kernel
def _order_marks(index: NDArray[np.uint16], pages: NDArray[np.uint32], parts: NDArray[np.int32], count: int) -> None:
    """Sort every run of combining marks by combining class, stably."""
    i = 0
    while i < count:
        begin = i
        while i < count and looked_up(index, pages, parts[i]) & 0xFF:
            i += 1
        if i - begin > _SHORT:
            _count_marks(index, pages, parts[begin:i])
        for j in range(begin + 1, i):
            mark = parts[j]
            combining = looked_up(index, pages, mark) & 0xFF
            k = j
            while k > begin and looked_up(index, pages, parts[k - 1]) & 0xFF > combining:
                parts[k] = parts[k - 1]
                k -= 1
            parts[k] = mark
        i += 1


@kernel
def _count_marks(index: NDArray[np.uint16], pages: NDArray[np.uint32], run: NDArray[np.int32]) -> None:
    """Sort one long run of marks by counting."""
    places = np.zeros(257, np.int64)
    for i in range(run.size):
        places[(looked_up(index, pages, run[i]) & 0xFF) + 1] += 1
    for combining in range(256):
        places[combining + 1] += places[combining]
    unordered = run.copy()
    for i in range(run.size):
        combining = looked_up(index, pages, unordered[i]) & 0xFF
        run[places[combining]] = unordered[i]
        places[combining] += 1


@kernel
def _recompose(
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    values: NDArray[np.int32],
    parts: NDArray[np.int32],
    total: int,
    points: NDArray[np.int32],
) -> int:
    end = 0
    starter = -1
    previous = -1  # the combining class of the last code point kept after the starter; -1 if none was
    for i in range(total):
        point = np.int64(parts[i])
        flags = looked_up(index, pages, point)
        combining = flags & 0xFF
        if starter >= 0 and previous < combining and not flags & BOUNDARY:
            composite = _pair(keys, values, np.int64(points[starter]), point)
            if composite > 0:
                points[starter] = composite
                continue
        if combining == 0:
            starter = end
            previous = -1
        else:
            previous = combining
        points[end] = point
        end += 1
    return end


@kernel
def _pair(keys: NDArray[np.uint64], values: NDArray[np.int32], first: Point, second: Point) -> Point:
    """Return what two code points compose to, or 0."""
    lead = first - _LEADS
    vowel = second - _VOWELS
    if 0 <= lead < _LEAD_COUNT and 0 <= vowel < _VOWEL_COUNT:
        return _HANGUL + (lead * _VOWEL_COUNT + vowel) * _TAIL_COUNT
    syllable = first - _HANGUL
    tail = second - _TAILS
    if 0 <= syllable < _HANGUL_COUNT and syllable % _TAIL_COUNT == 0 and 0 < tail < _TAIL_COUNT:
        return first + tail
    key = np.uint64(first) << np.uint64(21) | np.uint64(second)
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52))
    while keys[slot]:
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + 1) & 4095
    return 0
