"""TopSig (Geva and De Vries 2011; TOPK, ISSL): each term adds its weight at a few places and subtracts it at as many.

Places that no term touches, or whose sum is 0, take the bit that simhash gives the document: it depends on all terms
and their weights, so that short texts do not look alike for want of terms, and edited copies keep most of these bits.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import F64, I32, I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import lane_word
from sosie.kernels.sign.simhash import simhash_weighted
from sosie.kernels.sign.weigh import logarithm

TIE_LANES = 64  # lanes of a seed from which ties are broken
_PLACE_LANES = 1 << 60  # lanes from here on give places, 2^20 for each seed


@kernel
def term_weights(counts: I32, offsets: I64, frequencies: I64, total: int, weights: F64) -> None:
    """Write (c - 1/2) ln((c / length) (total / cf)) for a term that occurs c times in its row; 0 where ln <= 0.

    `frequencies` says how often each term occurs in the collection, whose length is the total; 0 counts as 1.
    """
    for row in range(offsets.size - 1):
        length = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            length += counts[i]
        for i in range(offsets[row], offsets[row + 1]):
            ratio = (float(counts[i]) * float(total)) / (float(length) * float(max(frequencies[i], 1)))
            weights[i] = (counts[i] - 0.5) * logarithm(ratio) if ratio > 1.0 else 0.0


@kernel
def topsig(terms: U64, offsets: I64, weights: I64, each: int, seed: int, bits: int, words: U64) -> None:
    """Sign rows of weighted terms; a term weighs +weight at `each` of `bits` places and -weight at `each` others."""
    sums = np.zeros(64 * words.shape[1], np.int64)
    marks = np.full(bits, -1, np.int64)
    first_lane = np.uint64(_PLACE_LANES) + (np.uint64(seed) << np.uint64(20))
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        sums[:] = 0
        for i in range(start, stop):
            if weights[i] != 0:
                _scatter(terms[i], first_lane, weights[i], each, marks, i, sums)
        for j in range(words.shape[1]):
            words[row, j] = _word(sums, j, terms[start:stop], weights[start:stop], seed)


@kernel
def _scatter(term: np.uint64, lane: np.uint64, weight: int, each: int, marks: I64, mark: int, sums: I64) -> None:
    """Add the weight at places drawn one after the other, two from a word; a place that was drawn before is passed."""
    drawn = 0
    while drawn < 2 * each:
        word = lane_word(term, lane)
        lane += np.uint64(1)
        for half in (word & np.uint64(0xFFFFFFFF), word >> np.uint64(32)):
            place = np.int64((half * np.uint64(marks.size)) >> np.uint64(32))
            if marks[place] != mark and drawn < 2 * each:
                marks[place] = mark
                sums[place] += weight if drawn < each else -weight
                drawn += 1


@kernel
def _word(sums: I64, j: int, terms: U64, weights: I64, seed: int) -> np.uint64:
    positive = np.uint64(0)
    tied = np.uint64(0)
    for bit in range(64):
        place = np.uint64(bit)
        positive |= np.uint64(sums[64 * j + bit] > 0) << place
        tied |= np.uint64(sums[64 * j + bit] == 0) << place
    if tied != np.uint64(0):
        broken = np.empty((1, 1), np.uint64)
        simhash_weighted(terms, np.array([0, terms.size]), weights, True, seed * TIE_LANES + j, broken)
        positive |= tied & broken[0, 0]
    return positive
