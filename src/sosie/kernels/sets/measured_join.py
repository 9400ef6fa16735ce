"""The exact join by cosine or containment inside one partition of postings.

The dot product of two rows is at most what both have left from their first common feature on. Of two sets the smaller
one shares at least t of its features, so one of a similar pair's postings is a *probe*: it has that much left. Lists
are joined probes with all, and a pair is looked at for its first common feature only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, U64, Bools
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.measures import CONTAINMENT, Criterion, Rows, may_pair, measure_pair
from sosie.kernels.sets.postings import Postings
from sosie.kernels.sets.ranked import SLACK, Ranked
from sosie.kernels.sets.set_join import grown, none_common


class List(NamedTuple):
    """One list, probes first: what the filters need of each posting."""

    rows: I32
    positions: I32
    rests: F64
    norms: F64
    previous: U64


class Joined(NamedTuple):
    """Similar pairs, the lists too dense to join as CSR, which of their rows are probes, and what was compared."""

    a: I64
    b: I64
    ends: I64
    members: I64
    probes: Bools
    compared: int


@kernel
def _read_list(rows: Rows, ranked: Ranked, postings: Postings, start: int, stop: int, share: float, here: List) -> int:
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
def _dense_members(rows: I32, probes: int) -> tuple[I64, Bools]:
    """Return the rows of a list in ascending order, each once, and which of them are probes."""
    members = np.unique(rows).astype(np.int64)
    is_probe = np.zeros(members.size, np.bool_)
    is_probe[np.searchsorted(members, rows[:probes])] = True
    return members, is_probe


@kernel
def join_measured(rows: Rows, criterion: Criterion, ranked: Ranked, dense: int, postings: Postings) -> Joined:
    """Join one partition of postings, ordered by token; lists of more than dense^2 comparisons are not joined."""
    tokens = postings.tokens
    weighted = rows.weights.size > 0
    least = SLACK * criterion.numerator / criterion.denominator
    share = least * least if weighted else least
    here = List(
        np.empty(tokens.size, np.int32),
        np.empty(tokens.size, np.int32),
        np.empty(tokens.size, np.float64),
        np.empty(tokens.size, np.float64),
        np.empty(tokens.size, np.uint64),
    )
    listed, positions, rests, norms, previous = here
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    members, ends, dense_probes = np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.bool_)
    pairs = compared = start = 0
    while start < tokens.size:
        stop = start + 1
        while stop < tokens.size and tokens[stop] == tokens[start]:
            stop += 1
        length = stop - start
        probes = _read_list(rows, ranked, postings, start, stop, share, here) if length > 1 else 0
        start = stop
        if probes * length > dense * dense:
            more, is_probe = _dense_members(listed[:length], probes)
            members, dense_probes = np.concatenate((members, more)), np.concatenate((dense_probes, is_probe))
            ends = np.append(ends, members.size)
            continue
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
    return Joined(pair_a[:pairs], pair_b[:pairs], ends, members, dense_probes, compared)
