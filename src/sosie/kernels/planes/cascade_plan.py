"""A first look at a sample of the blocks: rows to begin with, and how many adders each query should count."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.bits import popcount, trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.cascade import Rows
from sosie.kernels.planes.count import add_planes, mark_below
from sosie.kernels.planes.cut_off import reach
from sosie.kernels.planes.layout import Asked
from sosie.kernels.planes.tighten import DISTANCE, distance_of
from sosie.kernels.planes.top import UNFILLED

SAMPLE = 16  # blocks
_DEVIATIONS = 0.7  # up to which the nearest row of the sample is likely to have carries
_FEW, _MANY = 2, 512  # of the 8192 rows of the sample that may pass: for fewer adders, and for a cascade at all


@kernel
def stage_size(adders: int) -> int:
    """Return by how many adders the up to four choices differ.

    >>> stage_size(384), stage_size(32), stage_size(160)
    (96, 32, 64)
    """
    return -(-adders // 128) * 32


@kernel
def plan_cascade(rows: Rows, queries: U64, asked: Asked, bits: int, known: I64, adders: I64) -> None:
    """Fill `known[query]` with rows of few carries in the sample, and choose `adders[query]`; 0: compare every row.

    The fewest adders are chosen by which few rows of the sample pass. `asked` has chunks of a `stage_size`; `known` is
    sorted, as `distance << 35 | row`, and at least half full where there are rows enough.
    """
    order, units = asked.order, asked.units
    blocks, stages, height = rows.live.shape[0], units.shape[1], asked.slices.shape[1] // 8
    most = rows.majorities.shape[1]
    step = stage_size(most)
    flat, marks = rows.majorities.reshape(rows.majorities.size), rows.live.reshape(rows.live.size)
    counts = np.zeros((stages + 1, SAMPLE, 8 * height), np.uint64)
    for query in range(queries.shape[0]):
        for i in range(SAMPLE):
            start = i * blocks // SAMPLE * most * 32
            for stage in range(stages):
                counts[stage + 1, i] = counts[stage, i]
                add_planes(flat, start, order[query, stage * step :], units[query, stage], counts[stage + 1, i], height)
        bound = _bound(counts[stages], marks, blocks, known.shape[1] // 2)
        _compare(rows, queries[query], counts[stages], bound, known[query])
        adders[query] = 0
        for stage in range(stages):
            counted = min(most, step * (stage + 1))
            carries = reach(known[query, 0] >> DISTANCE, 2 * counted + 1, bits, _DEVIATIONS)
            passing = _below(counts[stage + 1], marks, blocks, carries + 1)
            if passing <= _FEW or (stage == stages - 1 and passing <= _MANY):
                adders[query] = counted
                break


@kernel
def _below(counts: U64, marks: U64, blocks: int, bound: int) -> int:
    """Return how many rows of the sample have fewer carries than `bound`."""
    height = counts.shape[1] // 8
    found = np.empty(8, np.uint64)
    total = np.uint64(0)
    for i in range(SAMPLE):
        mark_below(counts[i], height, min(bound, (1 << height) - 1), marks, 8 * (i * blocks // SAMPLE), found)
        for lane in range(8):
            total += popcount(found[lane])
    return np.int64(total)


@kernel
def _bound(counts: U64, marks: U64, blocks: int, wanted: int) -> int:
    """Return the least number of carries below which there are enough rows."""
    low, high = 0, (1 << counts.shape[1] // 8) - 1
    while low < high:
        middle = (low + high) // 2
        if _below(counts, marks, blocks, middle) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _compare(rows: Rows, query: U64, counts: U64, bound: int, known: I64) -> None:
    """Compare the rows of the sample with fewer carries than `bound`, as far as there is room."""
    blocks, height = rows.live.shape[0], counts.shape[1] // 8
    marks = rows.live.reshape(rows.live.size)
    found = np.empty(8, np.uint64)
    known[:] = UNFILLED
    total = 0
    for i in range(SAMPLE):
        block = i * blocks // SAMPLE
        mark_below(counts[i], height, bound, marks, 8 * block, found)
        for lane in range(8):
            marked = found[lane]
            while marked != np.uint64(0) and total < known.size:
                row = 512 * block + 64 * lane + np.int64(trailing_zeros(marked))
                marked &= marked - np.uint64(1)
                known[total] = distance_of(rows.words[row], query) << DISTANCE | row
                total += 1
    known.sort()
