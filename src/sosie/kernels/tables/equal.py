"""Equal rows: of signatures, the lowest row with the same words; of features, a digest of each row, and the proof."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U32, U64, Bools, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.similarity import same_words
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.tables.sort_rows import bits_to_tell, sort_by_top_bits


def first_equal(words: U64) -> I64:
    """Return for every row the lowest row with the same words.

    >>> first_equal(np.array([[7], [1], [7]], np.uint64)).tolist()
    [0, 1, 0]
    """
    first = np.arange(len(words))
    if len(words) > 1:
        bits = bits_to_tell(len(words))
        keys, rows = sort_by_top_bits(hash_rows(read_only(words)), np.arange(len(words)), bits)
        _first_in_runs(read_only(words), keys, rows, bits, first)
    return first


@kernel
def hash_rows(words: U64) -> U64:
    """Return a well-mixed key of every row; equal rows have equal keys."""
    keys = np.empty(words.shape[0], np.uint64)
    for row in range(words.shape[0]):
        key = np.uint64(0)
        for w in range(words.shape[1]):
            key = splitmix64(key ^ words[row, w])
        keys[row] = key
    return keys


@kernel
def _first_in_runs(words: U64, keys: U64, rows: I64, bits: int, first: I64) -> None:
    """Fill `first` from rows ordered by the top bits of their keys.

    Inside a run of equal top bits a row is compared with the first row of every kind seen; there is seldom a second.
    """
    shift = np.uint64(64 - bits)
    kinds = np.empty(keys.size, np.int64)
    count = 0
    for i in range(keys.size):
        if count > 0 and keys[kinds[0]] >> shift != keys[i] >> shift:
            count = 0
        found = False
        for c in range(count):
            if keys[kinds[c]] == keys[i] and _same(words, rows[kinds[c]], rows[i]):
                first[rows[i]] = rows[kinds[c]]
                found = True
                break
        if not found:
            kinds[count] = i
            count += 1


@kernel
def copies_in_runs(words: U64, keys: U64, rows: I64, bits: int, copies: U64) -> int:
    """Write (first row, row) of every row that equals an earlier one, packed; return how many there are.

    Keys and rows are ordered by the top bits of the keys, those of equal ones by row; word i is that of row i. The rest
    is as in `_first_in_runs`.
    """
    shift = np.uint64(64 - bits)
    kinds = np.empty(keys.size, np.int64)
    count, written = 0, np.int64(0)
    for i in range(keys.size):
        if count > 0 and keys[kinds[0]] >> shift != keys[i] >> shift:
            count = 0
        found = False
        for c in range(count):
            first = rows[kinds[c]]
            if keys[kinds[c]] == keys[i] and _same(words, first, rows[i]):
                copies[written] = np.uint64(first) << np.uint64(32) | np.uint64(rows[i])
                written += 1
                found = True
                break
        if not found:
            kinds[count] = i
            count += 1
    return written


@kernel
def _same(words: U64, a: int, b: int) -> bool:
    for w in range(words.shape[1]):
        if words[a, w] != words[b, w]:
            return False
    return True


@kernel
def set_digests(hashes: U64, starts: I64, stops: I64) -> U64:
    """Return a 64-bit digest of each row: the sum of its features, which are hashes already."""
    digests = np.empty(starts.size, np.uint64)
    for row in range(starts.size):
        digest = np.uint64(0)
        for at in range(starts[row], stops[row]):
            digest += hashes[at]
        digests[row] = digest
    return digests


@kernel
def weighted_digests(hashes: U64, weights: U64, starts: I64, stops: I64) -> U64:
    """Return a 64-bit digest of each row's features and the bits of their weights."""
    digests = np.empty(starts.size, np.uint64)
    for row in range(starts.size):
        digest = np.uint64(0)
        for at in range(starts[row], stops[row]):
            digest += splitmix64(hashes[at] ^ splitmix64(weights[at]))
        digests[row] = digest
    return digests


@kernel
def equal_tags(tags: U32, starts: I64, stops: I64, a: I64, b: I64) -> Bools:
    """Return whether the features of rows a[i] and b[i], which have the same hashes, stand for the same words."""
    equal = np.empty(a.size, np.bool_)
    for pair in range(a.size):
        i, j = starts[a[pair]], starts[b[pair]]
        same = True
        for at in range(stops[a[pair]] - i):
            if not same_words(tags, i + at, j + at):
                same = False
                break
        equal[pair] = same
    return equal


@kernel
def equal_rows(hashes: U64, starts: I64, stops: I64, a: I64, b: I64) -> Bools:
    """Return whether rows a[i] and b[i] hold the same features."""
    equal = np.empty(a.size, np.bool_)
    for pair in range(a.size):
        i = starts[a[pair]]
        j = starts[b[pair]]
        size = stops[a[pair]] - i
        same = size == stops[b[pair]] - j
        if same:
            for at in range(size):
                if hashes[i + at] != hashes[j + at]:
                    same = False
                    break
        equal[pair] = same
    return equal
