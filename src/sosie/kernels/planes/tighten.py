"""Rows compared from the fewest carries up, until the k nearest of them are expected to be what was asked.

Rows are held as keys, `carries << 50 | distance << 35 | row`; the distance of a row that was not compared yet is
`UNKNOWN`. Rows that are known for another reason than their carries have 0 of them.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import prefetch
from sosie.kernels.planes.cut_off import Aim, chance, reach
from sosie.kernels.planes.top import UNFILLED

CARRIES, DISTANCE, UNKNOWN = 50, 35, (1 << 15) - 1
_AHEAD = 32  # rows whose words are asked for before they are compared


@kernel
def tighten(words: U64, query: U64, keys: I64, compared: I64, best: I64, aim: Aim) -> tuple[int, int, float]:
    """Compare held rows from the fewest carries up, until those in `best` are expected to be what was asked.

    `best` becomes the k nearest rows in order, as `distance << 35 | row`. Return how many keys must still be held, the
    cut-off and the expected recall. A row that did not come before the worst of k rows with no more carries cannot be
    one of the k nearest at any lower cut-off, and is held no more.
    """
    order, starts = _by_carries(keys, compared.size)
    planes, flat, width = 2 * compared.size - 1, words.reshape(words.size), words.shape[1]
    spare = int(2 * best.size * (1.0 - aim.recall))
    held, last, lowest = 0, starts[compared.size], 0
    best[:] = UNFILLED
    for i in range(min(_AHEAD, last)):
        _ask_for(flat, order[i], width)
    for carries in range(compared.size):
        first = held
        for i in range(starts[carries], starts[carries + 1]):
            if i + _AHEAD < last:
                _ask_for(flat, order[i + _AHEAD], width)
            near = order[i] & ((1 << CARRIES) - 1)
            if near >> DISTANCE == UNKNOWN:
                row = near & ((1 << DISTANCE) - 1)
                near = distance_of(words[row], query) << DISTANCE | row
                compared[carries] += 1
            if near < best[-1] and _insert(best, near):
                keys[held] = carries << CARRIES | near
                held += 1
        if held > first:
            held = _still_best(keys, first, held, best)
            if (
                best[-1] != UNFILLED and spare < best.size
            ):  # if more rows have a chance below 1/2, their mean is too low
                lowest = reach(best[best.size - 1 - spare] >> DISTANCE, planes, aim.bits, 0.0)
        if carries >= lowest and best[-1] != UNFILLED:
            expected = _expected(best, carries, planes, aim.bits)
            if expected >= aim.recall:
                return held, carries, expected
    return held, compared.size - 1, 1.0


@kernel
def _still_best(keys: I64, first: int, last: int, best: I64) -> int:
    """Keep those of `keys[first:last]` that are still among the best; return where they end."""
    for i in range(first, last):
        if keys[i] & ((1 << CARRIES) - 1) <= best[-1]:
            keys[first] = keys[i]
            first += 1
    return first


@kernel
def _ask_for(words: U64, key: int, width: int) -> None:
    """Begin to load the first words of a row."""
    start = (key & ((1 << DISTANCE) - 1)) * width
    prefetch(words, start)
    prefetch(words, start + min(8, width - 1))


@kernel
def _insert(best: I64, near: int) -> bool:
    """Put a row that comes before the last into its place, unless it is there already; say whether it was not."""
    place = np.searchsorted(best, near)
    if best[place] == near:
        return False
    for i in range(best.size - 1, place, -1):
        best[i] = best[i - 1]
    best[place] = near
    return True


@kernel
def _expected(best: I64, carries: int, planes: int, bits: int) -> float:
    """Return the mean chance of the rows to have at most so many carries."""
    total = 0.0
    for near in best:
        total += chance(carries, near >> DISTANCE, planes, bits)
    return total / best.size


@kernel
def _by_carries(keys: I64, carries: int) -> tuple[I64, I64]:
    """Sort keys by their carries; those of c carries are from `starts[c]` to `starts[c + 1]`."""
    starts = np.zeros(carries + 1, np.int64)
    for key in keys:
        if key != UNFILLED:
            starts[(key >> CARRIES) + 1] += 1
    for c in range(carries):
        starts[c + 1] += starts[c]
    place, order = starts.copy(), np.empty(keys.size, np.int64)
    for key in keys:
        if key != UNFILLED:
            order[place[key >> CARRIES]] = key
            place[key >> CARRIES] += 1
    return order, starts


@kernel
def distance_of(words: U64, query: U64) -> int:
    """Return in how many bits two signatures differ."""
    total = np.uint64(0)
    for i in range(query.size):
        total += popcount(words[i] ^ query[i])
    return np.int64(total)
