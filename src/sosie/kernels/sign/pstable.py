"""p-stable locality-sensitive hashing (Datar et al. 2004; STEIN 2.3): Gaussian projections in intervals.

The vectors are never stored. Twelve bits of a word that splitmix64 draws from a feature's hash choose one of 4096
quantiles of the normal distribution, an integer; five functions share a word. Sums of integers are equal in every order
and on every CPU.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import lane_word, splitmix64

DRAWS = 5  # functions that share a word of a feature
DRAW_BITS = 12


@kernel
def project(features: U64, offsets: I64, weights: I64, normal: I32, first_lane: int, sums: I64) -> None:
    """Write `sums[row, j]`, the inner product of a row's weights and Gaussian vector j.

    Vectors 5 q to 5 q + 4 come from lane `first_lane + q`; there are as many columns as whole lanes have.
    """
    mask = np.uint64((1 << DRAW_BITS) - 1)
    sums[:] = 0
    for row in range(offsets.size - 1):
        for i in range(offsets[row], offsets[row + 1]):
            feature, weight = features[i], weights[i]
            for lane in range(sums.shape[1] // DRAWS):
                word = lane_word(feature, np.uint64(first_lane + lane))
                for draw in range(DRAWS):
                    sums[row, lane * DRAWS + draw] += weight * normal[np.int64(word & mask)]
                    word >>= np.uint64(DRAW_BITS)


@kernel
def tuple_keys(sums: I64, shifts: I64, width: int, code_length: int, keys: U64) -> None:
    """Hash the numbers of the intervals of each table's functions, one after the other, to its key."""
    for row in range(keys.shape[0]):
        for table in range(keys.shape[1]):
            key = splitmix64(np.uint64(table))
            for j in range(table * code_length, (table + 1) * code_length):
                key = splitmix64(key ^ np.uint64((sums[row, j] + shifts[j]) // width))
            keys[row, table] = key


@kernel
def sum_keys(sums: I64, shifts: I64, width: int, code_length: int, keys: U64) -> None:
    """Add the numbers of the intervals of each table's functions; a table's key is a hash of its number and the sum."""
    for row in range(keys.shape[0]):
        for table in range(keys.shape[1]):
            total = np.int64(0)
            for j in range(table * code_length, (table + 1) * code_length):
                total += (sums[row, j] + shifts[j]) // width
            keys[row, table] = splitmix64(splitmix64(np.uint64(table)) ^ np.uint64(total))
