"""All rows of a range within a radius of each query, over bit planes: of each query only its rarer bit is counted.

With w ones in a row, q in the query and s in common, the distance is w + q - 2 s. So half of the planes are enough:
those of the query's ones or, where these are more than half, those of its zeros. The ones of the rows are counted once,
when their planes are made (`weighed`). After a stage at whose end chance alone has brought rows beyond the radius, a
block without any other is given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64, Bools
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import add_planes, mark_at_most
from sosie.kernels.planes.layout import BLOCK
from sosie.kernels.planes.weighed import SPARE, Stages, Weighed
from sosie.kernels.tables.hits import Hits, room_for_hits

_TILE = 64  # queries that share a pass over the planes of a stage


class Asked(NamedTuple):
    """Queries, and the rows that each is compared with: from `first` to `last`, exclusive."""

    words: U64
    first: I64
    last: I64


class _Tile(NamedTuple):
    """Some queries, as they are counted.

    `order[query]` lists the planes of the rarer bit as `8 * plane`, stage by stage, each filled up with the plane that
    is 0 to `units[query, stage, 0]` units. `ones[query, stage]` is the number of ones so far; `inverse[query]` says
    that the planes are those of the zeros. `counts` are twice the ones counted, `begin` is where a stage begins.
    """

    order: I32
    units: I64
    ones: I64
    inverse: I64
    counts: U64
    begin: I64
    given_up: Bools


def near_each(rows: Weighed, asked: Asked, stages: Stages, radius: int) -> Iterator[tuple[I32, I64]]:
    """Yield the queries and the rows within the radius of each other, as many as there is room for at a time."""
    room = room_for_hits(8 * _TILE * BLOCK)
    query, block = 0, 0
    while query < len(asked.words):
        query, block, count = near_in_ranges(rows, asked, stages, radius, query, block, room)
        if count:
            yield room.queries[:count].copy(), room.rows[:count].copy()


@kernel
def near_in_ranges(
    rows: Weighed, asked: Asked, stages: Stages, radius: int, query: int, block: int, hits: Hits
) -> tuple[int, int, int]:
    """Write the matches of queries from `query` on, of that one's tile in the blocks from `block` on.

    Return the query and the block to go on with, and the number of matches: it stops when the room in `hits` may not
    suffice for the next block.
    """
    queries, slices = asked.words.shape[0], rows.weights.shape[2]
    tile = _Tile(
        np.empty((64, stages.ends[-1] + 32 * stages.ends.size + 8), np.int32),
        np.zeros((64, stages.ends.size, 3), np.int64),
        np.empty((64, stages.ends.size), np.int64),
        np.empty(64, np.int64),
        np.zeros((64, 8 * slices), np.uint64),
        np.empty(64, np.int64),
        np.empty(64, np.bool_),
    )
    places = _places_of_bits()
    total = np.int64(0)
    while query < queries:
        size = min(64, queries - query)
        first, last = asked.first[query], np.int64(0)
        for i in range(query, query + size):
            if asked.first[i] < asked.last[i]:
                first, last = min(first, asked.first[i]), max(last, asked.last[i])
        block = max(block, first // 512)
        if 512 * block < last:
            _sort_out(asked.words[query : query + size], stages.ends, places, tile)
        while 512 * block < last:
            if total + size * 512 > hits.rows.size:
                return query, block, total
            total = _compare(rows, asked, stages, radius, (query, size, block), tile, hits, total)
            block += 1
        query += 64
        block = 0
    return queries, 0, total


@kernel
def _compare(
    rows: Weighed,
    asked: Asked,
    stages: Stages,
    radius: int,
    at: tuple[int, int, int],
    tile: _Tile,
    hits: Hits,
    total: int,
) -> int:
    """Compare a tile of queries, its first one and their number being given, with one block."""
    start, size, block = at
    slices = rows.weights.shape[2]
    planes, weights = rows.planes.reshape(rows.planes.size), rows.weights.reshape(rows.weights.size)
    found = np.empty(8, np.uint64)
    base = 512 * block
    for stage in range(stages.ends.size):
        weight = 8 * slices * (stages.ends.size * block + stage)
        for query in range(size):
            first, last = asked.first[start + query] - base, asked.last[start + query] - base
            if stage == 0:
                tile.begin[query] = 0
                tile.given_up[query] = first >= min(last, 512) or last <= 0
                for i in range(8 * slices):
                    tile.counts[query, i] = np.uint64(0)
            if tile.given_up[query]:
                continue
            begin, units = tile.begin[query], tile.units[query, stage]
            height = slices - SPARE + 1
            origin = block * rows.planes.shape[1] * 8
            add_planes(planes, origin, tile.order[query, begin:], units, tile.counts[query, 8:], height, 0)
            tile.begin[query] = begin + 32 * units[0]
            if not stages.looks[stage]:
                continue
            most, inverse = radius - tile.ones[query, stage], tile.inverse[query]
            bound = -most - 1 if inverse else most
            if not mark_at_most(weights, weight, tile.counts[query], slices, bound, inverse, found):
                tile.given_up[query] = True
            elif stage == stages.ends.size - 1:
                ones, counts = tile.ones[query, stage], tile.counts[query]
                for lane in range(8):
                    marked = found[lane]
                    while marked != np.uint64(0):
                        lowest = marked & (~marked + np.uint64(1))
                        marked ^= lowest
                        row = 64 * lane + np.int64(popcount(lowest - np.uint64(1)))
                        if first <= row < last:
                            balance = _balance(weights[weight:], counts, lane, lowest)
                            hits.queries[total] = start + query
                            hits.rows[total] = base + row
                            hits.distances[total] = ones - balance if inverse else ones + balance
                            total += 1
    return total


@kernel
def _balance(weights: U64, counts: U64, lane: int, mark: int) -> int:
    """Return the ones of a row, less twice those that were counted."""
    balance = 0
    for level in range(counts.size // 8):
        if weights[8 * level + lane] & mark:
            balance += 1 << level
        if counts[8 * level + lane] & mark:
            balance -= 1 << level
    return balance


@kernel
def _places_of_bits() -> I32:
    """Return `8 * place` of the bits that are set in each value of a byte, from the lowest on."""
    places = np.zeros((256, 8), np.int32)
    for byte in range(256):
        count = 0
        for place in range(8):
            if byte >> place & 1:
                places[byte, count] = 8 * place
                count += 1
    return places


@kernel
def _sort_out(queries: U64, ends: I64, places: I32, tile: _Tile) -> None:
    """List the planes of the rarer bit of each query, a byte at a time."""
    for query in range(queries.shape[0]):
        words, order = queries[query], tile.order[query]
        total = np.int64(0)
        for word in range(words.size):
            total += np.int64(popcount(words[word]))
        inverse = np.int64(2 * total > ends[-1])
        tile.inverse[query] = inverse
        flip = np.uint64(255) if inverse else np.uint64(0)
        place, plane, ones = 0, 0, np.int64(0)
        for stage in range(ends.size):
            begin = place
            while plane < ends[stage]:
                byte = words[plane // 64] >> np.uint64(plane % 64) & np.uint64(255)
                ones += np.int64(popcount(byte))
                byte ^= flip
                if ends[stage] - plane < 8:  # beyond the width nothing is set, nor clear
                    byte &= (np.uint64(1) << np.uint64(ends[stage] - plane)) - np.uint64(1)
                for i in range(8):
                    order[place + i] = 8 * plane + places[np.int64(byte), i]
                place += np.int64(popcount(byte))
                plane += 8
            while (place - begin) % 32:
                order[place] = 8 * ends[-1]
                place += 1
            tile.units[query, stage, 0] = (place - begin) // 32
            tile.ones[query, stage] = ones
