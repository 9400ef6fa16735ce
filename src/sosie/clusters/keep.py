"""Which document of a group stays: the place of every document in keep order."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sosie.documents.order import Order
from sosie.errors import UsageError
from sosie.types import I64

Keep = str
RULES = "first, longest, newest:COLUMN or max:COLUMN"


def parse_keep(keep: Keep) -> Order | Literal["first", "longest"]:
    """Return a rule as data.

    >>> parse_keep("newest:date")
    Order(column='date', kind='newest')
    """
    match str(keep).partition(":"):
        case ("first", "", ""):
            return "first"
        case ("longest", "", ""):
            return "longest"
        case ("newest", _, column) if column:
            return Order(column, "newest")
        case ("max", _, column) if column:
            return Order(column, "max")
    lacking = f": name the column, as in {keep}:date" if keep in ("newest", "max") else ""
    raise UsageError(f"keep must be one of {RULES}, got {keep!r}{lacking}")


def keep_rank(keep: Keep, lengths: I64, order: Any = None) -> I64:
    """Return each row's place in keep order; ties go to the earlier row.

    `lengths` are those of the texts; `order` (an Arrow array, int64 or float64) holds the values of the column that
    decides, where one does: the greatest first, nulls last.

    >>> keep_rank("longest", np.array([5, 9, 9])).tolist()
    [2, 0, 1]
    """
    rule = parse_keep(keep)
    if rule == "first":
        return np.arange(len(lengths), dtype=np.int64)
    if rule == "longest":
        return _places(np.argsort(-lengths, kind="stable"))
    if order is None or len(order) != len(lengths):
        raise UsageError(f"keep={keep!r} needs the values of the column {rule.column!r}, one for each document")
    null = order.is_null().to_numpy(zero_copy_only=False)
    values = order.fill_null(0).to_numpy(zero_copy_only=False)
    # Unlike -x, ~x is defined for the least integer, too.
    falling = np.argsort(-values if values.dtype.kind == "f" else ~values, kind="stable")
    return _places(np.concatenate([falling[~null[falling]], np.flatnonzero(null)]))


def _places(rows: I64) -> I64:
    places = np.empty(len(rows), np.int64)
    places[rows] = np.arange(len(rows))
    return places
