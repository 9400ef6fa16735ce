"""p-stable locality-sensitive hashing (Datar et al. 2004; STEIN 2.3): Gaussian projections in intervals.

The vectors are never stored. Twelve bits of a word that splitmix64 draws from a feature's hash choose one of 4096
quantiles of the normal distribution, an integer; five functions share a word. Sums of integers are equal in every order
and on every CPU.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import lane_word

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
