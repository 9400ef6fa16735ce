"""The k nearest rows of each query by a cascade: rows of few carries are collected, and compared now and then.

Rows are held as keys (`tighten`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, U64
from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import add_planes, mark_below
from sosie.kernels.planes.cut_off import Aim
from sosie.kernels.planes.layout import Asked
from sosie.kernels.planes.majorities import CHAIN_CHUNK
from sosie.kernels.planes.tighten import CARRIES, DISTANCE, UNKNOWN, tighten
from sosie.kernels.planes.top import UNFILLED

_BLOCK = 512
_FIRST = 32  # blocks until the cut-offs are tightened for the first time; then when they are four times as many


class Rows(NamedTuple):
    """What a cascade searches: `majorities[block, adder, 4, 8]`, the marks of rows that are there, and their words."""

    majorities: U64
    live: U64
    words: U64


class Sought(NamedTuple):
    """Queries and what is known of them.

    `adders[query]` are counted; `keys[query, room]` are held, `state[query]` says how many, and up to how many carries
    rows are collected; `compared[query, carries]` counts the rows that were compared.
    """

    queries: U64
    adders: I64
    keys: I64
    state: I64
    compared: I64


def seek(queries: U64, adders: I64, known: I64, k: int) -> Sought:
    """Return queries with the rows that are known of them, and room for k more of each number of carries, and some."""
    count, most = len(queries), int(adders.max(initial=0))
    keys = np.empty((count, known.shape[1] + k * (most + 1) + 4 * _BLOCK), np.int64)
    keys[:, : known.shape[1]] = known
    state = np.stack([np.full(count, known.shape[1]), adders], axis=1)
    return Sought(queries, adders, keys, state, np.zeros((count, most + 1), np.int64))


@kernel
def cascade(rows: Rows, span: tuple[int, int], asked: Asked, sought: Sought, k: int, aim: Aim) -> None:
    """Leave in `keys` whatever of the blocks in `span` may be among the k nearest."""
    order, units, slices, keys, state = asked.order, asked.units, asked.slices, sought.keys, sought.state
    flat, marks = rows.majorities.reshape(rows.majorities.size), rows.live.reshape(rows.live.size)
    stride, queries = rows.majorities.shape[1] * 32, units.shape[0]
    heights, best = np.zeros(queries, np.int64), np.empty(k, np.int64)
    for query in range(queries):
        while sought.adders[query] >> heights[query]:
            heights[query] += 1
        _tighten(rows.words, sought, query, best, aim)
    due = span[0] + _FIRST
    for block in range(span[0], span[1]):
        for chunk in range(units.shape[1]):
            count_chunk(flat, block * stride, order, units, chunk, slices, heights)
        full = _collect(slices, heights, marks, block, keys, state)
        last = block + 1 == due or block + 1 == span[1]
        if last:
            due += 3 * (due - span[0])
        if full or last:
            for query in range(queries):
                if last or state[query, 0] > keys.shape[1] - _BLOCK:
                    _tighten(rows.words, sought, query, best, aim)


@kernel
def count_chunk(majorities: U64, start: int, order: I32, units: I64, chunk: int, slices: U64, heights: I64) -> None:
    """Add a chunk of the carries of every query to its counts."""
    for query in range(units.shape[0]):
        if chunk == 0:
            slices[query] = np.uint64(0)
        place = CHAIN_CHUNK * chunk
        add_planes(majorities, start, order[query, place:], units[query, chunk], slices[query], heights[query])


@kernel
def _collect(slices: U64, heights: I64, marks: U64, block: int, keys: I64, state: I64) -> bool:
    """Write the rows of a block that have few carries behind the keys; say whether a query needs more room."""
    found = np.empty(8, np.uint64)
    full = False
    for query in range(heights.size):
        if mark_below(slices[query], heights[query], state[query, 1] + 1, marks, 8 * block, found):
            place = keys[query, state[query, 0] :]
            state[query, 0] += _write(slices[query], heights[query], found, _BLOCK * block, place)
            full |= state[query, 0] > keys.shape[1] - _BLOCK
    return full


@kernel
def _write(counts: U64, height: int, found: U64, start: int, keys: I64) -> int:
    """Write the rows marked in `found`, not compared yet, and return how many there are."""
    total = 0
    for lane in range(8):
        marked = found[lane]
        while marked != np.uint64(0):
            bit = trailing_zeros(marked)
            marked &= marked - np.uint64(1)
            carries = np.uint64(0)
            for level in range(height):
                carries |= (counts[8 * level + lane] >> bit & np.uint64(1)) << np.uint64(level)
            row = start + 64 * lane + np.int64(bit)
            keys[total] = np.int64(carries) << CARRIES | UNKNOWN << DISTANCE | row
            total += 1
    return total


@kernel
def _tighten(words: U64, sought: Sought, query: int, best: I64, aim: Aim) -> None:
    state = sought.state[query]
    keys, compared = sought.keys[query, : state[0]], sought.compared[query, : sought.adders[query] + 1]
    state[0], state[1], _ = tighten(words, sought.queries[query], keys, compared, best, aim)


def settle(words: U64, parts: list[Sought], k: int, aim: Aim) -> tuple[I64, int, float]:
    """Bring together what was found in several spans of blocks.

    Return the k nearest rows of each query in order, as `distance << 35 | row`, how many rows were compared, and the
    sum of the expected recalls. Only the rows up to the final cut-off are counted as compared: others were by chance.
    """
    held = np.concatenate([_held(part) for part in parts], axis=1)
    compared = np.sum([part.compared for part in parts], axis=0)
    best, cuts = np.empty((len(held), k), np.int64), np.empty(len(held), np.int64)
    expected = np.empty(len(held))
    _settle(words, parts[0]._replace(keys=held, compared=compared), aim, best, cuts, expected)
    within = np.arange(compared.shape[1]) <= cuts[:, None]
    return best, int(np.sum(compared, where=within)), float(np.sum(expected))


def _held(sought: Sought) -> I64:
    """Return the keys that are held; what is beyond them is unfilled."""
    sizes = sought.state[:, 0]
    held = sought.keys[:, : sizes.max(initial=0)].copy()
    held[np.arange(held.shape[1]) >= sizes[:, None]] = UNFILLED
    return held


@kernel
def _settle(words: U64, sought: Sought, aim: Aim, best: I64, cuts: I64, expected: F64) -> None:
    for query in range(sought.queries.shape[0]):
        compared = sought.compared[query, : sought.adders[query] + 1]
        found = tighten(words, sought.queries[query], sought.keys[query], compared, best[query], aim)
        cuts[query], expected[query] = found[1], found[2]
