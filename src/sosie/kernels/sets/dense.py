"""Dense lists, of features or keys that hundreds of rows share: the partners of a row in all its lists, and who stays.

A list holds a quadratic number of pairs, so each has to cost little. A bitmap of a row's features (a bit may stand for
several) tells what is certainly not shared: what one row has and the other's bitmap does not. There are three, each
for what is left by the one before: 64 bits beside each posting, which are read in order; a *sketch* of 448, one cache
line for each row; and for rows that fill it a *screen* of eight bits for each feature. Few pairs remain to be measured.

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
from sosie.kernels.machine.memory import prefetch
from sosie.kernels.sets.join import grown
from sosie.kernels.sets.rarity import SLACK
from sosie.kernels.sets.similarity import COLLIDED, CONTAINMENT, COSINE, JACCARD, Criterion, WeighedSets, measure_pair

SKETCH = 7  # words: 448 bits, and the size beside them
SCREENED = 8 * SKETCH  # features for which a sketch has eight bits each; rows with more have a screen
WIDEST = 64  # words of a screen: those of 512 features
CHUNK = 1024  # postings of a list that are looked at together
AHEAD = 12  # sketches that are asked for before they are needed
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Lists(NamedTuple):
    """Rows of lists, ascending: list i is `rows[starts[i]:ends[i]]`; `rests` is what a row has left from there on.

    Beside each row are the number of its features and a bitmap of them, so that reading a list needs no look at rows.
    """

    starts: I64
    ends: I64
    rows: I32
    rests: F64
    sizes: I32
    bits: U64


class Entries(NamedTuple):
    """In which lists each row is, CSR, and what it has left from there on: features, or squared weights."""

    offsets: I64
    lists: I32
    rests: F64


class Sketches(NamedTuple):
    """Bitmaps of rows: one line for each, the size and 448 bits; and the screens of rows with many features, CSR."""

    lines: U64
    offsets: I64
    screens: U64


class Compared(NamedTuple):
    """The rows that are in dense lists, what counts as similar, and their sketches.

    With `components`, one for each row, rows of the same component are not compared.
    """

    rows: WeighedSets
    criterion: Criterion
    sketches: Sketches
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
def sketch_rows(hashes: U64, starts: I64, stops: I64, lines: U64) -> Sketches:
    """Write the sketches of rows of features to `lines`, which are 0; return them with the screens of large rows."""
    offsets = np.zeros(starts.size + 1, np.int64)
    for row in range(starts.size):
        size = stops[row] - starts[row]
        words = min((size + 7) // 8, WIDEST) if size > SCREENED else 0
        offsets[row + 1] = offsets[row] + words
    screens = np.zeros(offsets[starts.size], np.uint64)
    for row in range(starts.size):
        lines[row, 0] = np.uint64(stops[row] - starts[row])
        screen = screens[offsets[row] : offsets[row + 1]]
        for at in range(starts[row], stops[row]):
            bit = _bit(hashes[at], SKETCH)
            lines[row, 1 + np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
            if screen.size > 0:
                bit = _bit(hashes[at], screen.size)
                screen[np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
    return Sketches(lines, offsets, screens)


@kernel
def _bit(feature: np.uint64, words: int) -> np.uint64:
    """Return which bit of a bitmap of so many words stands for a feature."""
    return (((feature * GOLDEN) >> np.uint64(32)) * np.uint64(64 * words)) >> np.uint64(32)


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
    sketches = compared.sketches
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
            size, bits = np.int32(sketches.lines[place, 0]), brief(sketches.lines, place)
            for at in range(entries.offsets[place], entries.offsets[place + 1]):
                which = entries.lists[at]
                end = kept.ends[which]
                kept.rows[end] = place
                kept.rests[end] = entries.rests[at]
                kept.sizes[end] = size
                kept.bits[end] = bits
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
    # The inner loops work on plain arrays: a tuple handed to another kernel is counted as a reference each time.
    rows, criterion, sketches, components = compared
    starts, ends, listed, rests, sizes, bits = lists
    hashes, lines, screen_offsets, screens = rows.hashes, sketches.lines, sketches.offsets, sketches.screens
    measure, share, weighted = criterion.measure, _share(criterion), rows.weights.size > 0
    limit = bounds.limit if bounds.limit > 0 else x
    own, short = rows.norms[x], brief(lines, x)
    x1, x2, x3, x4 = lines[x, 1], lines[x, 2], lines[x, 3], lines[x, 4]
    x5, x6, x7 = lines[x, 5], lines[x, 6], lines[x, 7]
    places = np.empty(CHUNK + AHEAD, np.int64)
    taken = measured = collided = 0
    best, best_row = -1.0, np.int64(-1)
    for at in range(entries.offsets[x], entries.offsets[x + 1]):
        rest, own_list = entries.rests[at], entries.lists[at]
        probes = own_list - own_list % 2
        start, which = starts[probes], probes
        stop = _first_from(listed, start, ends[probes], limit)
        while True:
            if start == stop:
                if which > probes or own_list > probes:
                    break
                which += 1  # a probe is compared with the others, too
                start = starts[which]
                stop = _first_from(listed, start, ends[which], limit)
                continue
            # Which rows pass cannot be foreseen, so there are no branches: what is written may be overwritten.
            likely = 0
            end = min(start + CHUNK, stop)
            if weighted:
                for place in range(start, end):
                    places[likely] = place
                    likely += rest * rests[place] >= share * share * own * rows.norms[listed[place]]
            else:
                for place in range(start, end):
                    other, theirs = np.float64(sizes[place]), bits[place]
                    most = min(
                        own - np.float64(popcount(short & ~theirs)), other - np.float64(popcount(theirs & ~short))
                    )
                    places[likely] = place
                    likely += min(most, min(rest, rests[place])) >= _need(measure, share, own, other)
                found = likely
                likely = 0
                if found > 0:
                    for each in range(found, found + AHEAD):
                        places[each] = start
                for each in range(found):
                    prefetch(lines, np.int64(listed[places[each + AHEAD]]) * (1 + SKETCH))
                    place = places[each]
                    y, other = np.int64(listed[place]), np.float64(sizes[place])
                    y1, y2, y3, y4 = lines[y, 1], lines[y, 2], lines[y, 3], lines[y, 4]
                    y5, y6, y7 = lines[y, 5], lines[y, 6], lines[y, 7]
                    mine = popcount(x1 & ~y1) + popcount(x2 & ~y2) + popcount(x3 & ~y3) + popcount(x4 & ~y4)
                    mine += popcount(x5 & ~y5) + popcount(x6 & ~y6) + popcount(x7 & ~y7)
                    its = popcount(y1 & ~x1) + popcount(y2 & ~x2) + popcount(y3 & ~x3) + popcount(y4 & ~x4)
                    its += popcount(y5 & ~x5) + popcount(y6 & ~x6) + popcount(y7 & ~x7)
                    places[likely] = place
                    most = min(own - np.float64(mine), other - np.float64(its))
                    likely += most >= _need(measure, share, own, other)
            start = end
            for each in range(likely):
                y = np.int64(listed[places[each]])
                if seen[y] == x or y == x or (x < bounds.apart and y < bounds.apart):
                    continue
                if components.size > 0 and components[x] == components[y]:
                    continue
                seen[y] = x
                if not weighted:
                    other = np.float64(sizes[places[each]])
                    smaller, larger = (x, y) if own <= other else (y, x)
                    first = screen_offsets[larger]
                    words = screen_offsets[larger + 1] - first
                    if words > 0:
                        misses = min(own, other) - _need(measure, share, own, other)
                        for i in range(rows.starts[smaller], rows.stops[smaller]):
                            bit = _bit(hashes[i], words)
                            word = screens[first + np.int64(bit >> np.uint64(6))]
                            misses -= np.float64(((word >> (bit & np.uint64(63))) & np.uint64(1)) ^ np.uint64(1))
                            if misses < 0:
                                break
                        if misses < 0:
                            continue
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
def _share(criterion: Criterion) -> float:
    """Return the threshold as `_need` takes it, rounded so that what rounding could decide passes."""
    whole = criterion.denominator
    if criterion.measure == JACCARD:
        whole += criterion.numerator
    return SLACK * criterion.numerator / whole


@kernel
def _need(measure: int, share: float, a: float, b: float) -> float:
    """Return how many features two sets of these sizes must share, at least."""
    if measure == CONTAINMENT:
        return share * min(a, b)
    if measure == COSINE:
        return share * math.sqrt(a * b)
    return share * (a + b)


@kernel
def brief(lines: U64, row: int) -> np.uint64:
    """Return a bitmap of 64 bits: those of a sketch, seven to one."""
    return lines[row, 1] | lines[row, 2] | lines[row, 3] | lines[row, 4] | lines[row, 5] | lines[row, 6] | lines[row, 7]


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
