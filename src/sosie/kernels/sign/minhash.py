"""K independent minima in 32-bit lanes (Broder 1997): xor, multiply, min, vectorised by LLVM.

One multiplication a lane is enough because features are XXH64 hashes, not text: the variance measured over unions of 5
to 5,000 features is that of independent permutations (a test and a benchmark say so). Four features pass per round, so
that the lanes are loaded and stored once for four.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64

BLOCK = 64


@kernel
def minhash(features: U64, offsets: I64, xors: U32, factors: U32, minima: U32) -> None:
    """Write the minimum of every lane over each row's features; rows without features get 2^32 - 1.

    The number of lanes is a multiple of BLOCK; `factors` are odd.
    """
    high = np.uint64(32)
    for row in range(offsets.size - 1):
        start = offsets[row]
        stop = offsets[row + 1]
        rounds = start + (stop - start) // 4 * 4
        for block in range(0, minima.shape[1], BLOCK):
            x = xors[block : block + BLOCK]
            f = factors[block : block + BLOCK]
            low = minima[row, block : block + BLOCK]
            for lane in range(BLOCK):
                low[lane] = np.uint32(0xFFFFFFFF)
            for at in range(start, rounds, 4):
                h0 = np.uint32(features[at] >> high)
                h1 = np.uint32(features[at + 1] >> high)
                h2 = np.uint32(features[at + 2] >> high)
                h3 = np.uint32(features[at + 3] >> high)
                for lane in range(BLOCK):
                    v01 = min(np.uint32((h0 ^ x[lane]) * f[lane]), np.uint32((h1 ^ x[lane]) * f[lane]))
                    v23 = min(np.uint32((h2 ^ x[lane]) * f[lane]), np.uint32((h3 ^ x[lane]) * f[lane]))
                    low[lane] = min(low[lane], min(v01, v23))
            for at in range(rounds, stop):
                h = np.uint32(features[at] >> high)
                for lane in range(BLOCK):
                    low[lane] = min(low[lane], np.uint32((h ^ x[lane]) * f[lane]))


@kernel
def pack_bits(minima: U32, lanes: int, b: int, words: U64) -> None:
    """Pack b bits of each of the first `lanes` minima into binary signatures (b-bit minhash, Li and Koenig 2010)."""
    words[:] = np.uint64(0)
    for i in range(words.shape[0]):
        for lane in range(lanes):
            bits = splitmix64(np.uint64(minima[i, lane]))
            for k in range(b):
                at = lane * b + k
                words[i, at >> 6] |= ((bits >> np.uint64(k)) & np.uint64(1)) << np.uint64(at & 63)
