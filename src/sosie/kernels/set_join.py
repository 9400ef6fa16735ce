"""The exact set-similarity join inside one partition of postings (the PPJoin family: prefix and position filters).

Two sets with Jaccard similarity >= t share a feature in their prefixes of the rarest features. The smaller one of a
pair (by size, then row) needs only its index prefix of |x| - ceil(2t / (1 + t) |x|) + 1 features; a pair is looked at
for its first common feature only, so nothing is emitted twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import I32, I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.overlap import required_overlap, shared_features
from sosie.kernels.postings import is_shared


class Sets(NamedTuple):
    """Rows of sorted features, anywhere in one array: row i is `hashes[starts[i]:stops[i]]`."""

    hashes: U64
    starts: I64
    stops: I64


class Prefixes(NamedTuple):
    """The rarest features of each row in order, CSR, and how many of them are enough for the smaller one of a pair."""

    tokens: U64
    offsets: I64
    index_lengths: I64


class Bounds(NamedTuple):
    """What counts as a similar pair: Jaccard >= numerator / denominator.

    Rows below `split` are one collection and the others the second (0: one collection joined with itself).
    """

    numerator: int
    denominator: int
    split: int


@kernel
def _first_common(prefixes: Prefixes, a: int, position_a: int, b: int, position_b: int) -> bool:
    """Whether no token before the two positions is common.

    Tokens hold 48 bits of a hash: two features can share one. One that counts 1 has no posting, so it is not counted.
    """
    i = prefixes.offsets[a]
    j = prefixes.offsets[b]
    i_stop = i + position_a
    j_stop = j + position_b
    while i < i_stop and j < j_stop:
        u = prefixes.tokens[i]
        v = prefixes.tokens[j]
        if u == v and is_shared(u):
            return False
        i += u <= v
        j += v <= u
    return True


@kernel
def _similar(
    sets: Sets, prefixes: Prefixes, bounds: Bounds, a: int, position_a: int, b: int, position_b: int
) -> np.int64:
    """Return 1 if the pair is similar and this is its first common feature, 0 if not, -1 if filters excluded it."""
    size_a = sets.stops[a] - sets.starts[a]
    size_b = sets.stops[b] - sets.starts[b]
    smaller_first = size_a < size_b or (size_a == size_b and a < b)
    if smaller_first:
        if position_a >= prefixes.index_lengths[a]:
            return -1
    elif position_b >= prefixes.index_lengths[b]:
        return -1
    need = required_overlap(size_a, size_b, bounds.numerator, bounds.denominator)
    if min(size_a - position_a, size_b - position_b) < need:
        return -1
    if not _first_common(prefixes, a, position_a, b, position_b):
        return -1
    shared = shared_features(sets.hashes, sets.starts[a], sets.stops[a], sets.starts[b], sets.stops[b], need)
    return 1 if shared >= 0 else 0


@kernel
def grown(values: I64, needed: int) -> I64:
    """Return the array, or a copy with room for as many values as needed."""
    if needed <= values.size:
        return values
    larger = np.empty(max(needed, 2 * values.size), values.dtype)
    larger[: values.size] = values
    return larger


@kernel
def join_postings(
    sets: Sets, prefixes: Prefixes, bounds: Bounds, dense: int, postings: tuple[U64, I32, I32]
) -> tuple[I64, I64, I64, I64, int]:
    """Join one partition of postings (tokens, rows, positions), sorted by token.

    Returns the similar pairs (a, b), the lists longer than `dense` as CSR (offsets, rows), which are not joined, and
    the number of comparisons.
    """
    tokens, rows, positions = postings
    pair_a = np.empty(256, np.int64)
    pair_b = np.empty(256, np.int64)
    pairs = 0
    dense_rows = np.empty(0, np.int64)
    dense_ends = np.zeros(1, np.int64)
    compared = 0
    start = 0
    while start < tokens.size:
        stop = start + 1
        while stop < tokens.size and tokens[stop] == tokens[start]:
            stop += 1
        if stop - start > dense:
            dense_rows = np.concatenate((dense_rows, np.unique(rows[start:stop]).astype(np.int64)))
            dense_ends = np.append(dense_ends, dense_rows.size)
        else:
            for x in range(start, stop):
                a = np.int64(rows[x])
                for y in range(x + 1, stop):
                    b = np.int64(rows[y])
                    if a == b or (bounds.split > 0 and (a < bounds.split) == (b < bounds.split)):
                        continue
                    found = _similar(sets, prefixes, bounds, a, np.int64(positions[x]), b, np.int64(positions[y]))
                    compared += found >= 0
                    if found == 1:
                        pair_a = grown(pair_a, pairs + 1)
                        pair_b = grown(pair_b, pairs + 1)
                        pair_a[pairs] = a
                        pair_b[pairs] = b
                        pairs += 1
        start = stop
    return pair_a[:pairs], pair_b[:pairs], dense_ends, dense_rows, compared
