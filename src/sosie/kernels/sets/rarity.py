"""Document frequencies in a table, and each row's features from rare to frequent, as far as a join needs them.

A feature's slot is its leading bits. Features that share a slot share a count, so a count is an upper bound: what
counts 1 is certainly unique. Any order that is the same for all documents keeps the join exact; rarity makes it fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I64, U16, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import sort_values, stable_order
from sosie.kernels.sets.similarity import WeighedSets

SATURATED = 0xFFFF
HASH_BITS = 48
COMMON = 64  # frequencies below this are told apart by counting
SLACK = 1 - 1e-9  # filters compare floats: what rounding could decide passes, and is decided exactly later


@kernel
def count_documents(
    hashes: U64,
    starts: I64,
    stops: I64,
    low: np.uint64,
    high: np.uint64,
    shift: int,
    table: U16,
) -> None:
    """Count, for features from low to high (inclusive), the documents that hold them; rows are sorted."""
    bits = np.uint64(shift)
    for row in range(starts.size):
        for at in range(starts[row], stops[row]):
            h = hashes[at]
            if h < low:
                continue
            if h > high:
                break
            slot = h >> bits
            count = table[slot]
            if count < SATURATED:
                table[slot] = count + 1


@kernel
def token(count: int, h: np.uint64) -> np.uint64:
    """Return a feature's token: how many documents hold it, before 48 bits of its hash."""
    return (np.uint64(count) << np.uint64(HASH_BITS)) | (h >> np.uint64(64 - HASH_BITS))


@kernel
def _rarest(hashes: U64, counts: U16, places: I64, prefix: U64) -> None:
    """Write the rarest features of one document: a counting sort by frequency, which keeps the order of the hashes.

    Only features more frequent than COMMON are sorted among themselves, where the prefix reaches that far.
    """
    places[:] = 0
    for i in range(counts.size):
        places[min(np.int64(counts[i]), COMMON)] += 1
    taken = 0
    for count in range(COMMON + 1):
        here = places[count]
        places[count] = taken
        taken += here
    common = places[COMMON]
    for i in range(counts.size):
        count = min(np.int64(counts[i]), COMMON)
        place = places[count]
        if count < COMMON:
            if place < prefix.size:
                prefix[place] = token(count, hashes[i])
            places[count] = place + 1
    if common < prefix.size:
        tokens = np.empty(counts.size - common, np.uint64)
        found = 0
        for i in range(counts.size):
            if counts[i] >= COMMON:
                tokens[found] = token(np.int64(counts[i]), hashes[i])
                found += 1
        sort_values(tokens)
        for i in range(common, prefix.size):
            prefix[i] = tokens[i - common]


@kernel
def rarest_prefixes(hashes: U64, starts: I64, stops: I64, shift: int, table: U16, offsets: I64, tokens: U64) -> None:
    """Write the prefix of every row to `tokens[offsets[row]:offsets[row + 1]]`.

    A token is a feature's frequency before 48 bits of its hash, so that tokens are ordered from rare to frequent.
    """
    bits = np.uint64(shift)
    counts, places = np.empty(64, np.uint16), np.empty(COMMON + 1, np.int64)
    for row in range(starts.size):
        size = stops[row] - starts[row]
        if size == 0:
            continue
        if size > counts.size:
            counts = np.empty(2 * size, np.uint16)
        row_hashes = hashes[starts[row] : stops[row]]
        for i in range(size):
            counts[i] = table[row_hashes[i] >> bits]
        _rarest(row_hashes, counts[:size], places, tokens[offsets[row] : offsets[row + 1]])


class Ranked(NamedTuple):
    """Tokens from rare to frequent, CSR; `rests` is the sum of the squared weights of a feature and all after it."""

    tokens: U64
    offsets: I64
    rests: F64


@kernel
def rank_rows(rows: WeighedSets, first: int, stop: int, share: float, shift: int, table: U16) -> Ranked:
    """Rank the features of rows first..stop, up to the last one whose rest is at least this share of the whole.

    What follows is too little: a pair whose first common feature is there has a cosine below sqrt(share).
    """
    bits = np.uint64(shift)
    features = 0
    for row in range(first, stop):
        features += rows.stops[row] - rows.starts[row]
    tokens, rests = np.empty(features, np.uint64), np.empty(features, np.float64)
    offsets = np.zeros(stop - first + 1, np.int64)
    taken = 0
    for row in range(first, stop):
        start = rows.starts[row]
        size = rows.stops[row] - start
        own = tokens[taken : taken + size]
        for i in range(size):
            h = rows.hashes[start + i]
            own[i] = token(np.int64(table[h >> bits]), h)
        rest = 0.0
        if rows.weights.size == 0:
            sort_values(own)
            for i in range(size - 1, -1, -1):
                rest += 1.0
                rests[taken + i] = rest
        else:
            order, unordered = stable_order(own), own.copy()
            for i in range(size):
                own[i] = unordered[order[i]]
            for i in range(size - 1, -1, -1):
                weight = rows.weights[start + order[i]]
                rest += weight * weight
                rests[taken + i] = rest
        length = 0
        while length < size and rest > 0 and rests[taken + length] >= share * rest * SLACK:
            length += 1
        taken += length
        offsets[row - first + 1] = taken
    return Ranked(tokens[:taken].copy(), offsets, rests[:taken].copy())
