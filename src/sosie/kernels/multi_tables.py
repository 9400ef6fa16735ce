"""Multi-index hashing (Norouzi et al. 2012): rows near a query, by substrings of their bits that are near its own.

There is a table for each of m substrings, addressed by its value. Step `s * m + t` looks up, in table t, the values
that differ from the query's in exactly s bits. A row is seen first in the least step of `s * m + t` over all t, where s
are the bits in which substring t differs; so after a step every row whose distance is at most its number was seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import I64, U64
from sosie.kernels.bits import next_mask
from sosie.kernels.block_tables import BlockTables, address_of, is_live
from sosie.kernels.compile import kernel
from sosie.kernels.hamming_join import hamming
from sosie.kernels.near_any import near_any
from sosie.kernels.plane_top import replace_worst
from sosie.kernels.popcount import popcount
from sosie.kernels.prefetch import prefetch

PROBE, COMPARE = 6, 1  # what a look-up and a row cost, in planes of 512 rows that a scan counts in that time
LEFT, PROBES, COMPARISONS, COUNT = range(4)  # places in the state of a search
_AHEAD = 64  # look-ups that wait for memory together


class Rows(NamedTuple):
    """The words of rows `first` and up, and a bit for each row of the index that has not been removed."""

    words: U64
    live: U64
    first: int


class Found(NamedTuple):
    """What a query found, `keys[:state[COUNT]]` as `distance << 48 | row`, and the state of the search.

    `state[LEFT]` is what it may still cost; below 0 it was given up. `spans` is room for look-ups.
    """

    keys: I64
    state: I64
    spans: I64


@kernel
def top_by_tables(tables: BlockTables, rows: Rows, queries: U64, left: I64, best: I64) -> I64:
    """Improve the heaps `best[query]` by the rows of a run; return the state, with the look-ups and rows of all.

    A query that would cost more than `left[query]` is given up: what is left of it is then below 0.
    """
    found = _nothing()
    for query in range(queries.shape[0]):
        found.state[LEFT] = left[query]
        for step in range(_steps(tables)):
            bound = best[query, 0] >> 48
            if step > bound or found.state[LEFT] < 0:
                break
            found.state[COUNT] = 0
            found = _look(tables, rows, queries[query], step, bound, found)
            for i in range(found.state[COUNT]):
                if found.keys[i] < best[query, 0]:
                    replace_worst(best[query], found.keys[i])
        left[query] = found.state[LEFT]
    return found.state


@kernel
def near_by_tables(
    tables: BlockTables, rows: Rows, queries: U64, radius: int, left: I64, sizes: I64
) -> tuple[I64, I64]:
    """Return the keys of all rows of a run within a radius, `sizes[query]` of them, in no order, and the state.

    What a query may cost is as in `top_by_tables`; one that is given up has no keys.
    """
    found = _nothing()
    for query in range(queries.shape[0]):
        found.state[LEFT], before = left[query], found.state[COUNT]
        for step in range(min(_steps(tables), radius + 1)):
            if found.state[LEFT] < 0:
                break
            found = _look(tables, rows, queries[query], step, radius, found)
        if found.state[LEFT] < 0:
            found.state[COUNT] = before
        left[query], sizes[query] = found.state[LEFT], found.state[COUNT] - before
    return found.keys[: found.state[COUNT]], found.state


@kernel
def _nothing() -> Found:
    return Found(np.empty(1024, np.int64), np.zeros(4, np.int64), np.empty((_AHEAD, 2), np.int64))


@kernel
def _steps(tables: BlockTables) -> int:
    """Return after how many steps every row was seen."""
    return tables.addresses.masks.shape[0] * (tables.addresses.bits + 1)


@kernel
def _look(tables: BlockTables, rows: Rows, query: U64, step: int, bound: int, found: Found) -> Found:
    """Find the rows that a step is the first to see, and that are at most `bound` away."""
    masks, state, spans = tables.addresses.masks, found.state, found.spans
    flips, table = step // masks.shape[0], step % masks.shape[0]
    width = _set_bits(masks[table])
    if flips > width:
        return found
    if _choices(width, flips) * (PROBE + COMPARE * (rows.words.shape[0] >> width)) > state[LEFT]:
        state[LEFT] = -1
        return found
    starts, near, numbers = tables.starts[table], tables.near[table], tables.rows[table]
    word, keys, count = query[tables.columns[table]], found.keys, state[COUNT]
    address, mask, end = np.int64(address_of(query, tables.addresses.moves[table])), (1 << flips) - 1, 1 << width
    while mask < end:
        asked, work = 0, 0
        while mask < end and asked < _AHEAD:
            spans[asked, 0] = address ^ mask
            prefetch(starts, address ^ mask)
            mask = next_mask(mask) if mask else end
            asked += 1
        for i in range(asked):
            at = spans[i, 0]
            begin, stop = np.int64(starts[at]), np.int64(starts[at + 1])
            prefetch(near, begin)
            spans[i, 0], spans[i, 1] = begin, stop
            work += stop - begin
        state[LEFT] -= PROBE * asked + COMPARE * work
        if state[LEFT] < 0:
            return found
        state[PROBES] += asked
        state[COMPARISONS] += work
        if count + work > keys.size:
            keys = _longer(keys, count + work)
        for i in range(asked):
            if not near_any(near, spans[i, 0], spans[i, 1], word, bound + 1):
                continue
            for place in range(spans[i, 0], spans[i, 1]):
                if np.int64(popcount(near[place] ^ word)) > bound:
                    continue
                row = np.int64(numbers[place])
                signature = near[place : place + 1] if query.size == 1 else rows.words[row - rows.first]
                distance = hamming(signature, query)
                if distance <= bound and _first_step(signature, query, masks) == step and is_live(rows.live, row):
                    keys[count] = distance << 48 | row
                    count += 1
    state[COUNT] = count
    return Found(keys, state, spans)


@kernel
def _first_step(a: U64, b: U64, masks: U64) -> int:
    """Return the step that is the first to see row a of a query b."""
    tables = masks.shape[0]
    first = 64 * a.size * tables + tables
    for table in range(tables):
        flips = 0
        for w in range(a.size):
            flips += np.int64(popcount((a[w] ^ b[w]) & masks[table, w]))
        first = min(first, flips * tables + table)
    return first


@kernel
def _set_bits(words: U64) -> int:
    count = 0
    for word in words:
        count += np.int64(popcount(word))
    return count


@kernel
def _choices(n: int, k: int) -> int:
    """Return the number of ways to choose k of n."""
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


@kernel
def _longer(keys: I64, size: int) -> I64:
    longer = np.empty(max(size, 2 * keys.size), np.int64)
    longer[: keys.size] = keys
    return longer
