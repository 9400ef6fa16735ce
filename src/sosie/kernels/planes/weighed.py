"""Bit planes of rows whose ones are counted: what comparing by the rarer bit of a query needs (see `ranges`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U64, aligned_zeros, read_only
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import LANES, UNIT
from sosie.kernels.planes.layout import BLOCK, CHUNK, plane_count, set_rows

SPARE = 3  # slices above those of a count: for twice as much, for a sum of two, and for the sign


class Stages(NamedTuple):
    """Where each stage ends, in planes, and whether rows are looked at there; the last one ends with the width."""

    ends: I64
    looks: I64


def stages_of(bits: int, radius: int) -> Stages:
    """Return stages of at most 512 planes, which stay in the first cache while many queries are counted.

    The first look is where random rows are beyond the radius, by four deviations, if that saves a quarter of them.

    >>> [stage.tolist() for stage in stages_of(1000, 400)], [stage.tolist() for stage in stages_of(1000, 100)]
    ([[512, 1000], [0, 1]], [[288, 800, 1000], [1, 1, 1]])
    """
    first = next((p for p in range(UNIT, bits * 3 // 4, UNIT) if p / 2 - 2 * p**0.5 > radius), bits)
    start = first % CHUNK if first < bits else 0
    ends = [end for end in range(start, bits, CHUNK) if end > 0] + [bits]
    looks = [end >= first for end in ends]
    return Stages(read_only(np.array(ends, np.int64)), read_only(np.array(looks, np.int64)))


class Weighed(NamedTuple):
    """Rows as bit planes, the last plane being 0; slice l of `weights[block, stage]` is bit l of their ones so far."""

    planes: U64
    weights: U64


def weigh(words: U64, bits: int, stages: Stages) -> Weighed:
    """Turn rows on their side, and count the ones of each up to the end of every stage."""
    blocks, slices = -(-len(words) // BLOCK), bits.bit_length() + SPARE
    planes = aligned_zeros((blocks, plane_count(bits + 1), LANES))
    weights = aligned_zeros((blocks, len(stages.ends), slices, LANES))
    words = read_only(words)
    set_rows(planes, 0, words)
    _weigh(words, stages.ends, weights)
    return Weighed(read_only(planes), read_only(weights))


@kernel
def _weigh(words: U64, ends: I64, weights: U64) -> None:
    for row in range(words.shape[0]):
        block, lane, mark = row // 512, row % 512 // 64, np.uint64(1) << np.uint64(row % 64)
        ones, word = np.int64(0), 0
        for stage in range(ends.size):
            while 64 * (word + 1) <= ends[stage]:
                ones += np.int64(popcount(words[row, word]))
                word += 1
            rest, here = ends[stage] - 64 * word, ones
            if rest > 0:
                here += np.int64(popcount(words[row, word] << np.uint64(64 - rest)))
            level = 0
            while here >> level:
                if here >> level & 1:
                    weights[block, stage, level, lane] |= mark
                level += 1
