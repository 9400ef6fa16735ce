"""Multi-index hashing (Norouzi et al. 2012): rows near a query, by substrings of their bits that are near its own.

There is a table for each of m substrings, addressed by its value. Step `s * m + t` looks up, in table t, the values
that differ from the query's in exactly s bits. A row is seen first in the least step of `s * m + t` over all t, where s
are the bits in which substring t differs; so after a step every row whose distance is at most its number was seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.bits import next_mask, popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import near_any
from sosie.kernels.machine.memory import copy_first, prefetch
from sosie.kernels.planes.top import replace_worst
from sosie.kernels.tables.blocks import BlockTables, address_of, is_live

LEFT, PROBES, COMPARISONS, COUNT = range(4)  # places in the state of a search
_AHEAD = 64  # look-ups that wait for memory together


class Prices(NamedTuple):
    """What a look-up, a row of a list and a row of several words cost, as many planes of a scan.

    Of several words one tells most rows apart where fewer than `telling` bits may differ.
    """

    probe: int
    compare: int
    fetch: int
    telling: int


class RunRows(NamedTuple):
    """The words of rows `first` and up, and a bit for each row of the index that has not been removed."""

    words: U64
    live: U64
    first: int


class Found(NamedTuple):
    """What a query found, `keys[:state[COUNT]]` as `distance << 48 | row`, and the state of the search.

    `state[LEFT]` is what it may still cost; below 0 it was given up. `spans` is room for look-ups, `differ` for what
    differs in a row.
    """

    keys: I64
    state: I64
    spans: I64
    differ: U64


@kernel
def top_by_tables(tables: BlockTables, rows: RunRows, queries: U64, prices: Prices, left: I64, best: I64) -> I64:
    """Improve the heaps `best[query]` by the rows of a run; return the state, with the look-ups and rows of all.

    A query that would cost more than `left[query]` is given up: what is left of it is then below 0.
    """
    found = _nothing(queries.shape[1])
    for query in range(queries.shape[0]):
        found.state[LEFT] = left[query]
        for step in range(_steps(tables)):
            bound = best[query, 0] >> 48
            if step > bound or found.state[LEFT] < 0:
                break
            found.state[COUNT] = 0
            found = _look(tables, rows, queries[query], (step, bound), prices, found)
            for i in range(found.state[COUNT]):
                if found.keys[i] < best[query, 0]:
                    replace_worst(best[query], found.keys[i])
        left[query] = found.state[LEFT]
    return found.state


@kernel
def near_by_tables(
    tables: BlockTables, rows: RunRows, queries: U64, radius: int, limit: tuple[Prices, I64], sizes: I64
) -> tuple[I64, I64]:
    """Return the keys of all rows of a run within a radius, `sizes[query]` of them, in no order, and the state.

    The limit is of prices and what each query may cost, as in `top_by_tables`; one that is given up has no keys.
    """
    prices, left = limit
    found, steps, cost = _nothing(queries.shape[1]), min(_steps(tables), radius + 1), 0
    for step in range(steps):
        cost += _cost(tables, rows, step, radius, prices)
    for query in range(queries.shape[0]):
        found.state[LEFT], before = left[query] if cost <= left[query] else -1, found.state[COUNT]
        for step in range(steps):
            if found.state[LEFT] < 0:
                break
            found = _look(tables, rows, queries[query], (step, radius), prices, found)
        if found.state[LEFT] < 0:
            found.state[COUNT] = before
        left[query], sizes[query] = found.state[LEFT], found.state[COUNT] - before
    return found.keys[: found.state[COUNT]], found.state


@kernel
def _nothing(words: int) -> Found:
    keys, state, spans = np.empty(1024, np.int64), np.zeros(4, np.int64), np.empty((_AHEAD, 2), np.int64)
    return Found(keys, state, spans, np.empty(words, np.uint64))


@kernel
def _steps(tables: BlockTables) -> int:
    """Return after how many steps every row was seen."""
    return tables.addresses.masks.shape[0] * (tables.addresses.bits + 1)


@kernel
def _look(
    tables: BlockTables, rows: RunRows, query: U64, limits: tuple[int, int], prices: Prices, found: Found
) -> Found:
    """Find the rows that a step is the first to see, and that are at most a bound away: the `limits`."""
    step, bound = limits
    moves, state, spans = tables.addresses.moves, found.state, found.spans
    flips, table = step // moves.shape[0], step % moves.shape[0]
    width = _set_bits(tables.addresses.masks[table])
    if flips > width:
        return found
    if _cost(tables, rows, step, bound, prices) > state[LEFT]:
        state[LEFT] = -1
        return found
    starts, near, numbers = tables.starts[table], tables.near[table], tables.rows[table]
    word, keys, count = query[tables.columns[table]], found.keys, state[COUNT]
    address, mask, end = np.int64(address_of(query, moves[table])), (1 << flips) - 1, 1 << width
    while mask < end:
        asked, work, mask = _look_up(starts, near, address, mask, end, spans)
        state[LEFT] -= prices.probe * asked + prices.compare * work
        if state[LEFT] < 0:
            return found
        state[PROBES] += asked
        state[COMPARISONS] += work
        if count + work > keys.size:
            keys = _longer(keys, count + work)
        for i in range(asked):
            if not near_any(near, spans[i, 0], spans[i, 1], word, bound + 1):  # a yes for an empty span does no harm
                continue
            for place in range(spans[i, 0], spans[i, 1]):
                if np.int64(popcount(near[place] ^ word)) > bound:
                    continue
                row, found.differ[0] = np.int64(numbers[place]), near[place] ^ word
                if query.size > 1:
                    state[LEFT] -= prices.fetch
                    for w in range(query.size):
                        found.differ[w] = rows.words[row - rows.first, w] ^ query[w]
                distance = _set_bits(found.differ)
                if distance <= bound and _is_first(step, found.differ, moves) and is_live(rows.live, row):
                    keys[count] = distance << 48 | row
                    count += 1
    state[COUNT] = count
    return Found(keys, state, spans, found.differ)


@kernel
def _look_up(starts: U32, near: U64, address: int, mask: int, end: int, spans: I64) -> tuple[int, int, int]:
    """Write where the lists of the next addresses lie and begin to load them; return their number, rows and mask."""
    count, work = 0, 0
    while mask < end and count < _AHEAD:
        spans[count, 0] = address ^ mask
        prefetch(starts, address ^ mask)
        mask = next_mask(mask) if mask else end
        count += 1
    for i in range(count):
        at = spans[i, 0]
        spans[i, 0], spans[i, 1] = starts[at], starts[at + 1]
        prefetch(near, spans[i, 0])
        work += spans[i, 1] - spans[i, 0]
    return count, work, mask


@kernel
def _cost(tables: BlockTables, rows: RunRows, step: int, bound: int, prices: Prices) -> int:
    """Return what a step costs if lists are of mean length."""
    masks = tables.addresses.masks
    width = _set_bits(masks[step % masks.shape[0]])
    compare = prices.compare if masks.shape[1] == 1 or bound < prices.telling else prices.fetch
    return _choices(width, step // masks.shape[0]) * (prices.probe + compare * (rows.words.shape[0] >> width))


@kernel
def _is_first(step: int, differ: U64, moves: U64) -> bool:
    """Say whether no step before this one has seen a row, which differs from the query in these bits."""
    tables = moves.shape[0]
    for table in range(tables):
        flips = 0
        for i in range(moves.shape[1]):
            word, down, mask = moves[table, i, 0], moves[table, i, 1], moves[table, i, 2]
            flips += np.int64(popcount((differ[np.int64(word)] >> down) & mask))
        if flips * tables + table < step:
            return False
    return True


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
        ways = ways * (n - i) // (i + 1)  # 0 from i = n on
    return ways


@kernel
def _longer(keys: I64, size: int) -> I64:
    longer = np.empty(max(size, 2 * keys.size), np.int64)
    copy_first(keys, longer, keys.size)
    return longer
