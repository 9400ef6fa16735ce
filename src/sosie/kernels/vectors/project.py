"""Rows of counts in one vocabulary -> rows of counts in another, by a table of what stands for each term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I32, I64, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import sort_values


class Table(NamedTuple):
    """What stands for each term: t is `values[i]` of each of `columns[i]`, for i from offsets[t] to offsets[t + 1]."""

    offsets: I64
    columns: I32
    values: F64


class Counted(NamedTuple):
    """Rows of terms, with how often each occurs: row r has `terms[offsets[r] : offsets[r + 1]]`."""

    offsets: I64
    terms: I32
    counts: F64


def project(rows: Counted, table: Table, width: int) -> tuple[I64, I32, F64]:
    """Return rows of a vocabulary of `width` columns: offsets, columns in order, and the sums of count times value.

    >>> table = Table(np.array([0, 2, 2, 3]), np.array([1, 0, 1], np.int32), np.array([0.75, 0.25, 1.0]))
    >>> offsets, columns, sums = project(Counted(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.ones(3)), table, 2)
    >>> columns.tolist(), sums.tolist()
    ([0, 1], [0.25, 1.75])
    """
    sizes = np.diff(table.offsets)
    room = int(sizes[rows.terms].sum())
    offsets = np.zeros(len(rows.offsets), np.int64)
    columns, sums = np.empty(room, np.int32), np.empty(room, np.float64)
    held = Counted(*map(read_only, rows))
    _project(held, Table(*map(read_only, table)), np.zeros(width), offsets, columns, sums)
    return offsets, columns[: offsets[-1]], sums[: offsets[-1]]


@kernel
def _project(rows: Counted, table: Table, dense: F64, offsets: I64, columns: I32, sums: F64) -> None:
    """Write the projected rows; `dense` is room of zeros for one row, and is zero again in the end."""
    end = np.int64(0)
    for row in range(rows.offsets.size - 1):
        start = end
        for i in range(rows.offsets[row], rows.offsets[row + 1]):
            term, count = rows.terms[i], rows.counts[i]
            for j in range(table.offsets[term], table.offsets[term + 1]):
                column, share = table.columns[j], count * table.values[j]
                if share <= 0.0:
                    continue
                if dense[column] == 0.0:
                    columns[end] = column
                    end += 1
                dense[column] += share
        sort_values(columns[start:end])
        for i in range(start, end):
            sums[i] = dense[columns[i]]
            dense[columns[i]] = 0.0
        offsets[row + 1] = end
