"""Rows found by one header: one sorted copy of the signatures, addressed directly (PSM 6.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import U32, U64, aligned_zeros
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import LANES, near_any
from sosie.kernels.machine.memory import copy_first, prefetch
from sosie.kernels.tables.hits import Hits

_LOCAL = 14  # bits of an address: the rows of so many addresses stay in the cache while they are sorted
_STREAMS = 10  # bits that are sorted by before, at most
_AHEAD = 128  # probes that are under way together, so that they wait for memory together


class ProbeTable(NamedTuple):
    """Rows by the leading bits of their headers, in order: those of address a from `starts[a]` to `starts[a + 1]`.

    The words begin on a cache line and fill their last one.
    """

    words: U64
    rows: U32
    starts: U32


def empty_table(count: int, width: int, bits: int) -> ProbeTable:
    """Return room for so many rows of so many words, with addresses of so many bits."""
    words = aligned_zeros((-(-count // LANES) * LANES, width))
    return ProbeTable(words, np.empty(count, np.uint32), np.empty((1 << bits) + 1, np.uint32))


class ProbedQueries(NamedTuple):
    """Queries: their words, their headers, and the bits to flip in these, probe by probe."""

    words: U64
    headers: U32
    flips: U32


@kernel
def headers_of(words: U64, moves: U64) -> U32:
    """Return the header of each signature: `moves` are (word, down, mask, up)."""
    headers = np.empty(words.shape[0], np.uint32)
    for i in range(words.shape[0]):
        headers[i] = header_of(words, i, moves)
    return headers


@kernel
def header_of(words: U64, row: int, moves: U64) -> int:
    """Return the header of one signature."""
    header = np.uint64(0)
    for i in range(moves.shape[0]):
        header |= ((words[row, np.int64(moves[i, 0])] >> moves[i, 1]) & moves[i, 2]) << moves[i, 3]
    return header


@kernel
def fill_probe_table(words: U64, first: int, moves: U64, bits: int, made: ProbeTable) -> None:
    """Sort rows `first` and up, which have these words, by the leading bits of their headers of `bits` bits."""
    starts = made.starts
    known = log2(starts.size - 1)
    shift = np.uint64(bits - known)
    words, rows = _by_leading_bits(words, moves, bits, min(max(0, known - _LOCAL), _STREAMS))
    starts[:] = 0
    for i in range(words.shape[0]):
        starts[np.int64(header_of(words, i, moves) >> shift) + 1] += np.uint32(1)
    for address in range(starts.size - 1):
        starts[address + 1] += starts[address]
    for i in range(words.shape[0]):
        address = np.int64(header_of(words, i, moves) >> shift)
        at = starts[address]
        starts[address] = at + np.uint32(1)
        for w in range(words.shape[1]):
            made.words[at, w] = words[i, w]
        made.rows[at] = first + rows[i]
    for address in range(starts.size - 1, 0, -1):  # each start has moved on to its end: put them back
        starts[address] = starts[address - 1]
    starts[0] = 0


@kernel
def _by_leading_bits(words: U64, moves: U64, bits: int, lead: int) -> tuple[U64, U32]:
    """Return words and their rows by a few leading bits of their headers: what is sorted further then is near."""
    shift = np.uint64(bits - lead)
    place = np.zeros((1 << lead) + 1, np.int64)
    for i in range(words.shape[0]):
        place[np.int64(header_of(words, i, moves) >> shift) + 1] += 1
    for part in range(1 << lead):
        place[part + 1] += place[part]
    moved, rows = np.empty(words.shape, np.uint64), np.empty(words.shape[0], np.uint32)
    for i in range(words.shape[0]):
        part = np.int64(header_of(words, i, moves) >> shift)
        at = place[part]
        place[part] = at + 1
        for w in range(words.shape[1]):
            moved[at, w] = words[i, w]
        rows[at] = i
    return moved, rows


@kernel
def log2(power: int) -> int:
    """Return the logarithm of a power of 2."""
    bits = 0
    while power > 1:
        power >>= 1
        bits += 1
    return bits


@kernel
def probe(table: ProbeTable, live: U64, asked: ProbedQueries, moves: U64, radius: int, bits: int) -> tuple[Hits, int]:
    """Return the rows within the radius whose headers, of `bits` bits, are probed; and how many rows were compared.

    They come in no order, each once: the probes of a query differ.
    """
    words, rows, starts = table.words, table.rows, table.starts  # unpacked once: in a loop that would cost
    queries, headers, flips = asked.words, asked.headers, asked.flips
    cut = np.uint32(bits - log2(starts.size - 1))  # bits of a header that the table does not know
    room, count, work = max(64, 2 * queries.shape[0]), 0, 0
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    length = min(flips.shape[1], _AHEAD)
    together = _AHEAD // length
    buckets = np.empty((together * length + 1, 4), np.uint32)
    for begin in range(0, queries.shape[0], together):
        for first in range(0, flips.shape[1], length):
            part = begin, min(begin + together, queries.shape[0]), first, min(first + length, flips.shape[1])
            for i in range(_look_up(table, asked, part, cut, buckets)):
                query, start, stop = np.int64(buckets[i, 0]), np.int64(buckets[i, 2]), np.int64(buckets[i, 3])
                work += stop - start
                if words.shape[1] == 1 and not near_any(words, start & ~7, stop, queries[query, 0], radius + 1):
                    continue
                for place in range(start, stop):
                    distance = _distance(words, place, queries, query)
                    if distance > radius or header_of(words, place, moves) ^ headers[query] != buckets[i, 1]:
                        continue
                    if count == hits.rows.size:
                        hits = _with_room(hits)
                    hits.queries[count], hits.rows[count], hits.distances[count] = query, place, distance
                    prefetch(rows, place)
                    count += 1
    return _with_rows(hits, count, rows, live), work


@kernel
def _with_rows(hits: Hits, count: int, rows: U32, live: U64) -> Hits:
    """Return the first matches with rows instead of their places, without those that were removed."""
    kept = 0
    for i in range(count):
        row = np.int64(rows[hits.rows[i]])
        if (live[row >> 6] >> np.uint64(row & 63)) & np.uint64(1):
            hits.queries[kept], hits.rows[kept], hits.distances[kept] = hits.queries[i], row, hits.distances[i]
            kept += 1
    return Hits(hits.queries[:kept], hits.rows[:kept], hits.distances[:kept])


@kernel
def _look_up(table: ProbeTable, asked: ProbedQueries, part: tuple[int, int, int, int], cut: int, buckets: U32) -> int:
    """Write the buckets that some probes of some queries lead to (query, flip, start, stop), without the empty ones.

    Return their number. Their first and last rows are being loaded then.
    """
    words, starts, headers, flips = table.words, table.starts, asked.headers, asked.flips
    begin, end, first, last = part
    count, line, width = 0, np.int64(0), words.shape[1]
    for query in range(begin, end):
        for i in range(first, last):
            prefetch(starts, np.int64((headers[query] ^ flips[query, i]) >> cut))
    for query in range(begin, end):
        for i in range(first, last):
            address = np.int64((headers[query] ^ flips[query, i]) >> cut)
            start, stop = starts[address], starts[address + 1]
            buckets[count, 0], buckets[count, 1] = query, flips[query, i]
            buckets[count, 2], buckets[count, 3] = start, stop
            count += np.int64(start < stop)
            line = np.int64(start) * width if start < stop else line  # no branch: which are empty is chance
            prefetch(words, line)
            prefetch(words, max(line, np.int64(stop) * width - 1))
    return count


@kernel
def _distance(words: U64, place: int, queries: U64, query: int) -> int:
    distance = np.int64(0)
    for w in range(words.shape[1]):
        distance += np.int64(popcount(words[place, w] ^ queries[query, w]))
    return distance


@kernel
def scan(table: ProbeTable, live: U64, queries: U64, radius: int) -> tuple[Hits, int]:
    """Return the rows within the radius by comparing all."""
    room, count = max(64, 2 * queries.shape[0]), 0
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    for place in range(table.rows.size):
        for query in range(queries.shape[0]):
            distance = _distance(table.words, place, queries, query)
            if distance > radius:
                continue
            if count == hits.rows.size:
                hits = _with_room(hits)
            hits.queries[count], hits.rows[count], hits.distances[count] = query, place, distance
            count += 1
    return _with_rows(hits, count, table.rows, live), table.rows.size * queries.shape[0]


@kernel
def _with_room(hits: Hits) -> Hits:
    """Return the same matches with room for as many again."""
    count = hits.rows.size
    more = Hits(np.empty(2 * count, np.int32), np.empty(2 * count, np.int64), np.empty(2 * count, np.int32))
    copy_first(hits.queries, more.queries, count)
    copy_first(hits.rows, more.rows, count)
    copy_first(hits.distances, more.distances, count)
    return more
