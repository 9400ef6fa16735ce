"""An inverted file: which rows have each feature, sorted by feature; made of postings in the order of the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import stable_order
from sosie.parallel import ordered_map

_PART = 14  # log2 of the postings of a part: it is sorted in the cache
_MOST = 13  # log2 of the parts: more streams than this are slow to write
_ALONE = 1 << 18  # postings that one thread sorts as soon as several would
_FEW = 64  # postings that are sorted by insertion
_DIGIT = 10  # bits by which a part of more is cut


class Inverted(NamedTuple):
    """Feature `terms[i]`, which are sorted, is in the rows `rows[starts[i]:starts[i + 1]]`, which ascend."""

    terms: U64
    starts: I64
    rows: U32


def invert(hashes: U64, rows: U32, threads: int | None = None) -> Inverted:
    """Return the inverted file of postings that come row after row; a row has a feature at most once.

    >>> made = invert(np.array([7, 9, 7], np.uint64), np.array([0, 0, 5], np.uint32))
    >>> made.terms.tolist(), made.starts.tolist(), made.rows.tolist()
    ([7, 9], [0, 2, 3], [0, 5, 0])
    """
    bits = min(max(len(hashes).bit_length() - _PART, 1), _MOST)
    starts = _part_starts(hashes, bits)
    sorted_hashes, sorted_rows = np.empty_like(hashes), np.empty_like(rows)
    _scatter(hashes, rows, bits, starts[:-1].copy(), sorted_hashes, sorted_rows)
    cuts = np.linspace(0, 1 << bits, 65).astype(np.int64)

    def sort(cut: tuple[int, int]) -> None:
        _sort_parts(sorted_hashes, sorted_rows, starts[cut[0] : cut[1] + 1], bits)

    for _ in ordered_map(sort, pairwise(cuts.tolist()), threads if len(hashes) > _ALONE else 1):
        pass
    terms, begins = _terms(sorted_hashes)
    return Inverted(terms, begins, sorted_rows)


def revert(inverted: Inverted, count: int) -> tuple[U64, I64]:
    """Return the sorted features of each of `count` rows again, and the offsets of the rows.

    >>> hashes, offsets = revert(invert(np.array([7, 9, 7], np.uint64), np.array([0, 0, 2], np.uint32)), 3)
    >>> hashes.tolist(), offsets.tolist()
    ([7, 9, 7], [0, 2, 2, 3])
    """
    return _revert(inverted.terms, inverted.starts, inverted.rows, count)


@kernel
def find_terms(terms: U64, sought: U64) -> I64:
    """Return the place of each feature among the sorted ones, -1 for those that are not there."""
    found = np.empty(sought.size, np.int64)
    for i in range(sought.size):
        low, high = 0, terms.size
        while low < high:
            middle = (low + high) >> 1
            if terms[middle] < sought[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low if low < terms.size and terms[low] == sought[i] else -1
    return found


@kernel
def ascend_in_parts(rows: U32, starts: I64, count: int) -> bool:
    """Whether the rows of every feature ascend and are below `count`; for what comes from a file."""
    for part in range(starts.size - 1):
        before = np.int64(-1)
        for i in range(starts[part], starts[part + 1]):
            row = np.int64(rows[i])
            if row <= before or row >= count:
                return False
            before = row
    return True


@kernel
def _part_starts(hashes: U64, bits: int) -> I64:
    shift = np.uint64(64 - bits)
    starts = np.zeros((1 << bits) + 1, np.int64)
    for i in range(hashes.size):
        starts[np.int64(hashes[i] >> shift) + 1] += 1
    for part in range(1 << bits):
        starts[part + 1] += starts[part]
    return starts


@kernel
def _scatter(hashes: U64, rows: U32, bits: int, places: I64, new_hashes: U64, new_rows: U32) -> None:
    shift = np.uint64(64 - bits)
    for i in range(hashes.size):
        part = np.int64(hashes[i] >> shift)
        place = places[part]
        places[part] = place + 1
        new_hashes[place] = hashes[i]
        new_rows[place] = rows[i]


@kernel
def _sort_parts(hashes: U64, rows: U32, starts: I64, bits: int) -> None:
    """Sort the postings of each part by feature; those of one feature stay in order.

    All features of a part have the same leading `bits`; larger parts are cut by the next ones first.
    """
    longest = 0
    for part in range(starts.size - 1):
        longest = max(longest, starts[part + 1] - starts[part])
    before, beside = np.empty(longest, np.uint64), np.empty(longest, np.uint32)
    places = np.empty((1 << _DIGIT) + 1, np.int64)
    shift, mask = np.uint64(64 - _DIGIT - bits), np.uint64((1 << _DIGIT) - 1)
    for part in range(starts.size - 1):
        first, last = starts[part], starts[part + 1]
        if last - first <= _FEW:
            _sort_span(hashes, rows, first, last)
            continue
        for digit in range(places.size):
            places[digit] = 0
        for i in range(first, last):
            before[i - first], beside[i - first] = hashes[i], rows[i]
            places[np.int64((hashes[i] >> shift) & mask) + 1] += 1
        places[0] = first
        for digit in range(1 << _DIGIT):
            places[digit + 1] += places[digit]
        for i in range(last - first):
            digit = np.int64((before[i] >> shift) & mask)
            place = places[digit]
            hashes[place], rows[place] = before[i], beside[i]
            places[digit] = place + 1
        for digit in range(1 << _DIGIT):  # where a span begins, the one before ends
            _sort_span(hashes, rows, first if digit == 0 else places[digit - 1], places[digit])


@kernel
def _sort_span(hashes: U64, rows: U32, first: int, last: int) -> None:
    if last - first > _FEW:
        order = stable_order(hashes[first:last])
        before, beside = hashes[first:last].copy(), rows[first:last].copy()
        for i in range(order.size):
            hashes[first + i], rows[first + i] = before[order[i]], beside[order[i]]
        return
    for i in range(first + 1, last):
        feature, row = hashes[i], rows[i]
        place = i
        while place > first and hashes[place - 1] > feature:
            hashes[place], rows[place] = hashes[place - 1], rows[place - 1]
            place -= 1
        hashes[place], rows[place] = feature, row


@kernel
def _terms(hashes: U64) -> tuple[U64, I64]:
    """Return the distinct ones of sorted features, and where each begins."""
    distinct = 0
    for i in range(hashes.size):
        if i == 0 or hashes[i] != hashes[i - 1]:
            distinct += 1
    terms, starts = np.empty(distinct, np.uint64), np.empty(distinct + 1, np.int64)
    place = 0
    for i in range(hashes.size):
        if i == 0 or hashes[i] != hashes[i - 1]:
            terms[place], starts[place] = hashes[i], i
            place += 1
    starts[place] = hashes.size
    return terms, starts


@kernel
def _revert(terms: U64, starts: I64, rows: U32, count: int) -> tuple[U64, I64]:
    offsets = np.zeros(count + 1, np.int64)
    for i in range(rows.size):
        offsets[np.int64(rows[i]) + 1] += 1
    for row in range(count):
        offsets[row + 1] += offsets[row]
    places, hashes = offsets[:-1].copy(), np.empty(rows.size, np.uint64)
    for term in range(terms.size):
        for i in range(starts[term], starts[term + 1]):
            row = np.int64(rows[i])
            hashes[places[row]] = terms[term]
            places[row] += 1
    return hashes, offsets
