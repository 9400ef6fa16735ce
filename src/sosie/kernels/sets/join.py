"""The exact joins inside one partition of postings: by Jaccard, and by cosine or containment.

Two sets with Jaccard similarity >= t share a feature in their prefixes of the rarest features (the PPJoin family:
prefix and position filters). The smaller one of a pair (by size, then row) needs only its index prefix of
|x| - ceil(2t / (1 + t) |x|) + 1 features.

The dot product of two rows is at most what both have left from their first common feature on. Of two sets the smaller
one shares at least t of its features, so one of a similar pair's postings is a *probe*: it has that much left. Lists
are joined probes with all.

In both, a pair is looked at for its first common feature only, so nothing is emitted twice. They are two kernels,
because Jaccard, the default, needs no floats and reads its lists where they lie: what the other one copies to put
probes first would cost it time, and which lists are dense would change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, U64, Bools
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.postings import Postings
from sosie.kernels.sets.rarity import SLACK, Ranked
from sosie.kernels.sets.similarity import (
    CONTAINMENT,
    Criterion,
    Sets,
    WeighedSets,
    may_pair,
    measure_pair,
    required_overlap,
    shared_features,
)


class Joined(NamedTuple):
    """Similar pairs, where the lists too dense to join begin and end among the postings, and what was compared."""

    a: I64
    b: I64
    starts: I64
    stops: I64
    compared: int


class Prefixes(NamedTuple):
    """The rarest features of each row in order, CSR, and how many of them are enough for the smaller one of a pair."""

    tokens: U64
    offsets: I64
    index_lengths: I64


class BesidePostings(NamedTuple):
    """What the filters need of each posting, beside it: reading a list then needs no look at the rows themselves."""

    sizes: I32
    indexed: Bools
    previous: U64


@kernel
def join_prefixes(sets: Sets, prefixes: Prefixes, criterion: Criterion, dense: int, postings: Postings) -> Joined:
    """Join one partition of postings, ordered by token, by Jaccard; lists of more than `dense` rows are not joined."""
    # The inner loop works on plain arrays: a tuple handed to another kernel is counted as a reference each time.
    tokens, rows, positions = postings
    sizes, indexed, previous = _beside(sets, prefixes, postings)
    part, whole = criterion.numerator, criterion.numerator + criterion.denominator
    split = criterion.split
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    dense_starts, dense_stops = np.empty(16, np.int64), np.empty(16, np.int64)
    pairs = compared = lists = 0
    start = np.int64(0)
    while start < tokens.size:
        stop = start + 1
        while stop < tokens.size and tokens[stop] == tokens[start]:
            stop += 1
        if stop - start > dense:
            dense_starts, dense_stops = grown(dense_starts, lists + 1), grown(dense_stops, lists + 1)
            dense_starts[lists], dense_stops[lists] = start, stop
            lists += 1
            start = stop
            continue
        for x in range(start, stop):
            for y in range(x + 1, stop):
                if previous[x] == previous[y]:
                    continue  # this is not their first common feature
                both = np.int64(sizes[x]) + np.int64(sizes[y])
                if whole * min(sizes[x] - positions[x], sizes[y] - positions[y]) < part * both:
                    continue  # too few features are left
                smaller = x if sizes[x] <= sizes[y] else y  # of equal sizes the lower row, and rows ascend
                if not indexed[smaller]:
                    continue
                a, b = np.int64(rows[x]), np.int64(rows[y])
                if a == b or (split > 0 and (a < split) == (b < split)):
                    continue  # two features of one document may share the 48 bits of a token
                i, j = prefixes.offsets[a], prefixes.offsets[b]
                if not none_common(prefixes.tokens, i, i + positions[x], j, j + positions[y]):
                    continue
                compared += 1
                need = required_overlap(both, np.int64(0), part, whole - part)
                shared = shared_features(
                    sets.hashes, sets.starts[a], sets.stops[a], sets.starts[b], sets.stops[b], need
                )
                if shared >= 0:
                    pair_a, pair_b = grown(pair_a, pairs + 1), grown(pair_b, pairs + 1)
                    pair_a[pairs], pair_b[pairs] = a, b
                    pairs += 1
        start = stop
    return Joined(pair_a[:pairs], pair_b[:pairs], dense_starts[:lists], dense_stops[:lists], compared)


@kernel
def _beside(sets: Sets, prefixes: Prefixes, postings: Postings) -> BesidePostings:
    count = postings.rows.size
    beside = BesidePostings(np.empty(count, np.int32), np.empty(count, np.bool_), np.empty(count, np.uint64))
    for i in range(count):
        row = postings.rows[i]
        position = postings.positions[i]
        beside.sizes[i] = sets.stops[row] - sets.starts[row]
        beside.indexed[i] = position < prefixes.index_lengths[row]
        beside.previous[i] = prefixes.tokens[prefixes.offsets[row] + position - 1] if position > 0 else np.uint64(i)
    return beside


class ProbedList(NamedTuple):
    """One list, probes first: what the filters need of each posting."""

    rows: I32
    positions: I32
    rests: F64
    norms: F64
    previous: U64


@kernel
def join_ranked(rows: WeighedSets, criterion: Criterion, ranked: Ranked, dense: int, postings: Postings) -> Joined:
    """Join one partition of postings, ordered by token, by cosine or containment.

    Lists of more than dense^2 comparisons are not joined.
    """
    tokens = postings.tokens
    weighted = rows.weights.size > 0
    least = SLACK * criterion.numerator / criterion.denominator
    share = least * least if weighted else least
    here = ProbedList(
        np.empty(tokens.size, np.int32),
        np.empty(tokens.size, np.int32),
        np.empty(tokens.size, np.float64),
        np.empty(tokens.size, np.float64),
        np.empty(tokens.size, np.uint64),
    )
    listed, positions, rests, norms, previous = here
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    dense_starts, dense_stops = np.empty(16, np.int64), np.empty(16, np.int64)
    pairs = compared = lists = 0
    start = np.int64(0)
    while start < tokens.size:
        stop = start + 1
        while stop < tokens.size and tokens[stop] == tokens[start]:
            stop += 1
        length = stop - start
        probes = _read_list(rows, ranked, postings, start, stop, share, here) if length > 1 else 0
        if probes * length > dense * dense:
            dense_starts, dense_stops = grown(dense_starts, lists + 1), grown(dense_stops, lists + 1)
            dense_starts[lists], dense_stops[lists] = start, stop
            lists += 1
            start = stop
            continue
        start = stop
        for x in range(probes):
            for y in range(x + 1, length):
                if previous[x] == previous[y]:
                    continue  # this is not their first common feature
                left = min(rests[x], rests[y])
                if criterion.measure == CONTAINMENT:
                    if left < least * min(norms[x], norms[y]):
                        continue
                elif (rests[x] * rests[y] if weighted else left * left) < least * least * norms[x] * norms[y]:
                    continue
                a, b = np.int64(listed[x]), np.int64(listed[y])
                if not may_pair(criterion.split, a, b):
                    continue
                i, j = ranked.offsets[a], ranked.offsets[b]
                if not none_common(ranked.tokens, i, i + positions[x], j, j + positions[y]):
                    continue
                compared += 1
                if measure_pair(rows, criterion, a, b)[1] >= 0:
                    pair_a, pair_b = grown(pair_a, pairs + 1), grown(pair_b, pairs + 1)
                    pair_a[pairs], pair_b[pairs] = a, b
                    pairs += 1
    return Joined(pair_a[:pairs], pair_b[:pairs], dense_starts[:lists], dense_stops[:lists], compared)


@kernel
def _read_list(
    rows: WeighedSets, ranked: Ranked, postings: Postings, start: int, stop: int, share: float, here: ProbedList
) -> int:
    """Copy a list, probes first, and return how many they are."""
    probes = place = 0
    for wanted in (True, False):
        for i in range(start, stop):
            row = postings.rows[i]
            at = ranked.offsets[row] + postings.positions[i]
            is_probe = ranked.rests[at] >= share * rows.norms[row]
            if is_probe != wanted:
                continue
            here.rows[place] = row
            here.positions[place] = postings.positions[i]
            here.rests[place] = ranked.rests[at]
            here.norms[place] = rows.norms[row]
            here.previous[place] = ranked.tokens[at - 1] if postings.positions[i] > 0 else np.uint64(i)
            place += 1
        if wanted:
            probes = place
    return probes


@kernel
def none_common(tokens: U64, i: int, i_stop: int, j: int, j_stop: int) -> bool:
    """Whether two ascending spans of tokens have nothing in common."""
    while i < i_stop and j < j_stop:
        u = tokens[i]
        v = tokens[j]
        if u == v:
            return False
        i += u < v
        j += v < u
    return True


@kernel
def grown(values: I64, needed: int) -> I64:
    """Return the array, or a copy with room for as many values as needed."""
    if needed <= values.size:
        return values
    larger = np.empty(max(needed, 2 * values.size), values.dtype)
    for i in range(values.size):
        larger[i] = values[i]
    return larger
