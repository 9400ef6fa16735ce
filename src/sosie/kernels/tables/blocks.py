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
    """Return the first match of each query that is met, and the work: rows that were compared, tables that were read.

    Tables are read one after another, and none after the one in which a match was met.
    """
    masks, columns, count, work = tables.addresses.masks, tables.columns, 0, np.zeros(2, np.int64)
    room = queries.shape[0]
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    for query in range(room):
        for table in range(masks.shape[0]):
            address = np.int64(address_of(queries[query], tables.addresses.moves[table]))
            begin, end = np.int64(tables.starts[table, address]), np.int64(tables.starts[table, address + 1])
            word = queries[query, columns[table]]
            work[1] += 1
            met = False
            for place in range(begin, end):
                work[0] += 1
                if np.int64(popcount(tables.near[table, place] ^ word)) > radius:
                    continue
                row = np.int64(tables.rows[table, place])
                distance = hamming(store.words[row], queries[query])
                if distance <= radius and is_live(store.live, row):
                    hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
                    count += 1
                    met = True
                    break
            if met:
                break
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


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
