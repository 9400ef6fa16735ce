"""Which rows of slice lists are compared with the query: those with the greatest scores."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import prefetch
from sosie.kernels.machine.sort import sort_values
from sosie.kernels.slices.expand import SliceTable
from sosie.kernels.slices.sums import SCORES, Sums, are_many, rows_with

_SAMPLED = 61  # one row in so many; prime, so that no period in the rows meets it
_AHEAD = 8  # rows whose words are asked for before they are compared
_LINE = 8  # words of a cache line


@kernel
def best_scored(sums: Sums, live: U64, wanted: int) -> U32:
    """Return the live rows with the greatest scores; ties go to the lower row.

    Where many were seen, a sample says which score that takes. It is wrong now and then, and then asked for more: that
    costs time, and never changes the rows.
    """
    sought = 1 + wanted // _SAMPLED
    while True:
        sought *= 2
        least = _score_of_sampled(sums, sought) if are_many(sums) else 1
        rows = rows_with(sums, live, least)
        if rows.size >= wanted or least == 1:
            return greatest(rows, sums.of[rows].astype(np.int64), wanted)


@kernel
def _score_of_sampled(sums: Sums, place: int) -> int:
    """Return the score at a place among the sampled rows, from the greatest; never 0."""
    at = np.zeros(SCORES, np.int32)
    highest = np.int64(1)
    for row in range(0, sums.of.size, _SAMPLED):
        score = np.int64(sums.of[row])
        at[score] += 1
        highest = max(highest, score)
    while highest > 1 and at[highest] < place:
        place -= at[highest]
        highest -= 1
    return highest


@kernel
def greatest(rows: U32, merits: I64, wanted: int) -> U32:
    """Return as many rows as wanted, those with the greatest merits; ties go to the lower row.

    >>> greatest(np.array([8, 9, 5, 3], np.uint32), np.array([2, 7, 2, 1]), 2).tolist()
    [9, 5]
    """
    if rows.size <= wanted:
        return rows
    highest = np.int64(0)
    for merit in merits:
        highest = max(highest, merit)
    at = np.zeros(highest + 1, np.int64)
    for merit in merits:
        at[merit] += 1
    border, left = at.size - 1, wanted
    while at[border] <= left:
        left -= at[border]
        border -= 1
    chosen, ties = np.empty(wanted, np.uint32), np.empty(at[border], np.uint32)
    above, tied, ascending = 0, 0, True
    for i in range(rows.size):
        if merits[i] > border:
            chosen[above] = rows[i]
            above += 1
        elif merits[i] == border:
            ascending &= tied == 0 or ties[tied - 1] < rows[i]
            ties[tied] = rows[i]
            tied += 1
    if not ascending:
        sort_values(ties)
    for i in range(left):
        chosen[above + i] = ties[i]
    return chosen


@kernel
def true_distances(table: SliceTable, rows: U32, queries: U64, query: int) -> I64:
    """Return `distance << 48 | row` of each row."""
    words = table.words
    keys = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        if i + _AHEAD < rows.size:
            for word in range(0, words.shape[1], _LINE):
                prefetch(words, np.int64(rows[i + _AHEAD]) * words.shape[1] + word)
        keys[i] = distance_to(table, rows[i], queries, query) << 48 | np.int64(rows[i])
    return keys


@kernel
def keep_least(keys: I64, best: I64) -> None:
    """Fill `best` with the least keys, ascending, as far as there are some."""
    sort_values(keys)
    kept = min(best.size, keys.size)
    for i in range(kept):
        best[i] = keys[i]


@kernel
def distance_to(table: SliceTable, row: int, queries: U64, query: int) -> int:
    """Return the true distance of a row."""
    distance = np.int64(0)
    for word in range(queries.shape[1]):
        distance += np.int64(popcount(table.words[row, word] ^ queries[query, word]))
    return distance
