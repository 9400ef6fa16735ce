"""The column that decides who stays: which it is, and what one of its values means.

This defines what is accepted; the fast path in `order_column` must agree with it. A value is an integer where it is one
of 64 bits, else a float; a time is in microseconds since 1970 in UTC. None means that there is no value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

INTEGER = r"^[+-]?[0-9]{1,18}$"
NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_is_number = re.compile(NUMBER).match
_SHOWN = 40  # characters of a value in a message


@dataclass(frozen=True)
class Order:
    """Documents by a column, the greatest value first: `newest` reads times, `max` numbers."""

    column: str
    kind: Literal["newest", "max"]


def order_value(value: Any, order: Order) -> int | float | str | None:
    """Return what a value is compared by, None if there is none, or as text the reason why it cannot be read.

    >>> order_value("2024-05-01T12:00:00.5+02:00", Order("date", "newest"))
    1714557600500000
    >>> order_value("12.5", Order("stars", "max")), order_value(" ", Order("stars", "max"))
    (12.5, None)
    >>> order_value("yesterday", Order("date", "newest"))
    "'date' is 'yesterday', not a time; write it as 2024-05-01T10:00:00Z or as seconds since 1970"
    """
    if isinstance(value, str):
        value = value.strip(" \t\n\r\v\f")
    if value is None or value == "":
        return None
    found = _time(value) if order.kind == "newest" else _number(value)
    if found is not None:
        return found
    shown = repr(value if len(str(value)) <= _SHOWN else str(value)[:_SHOWN] + "...")
    if isinstance(value, list):
        shown = "a list or an object"
    if order.kind == "newest":
        return f"{order.column!r} is {shown}, not a time; write it as 2024-05-01T10:00:00Z or as seconds since 1970"
    return f"{order.column!r} is {shown}, not a number"


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):
        if not _is_number(value):
            return None
        try:
            value = Decimal(value)
        except InvalidOperation:  # an exponent of many digits
            value = float(value)
    if not isinstance(value, int | float | Decimal) or value != value:
        return None
    if -(2**63) <= value < 2**63 and value == int(value):
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return None


def _time(value: Any) -> int | None:
    if isinstance(value, str) and not _is_number(value):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(microseconds=1)
    seconds = None if isinstance(value, bool) else _number(value)
    if seconds is None or abs(seconds) > 2**63 / MICROSECONDS:
        return None
    time = round(seconds * MICROSECONDS)
    return time if -(2**63) <= time < 2**63 else None
