"""Sorted rows that are read once, part by part, and met by probes in the same order (PSM 6.3, 7.4).

Rows are in the order of their *leads*: the top 64 bits, or all of fewer, from the most significant on. A part is all
rows, and all probes, whose leads begin with the same few bits: both fit the cache while they meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64, Bools
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import LANES, near_any
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.tables.hamming_join import hamming
from sosie.kernels.tables.hits import Hits

QUERIES = 1 << 27  # that one set of probes can be of: above the number of a query is how many bits are flipped

_QUERY = np.uint32(QUERIES - 1)
_FLIPS = np.uint32(27)
_CLOSE = 16  # bits of an address in a part, at most: where the rows of each begin stays in the cache


class Probes(NamedTuple):
    """What is looked for: leads of queries with some bits flipped; those of part p from `starts[p]` to `starts[p + 1]`.

    `origins` are the queries, and in their upper bits how many bits are flipped.
    """

    leads: U64
    origins: U32
    starts: I64


class Asked(NamedTuple):
    """The queries of probes: their words, how many of their bits are a header, and whose answer is known already."""

    words: U64
    header: int
    answered: Bools


@kernel
def leads_of(words: U64, bits: int) -> U64:
    """Return the lead of each signature of so many bits."""
    leads = np.empty(words.shape[0], np.uint64)
    for i in range(words.shape[0]):
        leads[i] = _lead(words, i, bits)
    return leads


@kernel
def _lead(words: U64, row: int, bits: int) -> int:
    last = words.shape[1] - 1
    up = np.uint64(64 * words.shape[1] - bits)
    lead = words[row, last] << up
    if last > 0 and up > np.uint64(0):
        lead |= words[row, last - 1] >> (np.uint64(64) - up)
    return lead


@kernel
def first_at_least(words: U64, bits: int, lead: int, begin: int, end: int) -> int:
    """Return the first of the sorted rows `begin` to `end` whose lead is not below this one; `end` if none is."""
    while begin < end:
        middle = (begin + end) >> 1
        if _lead(words, middle, bits) < np.uint64(lead):
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def part_bounds(words: U64, bits: int, part_bits: int) -> I64:
    """Return where each of 2^part_bits parts of sorted rows begins, and where the last one ends."""
    count = 1 << part_bits
    bounds = np.empty(count + 1, np.int64)
    bounds[0], bounds[count] = 0, words.shape[0]
    for part in range(1, count):
        lead = np.uint64(part) << np.uint64(64 - part_bits)
        bounds[part] = first_at_least(words, bits, lead, bounds[part - 1], words.shape[0])
    return bounds


@kernel
def is_sorted(words: U64, rows: U32, bits: int) -> bool:
    """Say whether rows are in the order of their leads, and those with equal ones in that of their numbers."""
    before = np.uint64(0)
    for i in range(words.shape[0]):
        lead = _lead(words, i, bits)
        if lead < before or (i > 0 and lead == before and rows[i] <= rows[i - 1]):
            return False
        before = lead
    return True


@kernel
def count_probes(leads: U64, flips: U32, header: int, counts: I64) -> None:
    """Add to `counts` how many probes each part has: queries by their leads, and the bits to flip in their headers."""
    up = np.uint64(64 - header)
    down = np.uint64(64 - _log2(counts.size))
    for query in range(flips.shape[0]):
        for i in range(flips.shape[1]):
            lead = leads[query] ^ (np.uint64(flips[query, i]) << up)
            counts[_part(lead, down)] += 1


@kernel
def place_probes(leads: U64, flips: U32, header: int, places: I64, made: Probes) -> None:
    """Write the probes of queries to the next places of their parts, which move on."""
    up = np.uint64(64 - header)
    down = np.uint64(64 - _log2(places.size))
    to_leads, to_origins = made.leads, made.origins
    for query in range(flips.shape[0]):
        for i in range(flips.shape[1]):
            flipped = np.uint64(flips[query, i])
            lead = leads[query] ^ (flipped << up)
            part = _part(lead, down)
            at = places[part]
            places[part] = at + 1
            to_leads[at] = lead
            to_origins[at] = np.uint32(query) | (np.uint32(popcount(flipped)) << _FLIPS)


@kernel
def meet_probes(words: U64, bits: int, pieces: I64, probes: Probes, asked: Asked, radius: int) -> tuple[Hits, I64]:
    """Return which sorted rows are within the radius of queries whose probes lead to them.

    Pieces are (part, begin, end): rows `begin` to `end` of a part. A match names the place of a row; matches come in
    no order, each once. With them, the work: how many rows were compared, and how many probes looked up.
    """
    leads, origins, starts = probes.leads, probes.origins, probes.starts
    header, answered, count, work = asked.header, asked.answered, 0, np.zeros(2, np.int64)
    hits = Hits(np.empty(64, np.int32), np.empty(64, np.int64), np.empty(64, np.int32))
    part_bits, longest = _log2(starts.size - 1), np.int64(0)
    for i in range(pieces.shape[0]):
        longest = max(longest, pieces[i, 2] - pieces[i, 1])
    near, begins = np.empty(longest + LANES, np.uint64), np.empty((1 << _CLOSE) + 1, np.uint32)
    below = np.uint64(64 - header)
    for piece in range(pieces.shape[0]):
        part, begin, size = pieces[piece, 0], pieces[piece, 1], pieces[piece, 2] - pieces[piece, 1]
        close = min(_log2(size) + 1, _CLOSE, header - part_bits)
        _write_piece(words[begin : begin + size], bits, part_bits, near, begins[: (1 << close) + 1])
        for i in range(starts[part], starts[part + 1]):
            query, flipped = np.int64(origins[i] & _QUERY), np.int64(origins[i] >> _FLIPS)
            if answered[query]:
                continue
            lead = leads[i]
            address = _address(lead, part_bits, close)
            start, stop = np.int64(begins[address]), np.int64(begins[address + 1])
            work[0] += stop - start
            work[1] += 1
            if not near_any(near, start, stop, lead, radius - flipped + 1):  # beyond the rows there is room
                continue
            for place in range(start, stop):
                other = near[place] ^ lead
                if other >> below != np.uint64(0) or np.int64(popcount(other)) > radius - flipped:
                    continue
                distance = hamming(words[begin + place], asked.words[query])
                if distance > radius:
                    continue
                if count == hits.rows.size:
                    hits = _with_room(hits)
                hits.queries[count], hits.rows[count], hits.distances[count] = query, begin + place, distance
                count += 1
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def _write_piece(words: U64, bits: int, part_bits: int, near: U64, begins: U32) -> None:
    """Write the leads of sorted rows, and at which place those with each address begin."""
    close, size = _log2(begins.size - 1), words.shape[0]
    for address in range(begins.size):
        begins[address] = np.uint32(0)
    for i in range(size):
        near[i] = _lead(words, i, bits)
        begins[_address(near[i], part_bits, close) + 1] = np.uint32(i + 1)
    for i in range(size, size + LANES):
        near[i] = np.uint64(0)
    begin = np.uint32(0)
    for address in range(begins.size):  # addresses that no row has
        begin = max(begin, begins[address])
        begins[address] = begin


@kernel
def _address(lead: int, part_bits: int, close: int) -> int:
    """Return the bits of a lead that follow those of its part."""
    if close == 0:
        return np.int64(0)
    return np.int64((np.uint64(lead) << np.uint64(part_bits)) >> np.uint64(64 - close))


@kernel
def _part(lead: int, down: int) -> int:
    return np.int64(0) if down == np.uint64(64) else np.int64(lead >> down)


@kernel
def _log2(number: int) -> int:
    """Return the logarithm of a number, rounded down."""
    bits = np.int64(0)
    while number > 1:
        number >>= 1
        bits += 1
    return bits


@kernel
def _with_room(hits: Hits) -> Hits:
    """Return the same matches with room for as many again."""
    count = hits.rows.size
    more = Hits(np.empty(2 * count, np.int32), np.empty(2 * count, np.int64), np.empty(2 * count, np.int32))
    copy_first(hits.queries, more.queries, count)
    copy_first(hits.rows, more.rows, count)
    copy_first(hits.distances, more.distances, count)
    return more
