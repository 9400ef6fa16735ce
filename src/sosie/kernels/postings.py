"""Postings of the prefix features, cut into partitions that fit the cache and sorted by feature inside each."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I32, I64, U64
from sosie.kernels.compile import kernel
from sosie.kernels.rarity import HASH_BITS


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


@kernel
def scatter_postings(
    tokens: U64,
    offsets: I64,
    first: int,
    stop: int,
    bits: int,
    places: I64,
    rows: I32,
    positions: I32,
) -> None:
    """Write (row, position in its prefix) of every shared token to its partition; `places` say where each goes on."""
    for row in range(first, stop):
        for at in range(offsets[row], offsets[row + 1]):
            if is_shared(tokens[at]):
                partition = partition_of(tokens[at], bits)
                place = places[partition]
                rows[place] = row
                positions[place] = at - offsets[row]
                places[partition] = place + 1


@kernel
def sort_postings(tokens: U64, offsets: I64, rows: I32, positions: I32) -> U64:
    """Sort one partition's postings by token, rows ascending inside; returns the sorted tokens."""
    count = rows.size
    bits = 1
    while (1 << bits) < count:
        bits += 1
    # The partition took leading bits; the trailing ones are as random.
    mask = np.uint64((1 << bits) - 1)
    starts = np.zeros((1 << bits) + 1, np.int64)
    found = np.empty(count, np.uint64)
    for i in range(count):
        found[i] = tokens[offsets[rows[i]] + positions[i]]
        starts[np.int64(found[i] & mask) + 1] += 1
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    fill = starts[:-1].copy()
    by_token = np.empty(count, np.uint64)
    by_row = np.empty(count, rows.dtype)
    by_position = np.empty(count, positions.dtype)
    for i in range(count):
        bucket = np.int64(found[i] & mask)
        place = fill[bucket]
        by_token[place] = found[i]
        by_row[place] = rows[i]
        by_position[place] = positions[i]
        fill[bucket] = place + 1
    for bucket in range(1 << bits):
        _sort_bucket(by_token, by_row, by_position, starts[bucket], starts[bucket + 1])
    rows[:] = by_row
    positions[:] = by_position
    return by_token


@kernel
def _sort_bucket(tokens: U64, rows: I32, positions: I32, start: int, stop: int) -> None:
    if stop - start > 64:
        order = np.argsort(tokens[start:stop], kind="mergesort")
        tokens[start:stop] = tokens[start:stop][order]
        rows[start:stop] = rows[start:stop][order]
        positions[start:stop] = positions[start:stop][order]
        return
    for i in range(start + 1, stop):
        token = tokens[i]
        row = rows[i]
        position = positions[i]
        place = i
        while place > start and tokens[place - 1] > token:
            tokens[place] = tokens[place - 1]
            rows[place] = rows[place - 1]
            positions[place] = positions[place - 1]
            place -= 1
        tokens[place] = token
        rows[place] = row
        positions[place] = position
