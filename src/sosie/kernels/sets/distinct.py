"""Rows of hashes with repeats -> rows of sorted distinct hashes, with counts, and with tags where they have any.

Hashes are evenly spread, so one pass by their leading bits puts every hash within a step or two of its place and an
insertion sort does the rest. Where that fails (many repeats, or hashes that are not spread) a radix sort keeps the
time linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I32, I64, U32, U64, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import sort_values

_LEAST = np.uint32(2)  # as tags of words are
_CROWDED = 24  # a bucket above this size is sorted by radix


def distinct(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], want_counts: bool = False
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32] | None]:
    """Return the rows with their hashes sorted and distinct, new offsets from 0 on, and how often each occurred.

    >>> values, offsets, counts = distinct(np.array([7, 3, 7, 9], np.uint64), np.array([0, 3, 4]), True)
    >>> values.tolist(), offsets.tolist(), counts.tolist()
    ([3, 7, 9], [0, 2, 3], [1, 2, 1])
    """
    values, kept, counts, _ = distinct_tagged(hashes, np.empty(0, np.uint32), offsets, want_counts)
    return values, kept, counts


def distinct_tagged(
    hashes: U64, tags: U32, offsets: I64, want_counts: bool = False
) -> tuple[U64, I64, I32 | None, U32]:
    """Return what `distinct` does, and the tag of each hash; where a hash of a row has several tags, their sum.

    So the tags of a hash in two rows are the same if the hash stands for the same words in both. Without tags (an
    empty array), none are returned.

    >>> hashes, tags = np.array([7, 3, 7, 9, 9, 9], np.uint64), np.array([5, 8, 5, 2, 4, 2], np.uint32)
    >>> values, _, _, tags = distinct_tagged(hashes, tags, np.array([0, 3, 6]))
    >>> values.tolist(), tags.tolist()
    ([3, 7, 9], [8, 5, 6])
    """
    size = int(offsets[-1] - offsets[0])
    values, kept = np.empty(size, np.uint64), np.zeros(len(offsets), np.int64)
    counts = np.empty(size if want_counts else 0, np.int32)
    kept_tags = np.empty(size if len(tags) else 0, np.uint32)
    rows = DistinctRows(values, kept, counts, kept_tags)
    total = _distinct(read_only(hashes), read_only(tags), read_only(offsets), rows)
    return values[:total], kept, counts[:total] if want_counts else None, kept_tags[:total]


class DistinctRows(NamedTuple):
    """Room for distinct hashes of rows, their offsets, and counts and tags, empty where they are not wanted."""

    values: U64
    kept: I64
    counts: I32
    tags: U32


class _Ordered(NamedTuple):
    """Room for the hashes of one row in order, for their tags, if there are any, and as much to sort them by."""

    values: U64
    tags: U32
    spare: U64
    spare_tags: U32


@kernel
def _distinct(hashes: U64, tags: U32, offsets: I64, rows: DistinctRows) -> int:
    longest = 1
    for row in range(offsets.size - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    tagged, want_counts = tags.size > 0, rows.counts.size > 0
    most = longest if tagged else 0
    ordered = _Ordered(
        np.empty(longest, np.uint64), np.empty(most, np.uint32), np.empty(longest, np.uint64), np.empty(most, np.uint32)
    )
    ends = np.empty(2 * longest + 2, np.int64)
    total = 0
    for row in range(offsets.size - 1):
        size = offsets[row + 1] - offsets[row]
        _sort(hashes, tags, offsets[row], size, ordered, ends)
        begin = total
        mixed = False
        for i in range(size):
            value = ordered.values[i]
            rows.values[total] = value
            fresh = i == 0 or value != ordered.values[i - 1]
            if tagged:
                rows.tags[total] = ordered.tags[i]
                mixed |= not fresh and ordered.tags[i] != ordered.tags[i - 1]
            if want_counts:
                if fresh:
                    rows.counts[total] = 1
                else:
                    rows.counts[total - 1] += 1
            total += fresh
        if mixed:
            _add_tags(ordered, size, rows.tags[begin:])
        rows.kept[row + 1] = rows.kept[row] + total - begin
    return total


@kernel
def _add_tags(ordered: _Ordered, size: int, tags: U32) -> None:
    """Write the sum of the distinct tags of each hash of a row in order."""
    begin, count = 0, 0
    while begin < size:
        end = begin + 1
        while end < size and ordered.values[end] == ordered.values[begin]:
            end += 1
        here = ordered.tags[begin:end]
        sort_values(here)
        added = here[0]
        for i in range(1, here.size):
            if here[i] != here[i - 1]:
                added = np.uint32(added + here[i])
        tags[count] = max(added, _LEAST)
        count += 1
        begin = end


@kernel
def _sort(hashes: U64, tags: U32, start: int, size: int, ordered: _Ordered, ends: I64) -> None:
    """Sort `hashes[start : start + size]` into `ordered.values[:size]`, with their tags if there are any."""
    tagged, values, labels = tags.size > 0, ordered.values, ordered.tags
    bits = 1
    while (1 << bits) < size:
        bits += 1
    shift = np.uint64(64 - bits)
    buckets = 1 << bits
    ends[:buckets] = 0
    for i in range(start, start + size):
        ends[np.int64(hashes[i] >> shift)] += 1
    position = 0
    fullest = 0
    for bucket in range(buckets):
        held = ends[bucket]
        fullest = max(fullest, held)
        ends[bucket] = position
        position += held
    for i in range(start, start + size):
        held_in = np.int64(hashes[i] >> shift)
        values[ends[held_in]] = hashes[i]
        if tagged:
            labels[ends[held_in]] = tags[i]
        ends[held_in] += 1
    if fullest > _CROWDED:
        begin = np.int64(0)
        for bucket in range(buckets):
            if ends[bucket] - begin > _CROWDED:
                _radix(ordered, begin, ends[bucket])
            begin = ends[bucket]
    for i in range(1, size):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        if tagged and j < i:
            label = labels[i]
            for k in range(i, j, -1):
                labels[k] = labels[k - 1]
            labels[j] = label


@kernel
def _radix(ordered: _Ordered, begin: int, end: int) -> None:
    """Sort values from `begin` to `end` by one byte after the other."""
    values, tags, spare, spare_tags = ordered
    counts = np.empty(257, np.int64)
    for shift in range(0, 64, 8):
        counts[:] = 0
        for i in range(begin, end):
            counts[np.int64((values[i] >> np.uint64(shift)) & np.uint64(255)) + 1] += 1
        for byte in range(256):
            counts[byte + 1] += counts[byte]
        for i in range(begin, end):
            digit = np.int64((values[i] >> np.uint64(shift)) & np.uint64(255))
            spare[counts[digit]] = values[i]
            if tags.size > 0:
                spare_tags[counts[digit]] = tags[i]
            counts[digit] += 1
        for i in range(begin, end):
            values[i] = spare[i - begin]
            if tags.size > 0:
                tags[i] = spare_tags[i - begin]
