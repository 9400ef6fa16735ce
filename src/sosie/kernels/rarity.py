"""Document frequencies in a table, and the prefix of each document's rarest features.

A feature's slot is its leading bits. Features that share a slot share a count, so a count is an upper bound: what
counts 1 is certainly unique. Any order that is the same for all documents keeps the join exact; rarity makes it fast.
"""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I64, U16, U64
from sosie.kernels.compile import kernel

SATURATED = 0xFFFF
HASH_BITS = 48


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
def rarest_prefix(hashes: U64, start: int, stop: int, shift: int, table: U16, prefix: U64) -> None:
    """Write the rarest features of one document in order, each as its frequency before 48 bits of its hash."""
    bits = np.uint64(shift)
    mask = (np.uint64(1) << np.uint64(HASH_BITS)) - np.uint64(1)
    length = prefix.size
    if stop - start > 256:
        tokens = np.empty(stop - start, np.uint64)
        for at in range(start, stop):
            h = hashes[at]
            tokens[at - start] = (np.uint64(table[h >> bits]) << np.uint64(HASH_BITS)) | (h & mask)
        prefix[:] = np.sort(tokens)[:length]
        return
    filled = 0
    for at in range(start, stop):
        h = hashes[at]
        token = (np.uint64(table[h >> bits]) << np.uint64(HASH_BITS)) | (h & mask)
        if filled == length:
            if token >= prefix[length - 1]:
                continue
            filled -= 1
        place = filled
        while place > 0 and prefix[place - 1] > token:
            prefix[place] = prefix[place - 1]
            place -= 1
        prefix[place] = token
        filled += 1


@kernel
def rarest_prefixes(
    hashes: U64,
    starts: I64,
    stops: I64,
    shift: int,
    table: U16,
    offsets: I64,
    tokens: U64,
) -> None:
    """Write the prefix of every row to `tokens[offsets[row]:offsets[row + 1]]`."""
    for row in range(starts.size):
        if offsets[row + 1] > offsets[row]:
            prefix = tokens[offsets[row] : offsets[row + 1]]
            rarest_prefix(hashes, starts[row], stops[row], shift, table, prefix)
