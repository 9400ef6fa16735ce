"""Numbers of rows and times as people write them."""

from __future__ import annotations

import math
import re

from sosie.errors import UsageError

_THOUSANDS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
_TIMES = {"": 1.0, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,3})?)\s*([A-Za-z]*)")


def as_count(name: str, value: int | str) -> int:
    """Return a number of rows that is given as one, or as people write it.

    >>> as_count("rows", "10M"), as_count("rows", "1.5 k"), as_count("rows", "10_000,000"), as_count("rows", "1e9")
    (10000000, 1500, 10000000, 1000000000)
    """
    if isinstance(value, str):
        found = _AMOUNT.fullmatch(re.sub(r"(?<=\d)[_,](?=\d)", "", value.strip()))
        unit = None if found is None else _THOUSANDS.get(found[2].upper())
        if found is None or unit is None or not (count := round(float(found[1]) * unit, 6)).is_integer():
            raise UsageError(f"{name}: {value!r} is not a number of them: write it as in 10000, 250k, 10M or 1B")
        return int(count)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name}: {value!r} is not a number of them: write it as in 10000, or as text, '10M'")
    return value


def as_seconds(value: float | str | None) -> float | None:
    """Return a time in seconds that is given as such, or as people write it.

    >>> as_seconds("60s"), as_seconds("1.5 h"), as_seconds("200ms"), as_seconds(90), as_seconds(None)
    (60.0, 5400.0, 0.2, 90.0, None)
    """
    if value is None:
        return None
    number: float | None = None
    if isinstance(value, str):
        found = _AMOUNT.fullmatch(value.strip())
        unit = None if found is None else _TIMES.get(found[2].lower())
        number = None if found is None or unit is None else float(found[1]) * unit
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if number is None or not 0 < number < math.inf:
        raise UsageError(f"time: {value!r} is not a time above 0: write it as in 60s, 5min or 2h, or as seconds")
    return number
