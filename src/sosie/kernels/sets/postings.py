"""Postings of the prefix features, cut into partitions that fit the cache and sorted by feature inside each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import stable_order
from sosie.kernels.sets.rarity import HASH_BITS


@kernel
def partition_of(token: np.uint64, bits: int) -> np.int64:
    """Return the partition of a token: the leading bits of its hash."""
    return np.int64((token >> np.uint64(HASH_BITS - bits)) & np.uint64((1 << bits) - 1))


@kernel
def is_shared(token: np.uint64) -> bool:
    """Whether more than one document may hold a token's feature; one that a single document holds matches nothing."""
    return (token >> np.uint64(HASH_BITS)) > np.uint64(1)


@kernel
def count_postings(tokens: U64, offsets: I64, first: int, stop: int, bits: int) -> I64:
    """Count the postings of rows first..stop in each partition."""
    counts = np.zeros(1 << bits, np.int64)
    for at in range(offsets[first], offsets[stop]):
        if is_shared(tokens[at]):
            counts[partition_of(tokens[at], bits)] += 1
    return counts


class Postings(NamedTuple):
    """Where the features of the prefixes occur: token, row, position in the row's prefix."""

    tokens: U64
    rows: I32
    positions: I32


@kernel
def scatter_postings(
    tokens: U64, offsets: I64, first: int, stop: int, bits: int, places: I64, postings: Postings
) -> None:
    """Write the postings of rows first..stop to their partitions; `places` say where each partition goes on."""
    for row in range(first, stop):
        for at in range(offsets[row], offsets[row + 1]):
            if is_shared(tokens[at]):
                partition = partition_of(tokens[at], bits)
                place = places[partition]
                postings.tokens[place] = tokens[at]
                postings.rows[place] = row
                postings.positions[place] = at - offsets[row]
                places[partition] = place + 1


@kernel
def sorted_postings(postings: Postings) -> Postings:
    """Return one partition's postings ordered by token, rows ascending inside."""
    count = postings.rows.size
    bits = 1
    while (1 << bits) < count:
        bits += 1
    # The partition took leading bits; the trailing ones are as random.
    mask = np.uint64((1 << bits) - 1)
    starts = np.zeros((1 << bits) + 1, np.int64)
    for i in range(count):
        starts[np.int64(postings.tokens[i] & mask) + 1] += 1
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    ordered = Postings(np.empty(count, np.uint64), np.empty(count, np.int32), np.empty(count, np.int32))
    fill = starts[:-1].copy()
    for i in range(count):
        bucket = np.int64(postings.tokens[i] & mask)
        place = fill[bucket]
        ordered.tokens[place] = postings.tokens[i]
        ordered.rows[place] = postings.rows[i]
        ordered.positions[place] = postings.positions[i]
        fill[bucket] = place + 1
    for bucket in range(1 << bits):
        if starts[bucket + 1] - starts[bucket] > 1:
            _sort_bucket(ordered.tokens, ordered.rows, ordered.positions, starts[bucket], starts[bucket + 1])
    return ordered


@kernel
def _sort_bucket(tokens: U64, rows: I32, positions: I32, start: int, stop: int) -> None:
    if stop - start > 64:
        order = stable_order(tokens[start:stop])
        before = Postings(tokens[start:stop].copy(), rows[start:stop].copy(), positions[start:stop].copy())
        for i in range(order.size):
            tokens[start + i] = before.tokens[order[i]]
            rows[start + i] = before.rows[order[i]]
            positions[start + i] = before.positions[order[i]]
        return
    for i in range(start + 1, stop):
        token, row, position = tokens[i], rows[i], positions[i]
        place = i
        while place > start and tokens[place - 1] > token:
            tokens[place], rows[place], positions[place] = tokens[place - 1], rows[place - 1], positions[place - 1]
            place -= 1
        tokens[place], rows[place], positions[place] = token, row, position
