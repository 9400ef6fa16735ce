"""Pairs of signatures of several words within a radius, whose headers agree: sorted by a hash of the header.

Those of one word are in `word_join.py`. They share no loop: a word is compared eight at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.tables.word_join import EQUAL


class TableJoin(NamedTuple):
    """Which pairs one table of a block join shall find.

    `masks[table]` marks the header's bits of each table up to this one: a pair is written only where its own header
    agrees and none before does. Rows from `split` on are the second collection. With a split of 0 a collection is
    joined with itself; there, two equal rows end the work, and `EQUAL` is returned: they are to be collapsed first.
    """

    split: int
    radius: int
    masks: U64


@kernel
def hash_headers(words: U64, mask: U64) -> U64:
    """Return well-mixed keys of the bits in `mask`."""
    keys = np.empty(words.shape[0], np.uint64)
    for row in range(keys.size):
        key = np.uint64(0)
        for w in range(mask.size):
            if mask[w] != np.uint64(0):
                key = splitmix64(key ^ (words[row, w] & mask[w]))
        keys[row] = key
    return keys


@kernel
def join_hashed(
    keys: U64, rows: I64, bits: int, near: U64, start: int, sought: TableJoin, pairs: I64
) -> tuple[int, int, int]:
    """Write pairs of rows whose keys agree in their top bits; return the next place, the pairs and the comparisons.

    Keys and rows are ordered by those bits; `near` holds the signatures in that order. It stops early when the room in
    `pairs` may not suffice for the next row.
    """
    shift = np.uint64(64 - bits)
    count, work = 0, 0
    i = start
    while i < keys.size:
        begin, end = i, i + 1  # a group that is gone on with begins where it was left
        while end < keys.size and keys[end] >> shift == keys[i] >> shift:
            end += 1
        middle, last = begin, end - 1
        if sought.split > 0:
            while middle < end and rows[middle] < sought.split:
                middle += 1
            last = middle if middle < end else begin
        while i < last:
            others = max(i + 1, middle)
            if count + end - others > pairs.shape[0]:
                return i, count, work
            work += end - others
            for j in range(others, end):
                if hamming(near[i], near[j]) > sought.radius:
                    continue
                if sought.split == 0 and hamming(near[i], near[j]) == 0:
                    return i, EQUAL, work
                if first_shared(near[i], near[j], sought.masks):
                    pairs[count, 0], pairs[count, 1] = rows[i], rows[j]
                    count += 1
            i += 1
        i = end
    return keys.size, count, work


@kernel
def hamming(a: U64, b: U64) -> int:
    """Return the number of bits in which two signatures differ."""
    distance = np.int64(0)
    for w in range(a.size):
        distance += np.int64(popcount(a[w] ^ b[w]))
    return distance


@kernel
def first_shared(a: U64, b: U64, masks: U64) -> bool:
    """Say whether the last table is the first whose header two rows share."""
    last = masks.shape[0] - 1
    for table in range(last + 1):
        differ = np.uint64(0)
        for w in range(a.size):
            differ |= (a[w] ^ b[w]) & masks[table, w]
        if (differ == np.uint64(0)) != (table == last):
            return False
    return True
