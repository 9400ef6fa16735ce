"""Projections: each bit is the sign of a sum of weight * r over the features (NFL Equation 1); sums of given vectors.

A feature's random vector is drawn from the words that it seeds, 16 bits for each of its numbers, and never stored:

- Gaussian: 16 times the ones among the upper 12 bits, plus the lower 4 bits, from 0 to 207. The sum of 12 fair bits and
  of what is uniform between them is within .0061 of the normal distribution function everywhere, in a byte.
- ternary: 0, 1 or 2 with probabilities 1/6, 2/3, 1/6 (Achlioptas 2003), in steps of 2^-15 of the lower 15 bits.

What is centred at 0 are these numbers less their mean; the mean is subtracted from the sums in the end. All numbers are
integers, so that the bits are the same on every CPU.
"""

from __future__ import annotations

import math

import numpy as np

from sosie.arrays import I32, I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64

FIELDS = 4  # numbers drawn from one word
GAUSSIAN_SPREAD = 2 * math.sqrt(256 * 12 / 4 + 255 / 12)  # of the numbers less their mean, both doubled
TERNARY_SPREAD = 2 * math.sqrt(2 * 5461 / 32768)
_GAUSSIAN_CENTRE = 207  # twice the mean of the numbers
_TERNARY_CENTRE = 2


@kernel
def project(features: U64, offsets: I64, weights: I64, ternary: bool, first_lane: int, words: U64) -> None:
    """Sign rows of weighted features: bit d of row i is 1 if its sum over weight * r_d is greater than 0.

    Numbers 4j to 4j + 3 of a feature's vector are drawn from its word in lane `first_lane + j`.
    """
    sums = np.empty(64 * words.shape[1], np.int64)
    drawn = np.empty(sums.size // FIELDS, np.uint64)
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        centre = _sum(features[start:stop], weights[start:stop], ternary, first_lane, drawn, sums)
        _pack(sums, centre, words[row])


@kernel
def project_sums(features: U64, offsets: I64, weights: I64, ternary: bool, first_lane: int, sums: I64) -> None:
    """Write `sums[i, d]`, twice the sum over weight * r_d of row i (PSM Equation 4): its sign is bit d of `project`."""
    drawn = np.empty(sums.shape[1] // FIELDS, np.uint64)
    for row in range(offsets.size - 1):
        start, stop, own = offsets[row], offsets[row + 1], sums[row]
        centre = _sum(features[start:stop], weights[start:stop], ternary, first_lane, drawn, own)
        for d in range(own.size):
            own[d] = 2 * own[d] - centre


@kernel
def _sum(features: U64, weights: I64, ternary: bool, first_lane: int, drawn: U64, sums: I64) -> int:
    """Write the sums of weight times number, before they are centred; return what is to be subtracted from twice each.

    `drawn` is room for the words of one feature.
    """
    numbers = drawn.view(np.uint16)
    sums[:] = 0
    total = np.int64(0)
    for i in range(features.size):
        weight = weights[i]
        total += weight
        _draw(features[i], np.uint64(first_lane), drawn)
        if ternary:
            _make_ternary(drawn)
        else:
            _make_gaussian(drawn)
        if np.int64(np.int32(weight)) == weight:
            _add(numbers, np.int32(weight), sums)
        else:
            _add(numbers, weight, sums)
    return (_TERNARY_CENTRE if ternary else _GAUSSIAN_CENTRE) * total


@kernel
def _draw(feature: np.uint64, first_lane: np.uint64, drawn: U64) -> None:
    """Write the feature's words from a lane on, as `lane_word` makes them; one addition leads to the next."""
    place = feature + first_lane * np.uint64(0x9E3779B97F4A7C15)
    for j in range(drawn.size):
        drawn[j] = splitmix64(place)
        place += np.uint64(0x9E3779B97F4A7C15)


@kernel
def _make_gaussian(drawn: U64) -> None:
    """Make four numbers of each word: ones are counted in all four fields at once."""
    for j in range(drawn.size):
        word = drawn[j]
        ones = (word >> np.uint64(4)) & np.uint64(0x0FFF0FFF0FFF0FFF)
        ones -= (ones >> np.uint64(1)) & np.uint64(0x5555555555555555)
        ones = (ones & np.uint64(0x3333333333333333)) + ((ones >> np.uint64(2)) & np.uint64(0x3333333333333333))
        ones = (ones + (ones >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        ones = (ones + (ones >> np.uint64(8))) & np.uint64(0x000F000F000F000F)
        drawn[j] = (ones << np.uint64(4)) | (word & np.uint64(0x000F000F000F000F))


@kernel
def _make_ternary(drawn: U64) -> None:
    """Make four numbers of each word: the lower 15 bits of a field reach a bound if bit 15 of the sum is set."""
    for j in range(drawn.size):
        uniform = drawn[j] & np.uint64(0x7FFF7FFF7FFF7FFF)
        not_low = (uniform + np.uint64(0x6AAB6AAB6AAB6AAB)) >> np.uint64(15)  # 2^15 - 5461: at least 5461
        high = (uniform + np.uint64(0x1555155515551555)) >> np.uint64(15)  # 5461: at least 2^15 - 5461
        drawn[j] = (not_low & np.uint64(0x0001000100010001)) + (high & np.uint64(0x0001000100010001))


@kernel
def _add(numbers: U64, weight: int, sums: I64) -> None:
    for d in range(sums.size):
        sums[d] += np.int64(numbers[d]) * np.int64(weight)


@kernel
def _pack(sums: I64, centre: int, words: U64) -> None:
    for j in range(words.size):
        word = np.uint64(0)
        for bit in range(64):
            word |= np.uint64(2 * sums[64 * j + bit] > centre) << np.uint64(bit)
        words[j] = word


@kernel
def embed(places: I64, offsets: I64, units: I64, directions: I32, sums: I64, known: I64) -> None:
    """Write `sums[row]`, the sum of units times `directions[place - 1]`; a place of 0 is a feature that has none.

    `known[row]` counts the features that have a direction.
    """
    sums[:] = 0
    for row in range(offsets.size - 1):
        known[row] = 0
        for i in range(offsets[row], offsets[row + 1]):
            if places[i] == 0:
                continue
            known[row] += 1
            direction = directions[places[i] - 1]
            for j in range(direction.size):
                sums[row, j] += units[i] * np.int64(direction[j])
