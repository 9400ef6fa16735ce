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

_TOGETHER = 64  # queries that are looked up together in one table, so that they wait for memory together
_LINES = 16  # cache lines that are asked for beforehand for each of them


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
    masks, count, work, total = tables.addresses.masks, 0, 0, queries.shape[0]
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    asked, spans = np.empty(_TOGETHER, np.int64), np.empty((_TOGETHER, 2), np.int64)
    bounds, words, live = np.empty(_TOGETHER, np.int64), store.words, store.live
    for begin in range(0, total, _TOGETHER):
        size = min(_TOGETHER, total - begin)
        for i in range(size):
            asked[i], bounds[i] = begin + i, words.shape[0]
        for table in range(tables.columns.size):
            near, rows, column = tables.near[table], tables.rows[table], tables.columns[table]
            _spans_of(tables.starts[table], near, tables.addresses.moves[table], queries, asked[:size], spans)
            for i in range(size):
                query, start, stop = asked[i], spans[i, 0], spans[i, 1]
                word = queries[query, column]
                work += stop - start
                if start == stop or not near_any(near, start, stop, word, radius + 1):
                    continue
                for place in range(start, stop):
                    distance = np.int64(popcount(near[place] ^ word))
                    if distance > radius:
                        continue
                    row = np.int64(rows[place])
                    if row >= bounds[i]:
                        break
                    if masks.shape[1] == 1:
                        new = _first_in(near[place] ^ word, masks, table)
                    else:
                        distance = hamming(words[row], queries[query])
                        new = distance <= radius and first_shared(words[row], queries[query], masks[: table + 1])
                    if not new or not is_live(live, row):
                        continue
                    if count == hits.rows.size:
                        hits = Hits(_longer(hits.queries), _longer(hits.rows), _longer(hits.distances))
                    hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
                    count += 1
                    if first:
                        bounds[i] = row
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def _first_in(differ: np.uint64, masks: U64, table: int) -> bool:
    """Say whether a table is the first whose header two rows of one word share, which differ in some bits."""
    for before in range(table):
        if differ & masks[before, 0] == np.uint64(0):
            return False
    return differ & masks[table, 0] == np.uint64(0)


@kernel
def meet_near(tables: BlockTables, store: Store, queries: U64, radius: int) -> tuple[Hits, I64]:
    """Return one match of each query that has any, and the work: rows that were compared, tables that were read.

    Tables are read one after another, and none after the one in which a match was met (BPHS_F of PSM 7.1); of that
    table it is the first match. Some queries are looked up together in a table, those that still wait for a match.
    """
    count, work, room = 0, np.zeros(2, np.int64), queries.shape[0]
    hits = Hits(np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32))
    waiting, spans = np.empty(_TOGETHER, np.int64), np.empty((_TOGETHER, 2), np.int64)
    words, live = store.words, store.live  # unpacked once: in a loop that would cost
    for begin in range(0, room, _TOGETHER):
        left = min(_TOGETHER, room - begin)
        for i in range(left):
            waiting[i] = begin + i
        for table in range(tables.columns.size):
            near, rows, column = tables.near[table], tables.rows[table], tables.columns[table]
            _spans_of(tables.starts[table], near, tables.addresses.moves[table], queries, waiting[:left], spans)
            work[1] += left
            unmet = 0
            for i in range(left):
                query, start, stop = waiting[i], spans[i, 0], spans[i, 1]
                word = queries[query, column]
                work[0] += stop - start
                waiting[unmet] = query
                unmet += 1
                if start == stop or not near_any(near, start, stop, word, radius + 1):
                    continue
                for place in range(start, stop):
                    distance = np.int64(popcount(near[place] ^ word))
                    if distance > radius:
                        continue
                    row = np.int64(rows[place])
                    if queries.shape[1] > 1:
                        distance = hamming(words[row], queries[query])
                    if distance <= radius and is_live(live, row):
                        hits.queries[count], hits.rows[count], hits.distances[count] = query, row, distance
                        count += 1
                        unmet -= 1
                        break
            left = unmet
            if left == 0:
                break
    return Hits(hits.queries[:count], hits.rows[:count], hits.distances[:count]), work


@kernel
def _spans_of(starts: U32, near: U64, moves: U64, queries: U64, asked: I64, spans: I64) -> None:
    """Write where the rows of some queries are in one table, and begin to load them."""
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
