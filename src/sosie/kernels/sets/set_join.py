"""The exact set-similarity join inside one partition of postings (the PPJoin family: prefix and position filters).

Two sets with Jaccard similarity >= t share a feature in their prefixes of the rarest features. The smaller one of a
pair (by size, then row) needs only its index prefix of |x| - ceil(2t / (1 + t) |x|) + 1 features; a pair is looked at
for its first common feature only, so nothing is emitted twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64, Bools
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.overlap import shared_features
from sosie.kernels.sets.postings import Postings


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
def none_common(tokens: U64, i: int, i_stop: int, j: int, j_stop: int) -> bool:
    """Whether two ascending spans of tokens have nothing in common."""
    while i < i_stop and j < j_stop:
        u = tokens[i]
        v = tokens[j]
        if u == v:
            return False
        i += u < v
        j += v < u
    return True


class List(NamedTuple):
    """What the filters need of each posting, beside it: reading a list then needs no look at the rows themselves."""

    sizes: I32
    indexed: Bools
    previous: U64


@kernel
def _listed(sets: Sets, prefixes: Prefixes, postings: Postings) -> List:
    count = postings.rows.size
    beside = List(np.empty(count, np.int32), np.empty(count, np.bool_), np.empty(count, np.uint64))
    for i in range(count):
        row = postings.rows[i]
        position = postings.positions[i]
        beside.sizes[i] = sets.stops[row] - sets.starts[row]
        beside.indexed[i] = position < prefixes.index_lengths[row]
        beside.previous[i] = prefixes.tokens[prefixes.offsets[row] + position - 1] if position > 0 else np.uint64(i)
    return beside


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
    sets: Sets, prefixes: Prefixes, bounds: Bounds, dense: int, postings: Postings
) -> tuple[I64, I64, I64, I64, int]:
    """Join one partition of postings, ordered by token.

    Returns the similar pairs (a, b), the lists longer than `dense` as CSR (offsets, rows), which are not joined, and
    the number of comparisons.
    """
    # The inner loop works on plain arrays: a tuple handed to another kernel is counted as a reference each time.
    tokens, rows, positions = postings
    sizes, indexed, previous = _listed(sets, prefixes, postings)
    part, whole = bounds.numerator, bounds.numerator + bounds.denominator
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    dense_rows, dense_ends = np.empty(0, np.int64), np.zeros(1, np.int64)
    pairs = compared = start = 0
    while start < tokens.size:
        stop = start + 1
        while stop < tokens.size and tokens[stop] == tokens[start]:
            stop += 1
        if stop - start > dense:
            dense_rows = np.concatenate((dense_rows, np.unique(rows[start:stop]).astype(np.int64)))
            dense_ends = np.append(dense_ends, dense_rows.size)
            start = stop
            continue
        for x in range(start, stop):
            for y in range(x + 1, stop):
                if previous[x] == previous[y]:
                    continue  # this is not their first common feature
                both = np.int64(sizes[x]) + np.int64(sizes[y])
                if whole * min(sizes[x] - positions[x], sizes[y] - positions[y]) < part * both:
                    continue  # too few features are left
                smaller = x if sizes[x] <= sizes[y] else y  # of equal sizes the lower row, and rows ascend
                if not indexed[smaller]:
                    continue
                a, b = np.int64(rows[x]), np.int64(rows[y])
                if a == b or (bounds.split > 0 and (a < bounds.split) == (b < bounds.split)):
                    continue  # two features of one document may share the 48 bits of a token
                i, j = prefixes.offsets[a], prefixes.offsets[b]
                if not none_common(prefixes.tokens, i, i + positions[x], j, j + positions[y]):
                    continue
                compared += 1
                need = (part * both + whole - 1) // whole
                if (
                    shared_features(sets.hashes, sets.starts[a], sets.stops[a], sets.starts[b], sets.stops[b], need)
                    >= 0
                ):
                    pair_a, pair_b = grown(pair_a, pairs + 1), grown(pair_b, pairs + 1)
                    pair_a[pairs], pair_b[pairs] = a, b
                    pairs += 1
        start = stop
    return pair_a[:pairs], pair_b[:pairs], dense_ends, dense_rows, compared
