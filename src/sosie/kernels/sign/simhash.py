"""Simhash (Charikar 2002; PSM Algorithm 1): each bit is the sign of a sum of +-weight over the features.

Equal weights are counted in carry-save form: a feature's word is 64 one-bit numbers, sixteen of them are added by full
adders to bit-sliced counters, and the majority is read off by one bit-sliced comparison. A sum of 0 gives 0.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import lane_word

LEVELS = 48


@kernel
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@kernel
def _carry(counters: U64, level: int, word: np.uint64) -> None:
    while word != np.uint64(0):
        kept = counters[level]
        counters[level] = kept ^ word
        word &= kept
        level += 1


@kernel
def _count(features: U64, mixed: bool, lane: np.uint64, counters: U64) -> None:
    """Add the words that the features stand for to bit-sliced counters."""
    counters[:] = np.uint64(0)
    w = np.zeros(8, np.uint64)
    ones = np.uint64(0)
    twos = np.uint64(0)
    fours = np.uint64(0)
    whole = features.size // 8 * 8
    for start in range(0, whole, 8):
        for i in range(8):
            h = features[start + i]
            w[i] = lane_word(h, lane) if mixed else h
        ones, a = _add(ones, w[0], w[1])
        ones, b = _add(ones, w[2], w[3])
        twos, c = _add(twos, a, b)
        ones, a = _add(ones, w[4], w[5])
        ones, b = _add(ones, w[6], w[7])
        twos, d = _add(twos, a, b)
        fours, eights = _add(fours, c, d)
        _carry(counters, 3, eights)
    counters[0] = ones
    counters[1] = twos
    counters[2] = fours
    for i in range(whole, features.size):
        h = features[i]
        _carry(counters, 0, lane_word(h, lane) if mixed else h)


@kernel
def _above(counters: U64, bound: int) -> np.uint64:
    """Return the lanes whose count is greater than the bound."""
    greater = np.uint64(0)
    equal = ~np.uint64(0)
    for level in range(LEVELS - 1, -1, -1):
        word = counters[level]
        if (bound >> level) & 1:
            equal &= word
        else:
            greater |= equal & word
            equal &= ~word
    return greater


@kernel
def simhash(features: U64, offsets: I64, mixed: bool, first_lane: int, words: U64) -> None:
    """Sign rows of equally weighted features (repeats count): `words[i, j]` is word j of row i.

    With `mixed`, word j of a feature is drawn by splitmix64 from lane `first_lane + j`; without, it is the hash itself.
    """
    counters = np.zeros(LEVELS, np.uint64)
    for row in range(offsets.size - 1):
        span = features[offsets[row] : offsets[row + 1]]
        for j in range(words.shape[1]):
            _count(span, mixed, np.uint64(first_lane + j), counters)
            words[row, j] = _above(counters, span.size // 2)


@kernel
def _sum(features: U64, weights: I64, mixed: bool, lane: np.uint64, sums: I64) -> None:
    """Write for each of 64 bits the sum of +weight over the features that have it and of -weight over the others."""
    sums[:] = 0
    total = np.int64(0)
    for i in range(features.size):
        weight = weights[i]
        total += weight
        word = lane_word(features[i], lane) if mixed else features[i]
        for bit in range(64):
            sums[bit] += np.int64((word >> np.uint64(bit)) & np.uint64(1)) * weight
    for bit in range(64):
        sums[bit] = 2 * sums[bit] - total


@kernel
def _signs(sums: I64) -> np.uint64:
    word = np.uint64(0)
    for bit in range(64):
        if sums[bit] > 0:
            word |= np.uint64(1) << np.uint64(bit)
    return word


@kernel
def simhash_weighted(features: U64, offsets: I64, weights: I64, mixed: bool, first_lane: int, words: U64) -> None:
    """Sign rows of features by their weights: `words[i, j]` is word j of row i."""
    sums = np.empty(64, np.int64)
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        for j in range(words.shape[1]):
            _sum(features[start:stop], weights[start:stop], mixed, np.uint64(first_lane + j), sums)
            words[row, j] = _signs(sums)


@kernel
def simhash_sums(features: U64, offsets: I64, weights: I64, mixed: bool, first_lane: int, sums: I64) -> None:
    """Write `sums[i, j]`, the sum over row i's features of +weight where their bit j is 1 and -weight where it is 0."""
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        for j in range(sums.shape[1] // 64):
            lanes = sums[row, 64 * j : 64 * j + 64]
            _sum(features[start:stop], weights[start:stop], mixed, np.uint64(first_lane + j), lanes)


@kernel
def signs(sums: I64, words: U64) -> None:
    """Pack the signs: bit j of a row is 1 where its sum is greater than 0."""
    for row in range(sums.shape[0]):
        for j in range(words.shape[1]):
            words[row, j] = _signs(sums[row, 64 * j : 64 * j + 64])
