"""Dense lists, of features or keys that hundreds of rows share: the partners of a row in all its lists, and who stays.

A list holds a quadratic number of pairs, so each has to cost little. A row has a *sketch*: its size and a bitmap of
its features (a bit may stand for several). What one row has and the other's bitmap does not is certainly not shared,
so two sketches, one cache line each, bound the overlap of two rows; few pairs remain to be measured.

A pair that is looked for in lists of features has the one with fewer features among the *probes* of its first common
list (`kernels/sets/join.py`). Lists come in twos, therefore: list 2i holds the probes of a feature and list 2i + 1 its
other rows. A probe is compared with both, another row with the probes alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, U64, Bools
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.join import grown
from sosie.kernels.sets.rarity import SLACK
from sosie.kernels.sets.similarity import COLLIDED, CONTAINMENT, COSINE, Criterion, WeighedSets, measure_pair

SKETCH = 8  # words: the size and 448 bits
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Lists(NamedTuple):
    """Rows of lists, ascending: list i is `rows[starts[i]:ends[i]]`; `rests` is what a row has left from there on."""

    starts: I64
    ends: I64
    rows: I32
    rests: F64


class Entries(NamedTuple):
    """In which lists each row is, CSR, and what it has left from there on: features, or squared weights."""

    offsets: I64
    lists: I32
    rests: F64


class Compared(NamedTuple):
    """The rows that are in dense lists, what counts as similar, and their sketches.

    With `components`, one for each row, rows of the same component are not compared.
    """

    rows: WeighedSets
    criterion: Criterion
    sketches: U64
    components: I64


class Bounds(NamedTuple):
    """Whom a row is compared with: those below `limit`, or below itself where that is 0; the first `apart` rows not
    with each other. Of its partners the first `most` are taken, and after them whoever is more similar than all before.
    """

    limit: int
    apart: int
    most: int


class Partners(NamedTuple):
    """Similar pairs (a, b), how many were measured, how many of these collided, and which rows asked for have one."""

    a: I64
    b: I64
    measured: int
    collided: int
    some: Bools


@kernel
def sketch_rows(hashes: U64, starts: I64, stops: I64) -> U64:
    """Return the sketches of rows of features."""
    sketches = np.zeros((starts.size, SKETCH), np.uint64)
    bits = np.uint64(64 * (SKETCH - 1))
    for row in range(starts.size):
        sketches[row, 0] = np.uint64(stops[row] - starts[row])
        for at in range(starts[row], stops[row]):
            bit = (((hashes[at] * GOLDEN) >> np.uint64(32)) * bits) >> np.uint64(32)
            sketches[row, 1 + np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
    return sketches


@kernel
def find_partners(
    compared: Compared, lists: Lists, entries: Entries, asked: I64, bounds: Bounds, seen: I32
) -> Partners:
    """Return the similar rows of each row asked for, in all lists that it is in.

    `seen` has a place for each row, none of them holding a row that is asked for: whom it was compared with last.
    """
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    some = np.zeros(asked.size, np.bool_)
    pairs = measured = collided = 0
    for at in range(asked.size):
        before = pairs
        pair_a, pair_b, pairs, more, apart = _partners_of(
            compared, lists, entries, asked[at], bounds, seen, pair_a, pair_b, pairs
        )
        measured += more
        collided += apart
        some[at] = pairs > before
    return Partners(pair_a[:pairs], pair_b[:pairs], measured, collided, some)


class Standing(NamedTuple):
    """What decides who stays, apart from the lists: rows in keep order, CSR of the earlier ones each is similar to.

    `places` is the row's place among those in dense lists, or -1. The first `reference` rows stay in any case.
    """

    offsets: I64
    earlier: I64
    places: I64
    reference: int


@kernel
def settle(
    compared: Compared,
    kept: Lists,
    entries: Entries,
    standing: Standing,
    bounds: Bounds,
    seen: I32,
    stays: Bools,
    span: tuple[int, int],
) -> Partners:
    """Decide in keep order which rows of a span stay: those that are similar to no one that stays.

    `stays` comes with what is known: whoever has a partner among those that stay before the span goes. `kept` are the
    lists of the rows that stay: whoever stays now is added to them, and each row is compared with those added in this
    span, from `kept.starts` on. With a limit, only rows below it are added.
    """
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    pairs = measured = collided = 0
    for row in range(span[0], span[1]):
        place = standing.places[row]
        if row >= standing.reference:
            for at in range(standing.offsets[row], standing.offsets[row + 1]):
                stays[row] &= not stays[standing.earlier[at]]
            if place >= 0:
                before = pairs
                pair_a, pair_b, pairs, more, apart = _partners_of(
                    compared, kept, entries, place, bounds, seen, pair_a, pair_b, pairs
                )
                measured += more
                collided += apart
                stays[row] &= pairs == before
        if stays[row] and place >= 0 and (bounds.limit == 0 or place < bounds.limit):
            for at in range(entries.offsets[place], entries.offsets[place + 1]):
                which = entries.lists[at]
                end = kept.ends[which]
                kept.rows[end] = place
                kept.rests[end] = entries.rests[at]
                kept.ends[which] = end + 1
    return Partners(pair_a[:pairs], pair_b[:pairs], measured, collided, stays)


@kernel
def _partners_of(
    compared: Compared,
    lists: Lists,
    entries: Entries,
    x: int,
    bounds: Bounds,
    seen: I32,
    pair_a: I64,
    pair_b: I64,
    pairs: int,
) -> tuple[I64, I64, int, int, int]:
    """Add the partners of one row to the pairs; return how many pairs were measured, and how many collided."""
    # The inner loop works on plain arrays: a tuple handed to another kernel is counted as a reference each time.
    rows, criterion, sketches, components = compared
    starts, ends, listed, rests = lists
    norms = rows.norms
    weighted = rows.weights.size > 0
    least = SLACK * criterion.numerator / criterion.denominator
    of_both = SLACK * criterion.numerator / (criterion.numerator + criterion.denominator)
    limit = bounds.limit if bounds.limit > 0 else x
    own = norms[x]
    root = math.sqrt(own)
    x1, x2, x3, x4 = sketches[x, 1], sketches[x, 2], sketches[x, 3], sketches[x, 4]
    x5, x6, x7 = sketches[x, 5], sketches[x, 6], sketches[x, 7]
    taken = measured = collided = 0
    best, best_row = -1.0, np.int64(-1)
    for at in range(entries.offsets[x], entries.offsets[x + 1]):
        own_list = entries.lists[at]
        rest = entries.rests[at]
        probes = own_list - own_list % 2
        for which in range(probes, probes + 2 - own_list % 2):
            stop = _first_from(listed, starts[which], ends[which], limit)
            for place in range(starts[which], stop):
                y = np.int64(listed[place])
                if components.size > 0 and components[x] == components[y]:
                    continue
                if weighted:
                    if rest * rests[place] < least * least * own * norms[y]:
                        continue
                else:
                    other = norms[y]
                    if criterion.measure == CONTAINMENT:
                        need = least * min(own, other)
                    elif criterion.measure == COSINE:
                        need = least * root * math.sqrt(other)
                    else:
                        need = of_both * (own + other)
                    if min(rest, rests[place]) < need:
                        continue
                    y1, y2, y3, y4 = sketches[y, 1], sketches[y, 2], sketches[y, 3], sketches[y, 4]
                    y5, y6, y7 = sketches[y, 5], sketches[y, 6], sketches[y, 7]
                    missing = popcount(x1 & ~y1) + popcount(x2 & ~y2) + popcount(x3 & ~y3) + popcount(x4 & ~y4)
                    missing += popcount(x5 & ~y5) + popcount(x6 & ~y6) + popcount(x7 & ~y7)
                    if own - np.float64(missing) < need:
                        continue
                    missing = popcount(y1 & ~x1) + popcount(y2 & ~x2) + popcount(y3 & ~x3) + popcount(y4 & ~x4)
                    missing += popcount(y5 & ~x5) + popcount(y6 & ~x6) + popcount(y7 & ~x7)
                    if other - np.float64(missing) < need:
                        continue
                if seen[y] == x or y == x or (x < bounds.apart and y < bounds.apart):
                    continue
                seen[y] = x
                measured += 1
                similarity, shared = measure_pair(rows, criterion, y, x)
                if shared < 0:
                    collided += shared == COLLIDED
                    continue
                better = similarity > best or (similarity == best and y < best_row)
                if taken < bounds.most or better:
                    pair_a, pair_b = grown(pair_a, pairs + 1), grown(pair_b, pairs + 1)
                    pair_a[pairs], pair_b[pairs] = y, x
                    pairs += 1
                taken += 1
                if better:
                    best, best_row = similarity, y
    return pair_a, pair_b, pairs, measured, collided


@kernel
def _first_from(rows: I32, low: int, high: int, limit: int) -> int:
    """Return the place of the first of ascending rows that is not below the limit."""
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low
