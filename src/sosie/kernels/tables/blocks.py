"""Rows found by parts of their bits: one table for each header, addressed directly (Manku et al. 2007; PSM 7.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import near_any
from sosie.kernels.machine.memory import copy_first, prefetch
from sosie.kernels.tables.hamming_join import first_shared, hamming
from sosie.kernels.tables.hits import Hits

_AHEAD = 8  # queries that are looked up together, so that they wait for memory together
_TOGETHER = 64  # queries that are looked up together in one table
_LINES = 16  # cache lines that are asked for beforehand in each table


class Addresses(NamedTuple):
    """Where a signature stands in each table: bit i of its header goes to bit i mod `bits` of its address.

    `moves[table]` are (word, down, mask, up); `masks[table]` are the bits of the header.
    """

    moves: U64
    masks: U64
    bits: int


class BlockTables(NamedTuple):
    """Rows by header: in table t, those with address a lie from `starts[t, a]` to `starts[t, a + 1]`, in order.

    `near[t]` holds word `columns[t]` of their signatures: two signatures are no nearer than any of their words. It is
    longer by the words that `near_any` may read beyond the end.
    """

    addresses: Addresses
    columns: I64
    near: U64
    rows: U32
    starts: U32


class Store(NamedTuple):
    """All rows as they are: their words, and a bit for each that has not been removed."""

    words: U64
    live: U64


@kernel
def fill_table(words: U64, first: int, table: int, made: BlockTables) -> None:
    """Sort rows `first` and up, which have these words, into a table, by counting."""
    near, rows, starts = made.near[table], made.rows[table], made.starts[table]
    column, moves = made.columns[table], made.addresses.moves[table]
    count = words.shape[0]
    addresses = np.empty(count, np.uint32)
    starts[:] = 0
    for i in range(count):
        addresses[i] = address_of(words[i], moves)
        starts[np.int64(addresses[i]) + 1] += np.uint32(1)
    for address in range(starts.size - 1):
        starts[address + 1] += starts[address]
    place = starts[:-1].copy()
    for i in range(count):
        at = place[addresses[i]]
        place[addresses[i]] = at + np.uint32(1)
        near[at] = words[i, column]
        rows[at] = first + i
    near[count:] = np.uint64(0)


@kernel
def find_near(tables: BlockTables, store: Store, queries: U64, radius: int, first: bool, room: int) -> tuple[Hits, int]:
    """Return the matches of each query, each once, in no order, and how many rows were compared.

    With `first`, rows above one that was found are left out. There is room for so many matches, and more where needed.
    """
    masks, columns, count, work = tables.addresses.masks, tables.columns, 0, 0
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    spans = np.empty((_AHEAD, masks.shape[0], 2), np.int64)
    for query in range(queries.shape[0]):
        if query % _AHEAD == 0:
            work += _look_up(tables, queries[query : query + _AHEAD], spans)
        bound = store.words.shape[0]
        for table in range(masks.shape[0]):
            begin, end = spans[query % _AHEAD, table]
            word = queries[query, columns[table]]
            if begin == end or not near_any(tables.near[table], begin, end, word, radius + 1):
                continue
            for place in range(begin, end):
                if np.int64(popcount(tables.near[table, place] ^ word)) > radius:
                    continue
                found = tables.near[table, place : place + 1]
                if masks.shape[1] > 1:
                    found = store.words[tables.rows[table, place]]
                distance = hamming(found, queries[query])
                if distance > radius or not first_shared(found, queries[query], masks[: table + 1]):
                    continue
                row = np.int64(tables.rows[table, place])
                if row >= bound:
                    break
                if not is_live(store.live, row):
                    continue
                if count == hits.rows.size:
                    hits = Hits(_longer(hits.queries), _longer(hits.rows), _longer(hits.distances))
                hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
                count += 1
                if first:
                    bound = row
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def meet_near(tables: BlockTables, store: Store, queries: U64, radius: int) -> tuple[Hits, I64]:
    """Return one match of each query that has any, and the work: rows that were compared, tables that were read.

    Tables are read one after another, and none after the one in which a match was met (BPHS_F of PSM 7.1); of that
    table it is the first match. Some queries are looked up together in a table, those that still wait for a match.
    """
    count, work, room = 0, np.zeros(2, np.int64), queries.shape[0]
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    waiting, spans = np.empty(_TOGETHER, np.int64), np.empty((_TOGETHER, 2), np.int64)
    for begin in range(0, room, _TOGETHER):
        left = min(_TOGETHER, room - begin)
        for i in range(left):
            waiting[i] = begin + i
        for table in range(tables.columns.size):
            _spans_of(tables, table, queries, waiting[:left], spans)
            work[1] += left
            unmet = 0
            for i in range(left):
                query = waiting[i]
                work[0] += spans[i, 1] - spans[i, 0]
                row, distance = _first_near(tables, table, store, queries[query], spans[i], radius)
                if row >= 0:
                    hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
                    count += 1
                else:
                    waiting[unmet] = query
                    unmet += 1
            left = unmet
            if left == 0:
                break
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def _spans_of(tables: BlockTables, table: int, queries: U64, asked: I64, spans: I64) -> None:
    """Write where the rows of some queries are in one table, and begin to load them."""
    starts, near, moves = tables.starts[table], tables.near[table], tables.addresses.moves[table]
    for i in range(asked.size):
        spans[i, 0] = address_of(queries[asked[i]], moves)
        prefetch(starts, spans[i, 0])
    for i in range(asked.size):
        address = spans[i, 0]
        begin, end = np.int64(starts[address]), np.int64(starts[address + 1])
        spans[i, 0], spans[i, 1] = begin, end
        for place in range(begin, min(end, begin + _LINES * 8), 8):
            prefetch(near, place)


@kernel
def _first_near(tables: BlockTables, table: int, store: Store, query: U64, span: I64, radius: int) -> tuple[int, int]:
    """Return the first row of a span of a table that is within the radius and there, with its distance; or row -1."""
    near, word = tables.near[table], query[tables.columns[table]]
    begin, end = span[0], span[1]
    if begin == end or not near_any(near, begin, end, word, radius + 1):
        return np.int64(-1), np.int64(0)
    for place in range(begin, end):
        distance = np.int64(popcount(near[place] ^ word))
        if distance > radius:
            continue
        row = np.int64(tables.rows[table, place])
        if query.size > 1:
            distance = hamming(store.words[row], query)
        if distance <= radius and is_live(store.live, row):
            return row, distance
    return np.int64(-1), np.int64(0)


@kernel
def _look_up(tables: BlockTables, queries: U64, spans: I64) -> int:
    """Write where the rows of some queries are in each table, begin to load them, and return their number."""
    work = 0
    for query in range(queries.shape[0]):
        for table in range(spans.shape[1]):
            address = np.int64(address_of(queries[query], tables.addresses.moves[table]))
            spans[query, table, 0] = tables.starts[table, address]
            spans[query, table, 1] = tables.starts[table, address + 1]
    for query in range(queries.shape[0]):
        for table in range(spans.shape[1]):
            begin, end = spans[query, table]
            work += end - begin
            for place in range(begin, min(end, begin + _LINES * 8), 8):
                prefetch(tables.near[table], place)
    return work


@kernel
def address_of(signature: U64, moves: U64) -> int:
    """Return where a signature stands in the table of these moves."""
    address = np.uint64(0)
    for i in range(moves.shape[0]):
        address ^= ((signature[np.int64(moves[i, 0])] >> moves[i, 1]) & moves[i, 2]) << moves[i, 3]
    return address


@kernel
def is_live(live: U64, row: int) -> bool:
    """Say whether a row has not been removed."""
    return (live[row >> 6] >> np.uint64(row & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def _longer(array: I64) -> I64:
    longer = np.empty(2 * array.size, array.dtype)
    copy_first(array, longer, array.size)
    return longer
