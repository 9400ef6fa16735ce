"""Identical rows: a digest of each row's features, and the proof that two rows are equal."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64, Bools
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64


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
