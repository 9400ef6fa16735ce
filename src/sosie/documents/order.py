"""The column that decides who stays: which it is, what one of its values means, and all of them as a column.

`order_value` defines what is accepted: a value is an integer where it is one of 64 bits, else a float; a time is in
microseconds since 1970 in UTC; None means that there is no value. Columns are int64 where all are integers of 64 bits,
else float64. Arrow may refuse more than `order_value` (then the values decide one by one) but must never accept more,
so numbers in text are matched before they are cast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.nested import is_text

INTEGER = r"^[+-]?[0-9]{1,18}$"
NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_spells_number = re.compile(NUMBER).match
# Beyond this a float64 may stand for several integers.
_EXACT = 2.0**53
_UNITS = {"s": MICROSECONDS, "ms": 1000, "us": 1}
_DAY = 86_400 * MICROSECONDS
_YEAR_1 = -719_162 * _DAY
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


def is_orderable(kind: Any, order: Order) -> bool:
    """Whether columns of an Arrow type can be read as times, or as numbers."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types
    if types.is_null(kind) or is_text(kind) or _is_number(kind) or types.is_decimal(kind):
        return True
    return bool((types.is_date(kind) or types.is_timestamp(kind)) if order.kind == "newest" else types.is_boolean(kind))


def decode_order(array: Any, order: Order) -> tuple[Any, dict[int, str]]:
    """Return the values of a column, and the reasons for those that cannot be read, by position.

    >>> values, problems = decode_order(pa.array(["3", "", "2.5", "many"]), Order("stars", "max"))
    >>> values.to_pylist(), problems
    ([3.0, None, 2.5, None], {3: "'stars' is 'many', not a number"})
    """
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    try:
        values = _whole(array, order)
    except (pa.ArrowException, UnicodeDecodeError):
        values = None
    if values is not None:
        return values, {}
    found = [order_value(value, order) for value in _values(array)]
    problems = {place: value for place, value in enumerate(found) if isinstance(value, str)}
    return order_array([None if isinstance(value, str) else value for value in found]), problems


def order_array(values: list[int | float | None]) -> Any:
    """Return values, read one by one, as a column."""
    if any(isinstance(value, float) for value in values):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array(values, pa.int64())


def join_orders(parts: Sequence[Any]) -> Any:
    """Join columns: int64 if all are."""
    kind = pa.float64() if any(pa.types.is_floating(part.type) for part in parts) else pa.int64()
    return pa.concat_arrays([pa.array([], kind), *(part.cast(kind, safe=False) for part in parts)])


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):
        if not _spells_number(value):
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
    if isinstance(value, str) and not _spells_number(value):
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


def _whole(array: Any, order: Order) -> Any:
    """Read a column by Arrow; None if the values have to be looked at one by one."""
    kind = array.type
    if is_text(kind):
        array = _text(array.cast(pa.large_string()))
        if not _all_match(array, NUMBER):
            return _iso_times(array) if order.kind == "newest" else None
        array = array.cast(pa.int64() if _all_match(array, INTEGER) else pa.float64())
        if pa.types.is_floating(array.type) and np.any(np.abs(_filled(array)) >= _EXACT):
            return None
    elif pa.types.is_boolean(kind) and order.kind == "max":
        array = array.cast(pa.int64())
    elif pa.types.is_temporal(kind) and order.kind == "newest":
        return _times(array)
    elif pa.types.is_null(kind):
        return array.cast(pa.int64())
    elif not _is_number(kind):
        return None
    array = array.cast(pa.float64() if pa.types.is_floating(array.type) else pa.int64())
    return _seconds(array) if order.kind == "newest" else _integers_if_all(array)


def _text(array: Any) -> Any:
    array = pc.ascii_trim_whitespace(array)
    return pc.if_else(pc.equal(array, ""), None, array)


def _iso_times(array: Any) -> Any:
    for zone in (None, "UTC"):
        try:
            times = array.cast(pa.timestamp("us", zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        return times if np.all(_filled(times) >= _YEAR_1) else None
    return None


def _times(array: Any) -> Any:
    """Return dates or timestamps in microseconds; what is too far away for these is as far as they go."""
    if pa.types.is_date(array.type):
        array, factor = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _DAY
    else:
        unit, array = array.type.unit, array.cast(pa.int64())
        if unit == "ns":
            return _with_nulls(_filled(array) // 1000, array)
        factor = _UNITS[unit]
    most = (2**63 - 1) // factor
    return _with_nulls(np.clip(_filled(array), -most, most) * factor, array)


def _seconds(array: Any) -> Any:
    """Return numbers of seconds in microseconds; None if one is no time, or not exact."""
    values = _filled(array)
    if pa.types.is_integer(array.type):
        most = (2**63 - 1) // MICROSECONDS
        return _with_nulls(values * MICROSECONDS, array) if np.all((-most <= values) & (values <= most)) else None
    times = np.rint(values * MICROSECONDS)
    return _with_nulls(times.astype(np.int64), array) if np.all(np.abs(times) < _EXACT) else None


def _integers_if_all(array: Any) -> Any:
    if pa.types.is_integer(array.type):
        return array
    values = _filled(array)
    if np.any(np.isnan(values)):
        return None
    whole = np.all((values == np.floor(values)) & (-(2.0**63) <= values) & (values < 2.0**63))
    return _with_nulls(values.astype(np.int64), array) if whole else array


def _values(array: Any) -> list[Any]:
    """Return the values as Python objects; text that is not UTF-8 with escapes."""
    if not is_text(array.type):
        return list(array.to_pylist())
    raw = array.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
    return [None if value is None else value.decode("utf-8", "backslashreplace") for value in raw]


def _all_match(array: Any, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(array, pattern), min_count=0).as_py() is not False


def _filled(array: Any) -> Any:
    return array.fill_null(0).to_numpy(zero_copy_only=False)


def _with_nulls(values: Any, array: Any) -> Any:
    return pa.array(values, mask=array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None)


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
