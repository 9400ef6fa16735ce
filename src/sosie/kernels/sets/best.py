"""The rows that have most of a query, by an inverted file: rare features first, frequent ones only as far as needed.

The similarity of a row is the share of the query's weight that it has, and a little less the longer the row is. Lists
are added up from the heaviest feature on. As soon as the lists that are left could not lift a row that has not been
seen among the best k, only rows that have been seen matter; and of these only those that the rest can still lift there
(Turtle and Flood 1995: max-score). Nothing is left out that could be among the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import stable_order
from sosie.kernels.sign.weigh import logarithm

DAMPING = 0.05  # how much less a row counts that is e times as long as the query
_LOOK_UP = 16  # comparisons that a look-up of one row in a list takes, about
_MANY = 8  # rows for each that has been seen, so that looking at all of them is as cheap
_SCAN = 4  # rows that are looked at in the time that a posting takes
_USUAL = 1 << 14  # features of a row: what rows of fewer count is worked out once for each number


class Lists(NamedTuple):
    """The lists of a query's features, the heaviest first: feature i weighs `weights[i]` of `total`.

    Its rows are `rows[begins[i]:ends[i]]`; `asked` is the number of features of the query, of unknown ones too. The
    total is below 2^32, so that sums of weights are.
    """

    rows: U32
    begins: I64
    ends: I64
    weights: U32
    total: int
    asked: int


class Held(NamedTuple):
    """A run of rows: row i, `first + i` of the index, has `sizes[i]` features, and is there if its bit is `live`."""

    sizes: U32
    live: U64
    first: int


class Best(NamedTuple):
    """The best rows so far, as a heap whose root is the worst of them: ties are worse the higher the row."""

    similarities: F64
    rows: I64


@kernel
def length_factor(size: int, asked: int) -> float:
    """Return how much a row of so many features counts: 1 / (1 + 0.05 ln(size / asked)), 1 if it is no longer."""
    return 1.0 if size <= asked else 1.0 / (1.0 + DAMPING * logarithm(size / asked))


@kernel
def best_rows(lists: Lists, held: Held, k: int) -> tuple[F64, I64, I32, I64]:
    """Return the best k rows of a run with their similarities, features that they lack, and the work that it took.

    They are ordered by similarity, ties by row. The work is the number of postings that were read, and of rows that
    were looked up.
    """
    rows, steps = held.sizes.size, lists.weights.size
    sums, seen, count = np.zeros(rows, np.uint32), np.empty(rows // _MANY + 1, np.uint32), np.int64(0)
    rest, work, factors = _rests(lists.weights), np.zeros(2, np.int64), np.zeros(_USUAL)
    step, least, every = 0, -1.0, False  # whether every row is looked at, because many have been seen
    while step < steps and rest[step] / lists.total >= least:
        length = lists.ends[step] - lists.begins[step]
        every = every or count + length >= seen.size
        count = _add_everywhere(lists, step, sums) if every else _add_list(lists, step, sums, seen, count)
        work[0] += length
        step += 1
        if step < steps and lists.ends[step] - lists.begins[step] > (rows // _SCAN if every else count):
            least = _best(lists, sums, seen[:count], every, held, factors, k).similarities[0]
    if step < steps:
        seen = _hopeful(sums, seen[:count], every, rest[step], lists.total, least)
        count, every = seen.size, False
    while step < steps:
        count = _still_hopeful(sums, seen[:count], rest[step], lists.total, least)
        _add_to_seen(lists, step, sums, seen[:count], work)
        step += 1
    return _ordered(lists, _best(lists, sums, seen[:count], every, held, factors, k), held.first, work)


@kernel
def _rests(weights: U32) -> I64:
    """Return what each feature and those after it weigh together."""
    rest = np.zeros(weights.size + 1, np.int64)
    for i in range(weights.size - 1, -1, -1):
        rest[i] = rest[i + 1] + np.int64(weights[i])
    return rest


@kernel
def _add_list(lists: Lists, step: int, sums: U32, seen: U32, count: int) -> int:
    """Add what a feature weighs to its rows, and put those that were not seen before behind the others."""
    weight = lists.weights[step]
    for i in range(lists.begins[step], lists.ends[step]):
        row = lists.rows[i]
        before = sums[row]
        seen[count] = row  # there is room for one more: no branch
        count += before == 0
        sums[row] = before + weight
    return count


@kernel
def _add_everywhere(lists: Lists, step: int, sums: U32) -> int:
    weight = lists.weights[step]
    for i in range(lists.begins[step], lists.ends[step]):
        sums[lists.rows[i]] += weight
    return 0


@kernel
def _hopeful(sums: U32, seen: U32, every: bool, rest: int, total: int, least: float) -> U32:
    """Return the rows, of all or of those that have been seen, that the rest can lift to the least similarity."""
    if not every:
        return seen[: _still_hopeful(sums, seen, rest, total, least)]
    needed = max(np.int64(least * total) - rest - 1, 1)  # a little less than needed, so that rounding does no harm
    count = 0
    for row in range(sums.size):
        count += sums[row] >= needed
    found = np.empty(count + 1, np.uint32)
    count = 0
    for row in range(sums.size):
        if sums[row] >= needed:
            found[count] = row
            count += 1
    return found[:count]


@kernel
def _still_hopeful(sums: U32, seen: U32, rest: int, total: int, least: float) -> int:
    """Move the rows that the rest can lift to the least similarity to the front, and return how many they are."""
    kept = 0
    for i in range(seen.size):
        row = seen[i]
        if (np.int64(sums[row]) + rest) / total >= least:
            seen[kept] = row
            kept += 1
    return kept


@kernel
def _add_to_seen(lists: Lists, step: int, sums: U32, seen: U32, work: I64) -> None:
    """Add what a feature weighs to those of the rows that have it: by looking each up, or by reading the list."""
    begin, end, weight = lists.begins[step], lists.ends[step], lists.weights[step]
    if _LOOK_UP * seen.size > end - begin:
        work[0] += end - begin
        for i in range(begin, end):
            row = lists.rows[i]
            if sums[row] > 0:
                sums[row] += weight
        return
    work[1] += seen.size
    for row in seen:
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            if lists.rows[middle] < row:
                low = middle + 1
            else:
                high = middle
        if low < end and lists.rows[low] == row:
            sums[row] += weight


@kernel
def _best(lists: Lists, sums: U32, seen: U32, every: bool, held: Held, factors: F64, k: int) -> Best:
    """Return the best k of all rows, or of those that have been seen; what no row takes has a similarity of -1."""
    best = Best(np.full(k, -1.0), np.full(k, np.int64(2**62)))
    needed = np.int64(1)
    for i in range(sums.size if every else seen.size):
        at = np.int64(i) if every else np.int64(seen[i])
        if sums[at] >= needed and _offer(lists, held, factors, at, np.int64(sums[at]), best):
            needed = max(np.int64(best.similarities[0] * lists.total) - 1, 1)  # a little less: then it is worked out
    return best


@kernel
def _offer(lists: Lists, held: Held, factors: F64, at: int, total: int, best: Best) -> bool:
    """Take a row among the best if it is one of them, and say so."""
    row = held.first + at
    share = total / lists.total
    if share < best.similarities[0] or not (held.live[row >> 6] >> np.uint64(row & 63)) & np.uint64(1):
        return False
    similarity = share * _factor(np.int64(held.sizes[at]), lists.asked, factors)
    if not _is_worse(best.similarities[0], best.rows[0], similarity, row):
        return False
    best.similarities[0], best.rows[0] = similarity, row
    _sink(best)
    return True


@kernel
def _factor(size: int, asked: int, factors: F64) -> float:
    """Return the length factor, out of those that are known or among them from now on."""
    if size >= factors.size:
        return length_factor(size, asked)
    if factors[size] == 0.0:
        factors[size] = length_factor(size, asked)
    return factors[size]


@kernel
def _is_worse(similarity: float, row: int, other: float, other_row: int) -> bool:
    return similarity < other or (similarity == other and row > other_row)


@kernel
def _sink(best: Best) -> None:
    """Let the root sink to its place."""
    similarities, rows = best
    at, size = 0, rows.size
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _is_worse(similarities[child + 1], rows[child + 1], similarities[child], rows[child]):
            child += 1
        if not _is_worse(similarities[child], rows[child], similarities[at], rows[at]):
            return
        similarities[at], similarities[child] = similarities[child], similarities[at]
        rows[at], rows[child] = rows[child], rows[at]
        at = child


@kernel
def _ordered(lists: Lists, best: Best, first: int, work: I64) -> tuple[F64, I64, I32, I64]:
    """Return the best rows, the most similar first, and how many of the query's features each lacks."""
    filled = np.flatnonzero(best.similarities > 0.0)
    by_row = filled[stable_order(best.rows[filled])]
    order = by_row[stable_order(-best.similarities[by_row])]
    rows = best.rows[order]
    lacking = np.full(rows.size, np.int32(lists.asked), np.int32)
    for i in range(rows.size):
        at = np.uint32(rows[i] - first)
        for step in range(lists.weights.size):
            low, high = lists.begins[step], lists.ends[step]
            while low < high:
                middle = (low + high) >> 1
                if lists.rows[middle] < at:
                    low = middle + 1
                else:
                    high = middle
            if low < lists.ends[step] and lists.rows[low] == at:
                lacking[i] -= 1
    return best.similarities[order], rows, lacking, work
