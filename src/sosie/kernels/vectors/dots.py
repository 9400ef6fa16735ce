"""Inner products of sparse rows: of a row with all rows of a list by column, and of given pairs.

Products are added in the order of the columns, here as there, so that a pair has the same sum wherever it is met.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F32, F64, I32, I64, read_only
from sosie.kernels.machine.compile import kernel


class SparseRows(NamedTuple):
    """Row r has `weights[i]` at `columns[i]`, which ascend, for i from offsets[r] to offsets[r + 1]."""

    offsets: I64
    columns: I32
    weights: F32


class Lists(NamedTuple):
    """Rows by column: column c has `weights[i]` in `rows[i]`, which ascend, for i from offsets[c] to offsets[c + 1]."""

    offsets: I64
    rows: I32
    weights: F32


def list_rows(rows: SparseRows, first: int, last: int, width: int) -> Lists:
    """Return rows first..last by column; row `first` is number 0 there.

    >>> rows = SparseRows(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), np.array([3, 4, 5], np.float32))
    >>> lists = list_rows(rows, 0, 2, 3)
    >>> lists.offsets.tolist(), lists.rows.tolist(), lists.weights.tolist()
    ([0, 1, 1, 3], [0, 0, 1], [3.0, 4.0, 5.0])
    """
    size = int(rows.offsets[last] - rows.offsets[first])
    lists = Lists(np.zeros(width + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.float32))
    _list_rows(SparseRows(*map(read_only, rows)), first, last, lists)
    return Lists(*map(read_only, lists))


@kernel
def _list_rows(rows: SparseRows, first: int, last: int, lists: Lists) -> None:
    ends = lists.offsets
    for i in range(rows.offsets[first], rows.offsets[last]):
        ends[rows.columns[i] + 1] += 1
    for column in range(1, ends.size):
        ends[column] += ends[column - 1]
    places = ends[:-1].copy()
    for row in range(first, last):
        for i in range(rows.offsets[row], rows.offsets[row + 1]):
            place = places[rows.columns[i]]
            lists.rows[place] = row - first
            lists.weights[place] = rows.weights[i]
            places[rows.columns[i]] += 1


@kernel
def _score(asking: SparseRows, row: int, lists: Lists, scores: F64) -> None:
    """Write the product of a row with every listed one."""
    scores[:] = 0.0
    for i in range(asking.offsets[row], asking.offsets[row + 1]):
        column, weight = asking.columns[i], np.float64(asking.weights[i])
        for j in range(lists.offsets[column], lists.offsets[column + 1]):
            scores[lists.rows[j]] += weight * np.float64(lists.weights[j])


@kernel
def best_of_lists(
    asking: SparseRows, first: int, last: int, lists: Lists, base: int, scores: F64, best: I64, products: F64
) -> None:
    """Put the listed rows with the greatest products into `best[q]`, `products[q]`, for asking rows first..last.

    Both are kept in order, greatest first, equal ones by row; -1 stands where there is none. Listed rows are numbered
    from `base` on, and come after all that are there already; `scores` is room for one number of each. A product of 0
    is none.
    """
    k = best.shape[1]
    for row in range(first, last):
        _score(asking, row, lists, scores)
        own, values = best[row - first], products[row - first]
        least = values[k - 1] if own[k - 1] >= 0 else 0.0
        for other in range(scores.size):
            if scores[other] > least:
                place = k - 1
                while place > 0 and (own[place - 1] < 0 or values[place - 1] < scores[other]):
                    own[place], values[place] = own[place - 1], values[place - 1]
                    place -= 1
                own[place], values[place] = base + other, scores[other]
                least = values[k - 1] if own[k - 1] >= 0 else 0.0


@kernel
def pairs_of_lists(
    asking: SparseRows, first: int, last: int, lists: Lists, least: float, scores: F64, found: I64, products: F64
) -> tuple[int, int]:
    """Write pairs of asking rows and listed ones whose product is at least `least`, while there is room.

    `found[i]` is the asking row times 2^32 plus the listed row. Return the row to go on with and how many pairs there
    are: a row's pairs are all there or none. `scores` is room for one number of each listed row.
    """
    count = 0
    for row in range(first, last):
        _score(asking, row, lists, scores)
        before = count
        for other in range(scores.size):
            if scores[other] >= least and scores[other] > 0.0:
                if count == found.size:
                    return row, before
                found[count] = np.int64(row) << 32 | np.int64(other)
                products[count] = scores[other]
                count += 1
    return last, count


@kernel
def pair_products(a: SparseRows, b: SparseRows, rows: I64, others: I64, products: F64) -> None:
    """Write the product of each pair: of row rows[i] of `a` and row others[i] of `b`."""
    for pair in range(rows.size):
        i, end = a.offsets[rows[pair]], a.offsets[rows[pair] + 1]
        j, stop = b.offsets[others[pair]], b.offsets[others[pair] + 1]
        total = 0.0
        while i < end and j < stop:
            if a.columns[i] < b.columns[j]:
                i += 1
            elif a.columns[i] > b.columns[j]:
                j += 1
            else:
                total += np.float64(a.weights[i]) * np.float64(b.weights[j])
                i += 1
                j += 1
        products[pair] = total
