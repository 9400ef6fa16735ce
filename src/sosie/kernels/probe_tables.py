"""Rows found by one header: one sorted copy of the signatures, addressed directly (PSM 6.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import U32, U64
from sosie.kernels.compile import kernel
from sosie.kernels.hamming_join import hamming
from sosie.kernels.hits import Hits
from sosie.kernels.prefetch import prefetch

_AHEAD = 64  # probes that are under way together, so that they wait for memory together
_LINES = 4  # cache lines that are asked for beforehand of each


class ProbeTable(NamedTuple):
    """Rows by the leading bits of their headers, in order: those of address a from `starts[a]` to `starts[a + 1]`."""

    words: U64
    rows: U32
    starts: U32


class Asked(NamedTuple):
    """Queries: their words, their headers, and the bits to flip in these, probe by probe."""

    words: U64
    headers: U32
    flips: U32


@kernel
def headers_of(words: U64, moves: U64) -> U32:
    """Return the header of each signature: `moves` are (word, down, mask, up)."""
    headers = np.empty(words.shape[0], np.uint32)
    for i in range(words.shape[0]):
        headers[i] = header_of(words[i], moves)
    return headers


@kernel
def header_of(signature: U64, moves: U64) -> int:
    """Return the header of one signature."""
    header = np.uint64(0)
    for i in range(moves.shape[0]):
        header |= ((signature[np.int64(moves[i, 0])] >> moves[i, 1]) & moves[i, 2]) << moves[i, 3]
    return header


@kernel
def fill_probe_table(words: U64, first: int, moves: U64, bits: int, made: ProbeTable) -> None:
    """Sort rows `first` and up, which have these words, by the leading bits of their headers of `bits` bits."""
    starts = made.starts
    shift = np.uint64(bits) - np.uint64(trailing(starts.size - 1))
    starts[:] = 0
    for i in range(words.shape[0]):
        starts[np.int64(header_of(words[i], moves) >> shift) + 1] += np.uint32(1)
    for address in range(starts.size - 1):
        starts[address + 1] += starts[address]
    for i in range(words.shape[0]):
        address = np.int64(header_of(words[i], moves) >> shift)
        at = starts[address]
        starts[address] = at + np.uint32(1)
        for w in range(words.shape[1]):
            made.words[at, w] = words[i, w]
        made.rows[at] = first + i
    for address in range(starts.size - 1, 0, -1):  # each start has moved on to its end: put them back
        starts[address] = starts[address - 1]
    starts[0] = 0


@kernel
def trailing(power: int) -> int:
    """Return the logarithm of a power of 2."""
    bits = 0
    while power > 1:
        power >>= 1
        bits += 1
    return bits


@kernel
def probe(table: ProbeTable, live: U64, asked: Asked, moves: U64, radius: int, bits: int) -> tuple[Hits, int]:
    """Return the rows within the radius whose headers, of `bits` bits, are probed; and how many rows were compared.

    They come in no order, each once: the probes of a query differ.
    """
    starts, count, work = table.starts, 0, 0
    cut = bits - trailing(starts.size - 1)  # bits of a header that the table does not know
    room = max(64, 2 * asked.flips.shape[0])
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    probes, total = asked.flips.shape[1], asked.flips.size
    spans = np.empty((_AHEAD, 2), np.int64)
    for start in range(0, total, _AHEAD):
        stop = min(start + _AHEAD, total)
        for i in range(start, stop):
            prefetch(starts, np.int64((asked.headers[i // probes] ^ asked.flips[i // probes, i % probes]) >> cut))
        for i in range(start, stop):
            address = np.int64((asked.headers[i // probes] ^ asked.flips[i // probes, i % probes]) >> cut)
            begin, end = np.int64(starts[address]), np.int64(starts[address + 1])
            spans[i - start] = begin, end
            for line in range(begin * table.words.shape[1], min(end * table.words.shape[1], begin + 8 * _LINES), 8):
                prefetch(table.words, line)
        for i in range(start, stop):
            begin, end = spans[i - start]
            work += end - begin
            for place in range(begin, end):
                distance = hamming(table.words[place], asked.words[i // probes])
                if distance > radius:
                    continue
                differ = np.uint32(header_of(table.words[place], moves)) ^ asked.headers[i // probes]
                row = np.int64(table.rows[place])
                if differ != asked.flips[i // probes, i % probes] or not _is_live(live, row):
                    continue
                if count == hits.rows.size:
                    hits = _with_room(hits)
                hits.queries[count], hits.rows[count], hits.distances[count] = i // probes, row, distance
                count += 1
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def scan(table: ProbeTable, live: U64, queries: U64, radius: int) -> tuple[Hits, int]:
    """Return the rows within the radius by comparing all."""
    room, count = max(64, 2 * queries.shape[0]), 0
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    for place in range(table.words.shape[0]):
        row = np.int64(table.rows[place])
        if not _is_live(live, row):
            continue
        for query in range(queries.shape[0]):
            distance = hamming(table.words[place], queries[query])
            if distance > radius:
                continue
            if count == hits.rows.size:
                hits = _with_room(hits)
            hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
            count += 1
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), table.rows.size * queries.shape[0]


@kernel
def _is_live(live: U64, row: int) -> bool:
    return (live[row >> 6] >> np.uint64(row & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def _with_room(hits: Hits) -> Hits:
    """Return the same matches with room for as many again."""
    count = hits.rows.size
    more = Hits(np.empty(2 * count, np.int32), np.empty(2 * count, np.int64), np.empty(2 * count, np.int32))
    more.queries[:count], more.rows[:count], more.distances[:count] = hits.queries, hits.rows, hits.distances
    return more
