"""All rows of a range within a radius of each query, over bit planes: of each query only its rarer bit is counted.

With w ones in a row, q in the query and s in common, the distance is w + q - 2 s. So half of the planes are enough:
those of the query's ones or, where these are more than half, those of its zeros. The ones of the rows are counted once,
when their planes are made. Planes are counted in *stages* that stay in the first cache; after a stage at whose end
chance alone has brought rows beyond the radius, a block without any other is given up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64, aligned_zeros, read_only
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import LANES, UNIT, add_planes, mark_at_most
from sosie.kernels.planes.layout import BLOCK, CHUNK, plane_count, set_rows
from sosie.kernels.tables.hits import Hits, room_for_hits

_SPARE = 3  # slices above those of a count: for twice as much, for a sum of two, and for the sign


class Stages(NamedTuple):
    """Where each stage ends, in planes, and whether rows are looked at there; the last one ends with the width."""

    ends: I64
    looks: I64


def stages_of(bits: int, radius: int) -> Stages:
    """Return stages of at most 512 planes; the first look is where random rows are beyond the radius, by 4 deviations.

    >>> [stage.tolist() for stage in stages_of(1000, 400)], [stage.tolist() for stage in stages_of(1000, 100)]
    ([[512, 1000], [0, 1]], [[288, 800, 1000], [1, 1, 1]])
    """
    first = next((p for p in range(UNIT, bits * 3 // 4, UNIT) if p / 2 - 2 * p**0.5 > radius), bits)
    start = first % CHUNK if first < bits else 0
    ends = [end for end in range(start, bits, CHUNK) if end > 0] + [bits]
    return Stages(np.array(ends, np.int64), np.array([end >= first for end in ends], np.int64))


class Weighed(NamedTuple):
    """Rows as bit planes, at least the last plane being 0, and `weights[block, stage, slice]` of their ones so far."""

    planes: U64
    weights: U64


def weigh(words: U64, bits: int, stages: Stages) -> Weighed:
    """Turn rows on their side, and count the ones of each up to the end of every stage."""
    blocks, slices = -(-len(words) // BLOCK), bits.bit_length() + _SPARE
    planes = aligned_zeros((blocks, plane_count(bits + 1), LANES))
    weights = aligned_zeros((blocks, len(stages.ends), slices, LANES))
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
            rest, more = ends[stage] - 64 * word, np.int64(0)
            if rest > 0:
                more = np.int64(popcount(words[row, word] << np.uint64(64 - rest)))
            level = 0
            while (ones + more) >> level:
                if (ones + more) >> level & 1:
                    weights[block, stage, level, lane] |= mark
                level += 1


class Sought(NamedTuple):
    """Queries as `near_in_ranges` wants them.

    `order[query]` lists the planes of the rarer bit as `8 * plane`, stage by stage, each filled up to `units[query, stage,
    0]` units with the plane that is 0. `ones[query, stage]` is the number of ones so far; `inverse[query]` says that the
    planes are those of the zeros.
    """

    order: I32
    units: I64
    ones: I64
    inverse: I64


def seek(queries: U64, bits: int, stages: Stages) -> Sought:
    """Sort out the planes of each query."""
    count, most = len(queries), bits + UNIT * len(stages.ends)
    order, inverse = np.empty((count, most), np.int32), np.empty(count, np.int64)
    units, ones = np.zeros((count, len(stages.ends), 3), np.int64), np.empty((count, len(stages.ends)), np.int64)
    _sort_out(queries, stages.ends, Sought(order, units, ones, inverse))
    return Sought(*map(read_only, (order, units, ones, inverse)))


@kernel
def _sort_out(queries: U64, ends: I64, sought: Sought) -> None:
    bits = ends[-1]
    for query in range(queries.shape[0]):
        total = np.int64(0)
        for word in range(queries.shape[1]):
            total += np.int64(popcount(queries[query, word]))
        inverse = np.int64(2 * total > bits)
        sought.inverse[query] = inverse
        place, ones, plane = 0, 0, 0
        for stage in range(ends.size):
            begin = place
            while plane < ends[stage]:
                bit = np.int64(queries[query, plane // 64] >> np.uint64(plane % 64) & np.uint64(1))
                ones += bit
                if bit != inverse:
                    sought.order[query, place] = 8 * plane
                    place += 1
                plane += 1
            while (place - begin) % 32:
                sought.order[query, place] = 8 * bits
                place += 1
            sought.units[query, stage, 0] = (place - begin) // 32
            sought.ones[query, stage] = ones


def room_in_ranges(queries: int) -> Hits:
    """Return room for twice the matches that `near_in_ranges` may find before it looks at the room again."""
    return room_for_hits(2 * queries * BLOCK)


@kernel
def near_in_ranges(
    rows: Weighed, sought: Sought, looks: I64, first: I64, last: I64, radius: int, block: int, hits: Hits
) -> tuple[int, int]:
    """Write the matches in the blocks from `block` on; return the block to go on with and the number of matches.

    Query i is compared with the rows from `first[i]` to `last[i]`, exclusive. It stops early when the room in `hits` may
    not suffice for the next block.
    """
    queries, stages, slices = sought.ones.shape[0], rows.weights.shape[1], rows.weights.shape[2]
    planes, weights = rows.planes.reshape(rows.planes.size), rows.weights.reshape(rows.weights.size)
    stride = rows.planes.shape[1] * 8
    counts = np.zeros((queries, 8 * slices), np.uint64)  # twice the count: the first slice stays 0
    place, given_up = np.empty(queries, np.int64), np.empty(queries, np.bool_)
    found = np.empty(8, np.uint64)
    total = 0
    while block < rows.planes.shape[0]:
        base, end = 512 * block, 512 * block + 512
        if total + queries * 512 > hits.rows.size:
            return block, total
        for stage in range(stages):
            at = 8 * slices * (stages * block + stage)
            for query in range(queries):
                if stage == 0:
                    place[query] = 0
                    given_up[query] = first[query] >= end or last[query] <= base
                    if not given_up[query]:
                        for i in range(8 * slices):
                            counts[query, i] = np.uint64(0)
                if given_up[query]:
                    continue
                units = sought.units[query, stage]
                add_planes(
                    planes,
                    block * stride,
                    sought.order[query, place[query] :],
                    units,
                    counts[query, 8:],
                    slices - _SPARE + 1,
                    0,
                )
                place[query] += 32 * units[0]
                if looks[stage]:
                    most = radius - sought.ones[query, stage]
                    inverse = sought.inverse[query]
                    if mark_at_most(weights, at, counts[query], slices, -most - 1 if inverse else most, inverse, found):
                        if stage == stages - 1:
                            total = _write(
                                weights[at : at + 8 * slices],
                                counts[query],
                                found,
                                (first[query] - base, last[query] - base),
                                (query, base, sought.ones[query, stage], inverse),
                                hits,
                                total,
                            )
                    else:
                        given_up[query] = True
        block += 1
    return block, total


@kernel
def _write(
    weights: U64, counts: U64, found: U64, span: tuple[int, int], about: tuple[int, int, int, int], hits: Hits, total: int
) -> int:
    """Write the rows marked in `found` that are in the span, with their distances; return the number of all matches."""
    query, base, ones, inverse = about
    for lane in range(8):
        marked = found[lane]
        while marked != np.uint64(0):
            lowest = marked & (~marked + np.uint64(1))
            marked ^= lowest
            row = 64 * lane + np.int64(popcount(lowest - np.uint64(1)))
            if span[0] <= row < span[1]:
                balance = 0  # ones of the row, less twice those that were counted
                for level in range(counts.size // 8):
                    if weights[8 * level + lane] & lowest:
                        balance += 1 << level
                    if counts[8 * level + lane] & lowest:
                        balance -= 1 << level
                hits.queries[total] = query
                hits.rows[total] = base + row
                hits.distances[total] = ones - balance if inverse else ones + balance
                total += 1
    return total
