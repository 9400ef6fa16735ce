"""What the files of an index say and nobody trusts: numbers, rows and words, checked before a kernel relies on them.

A checksum tells damage; whoever writes a file can write a right one. So whatever a kernel takes for granted, that rows
are in a table once, that no distance is beyond the bits, is looked at when an index is loaded. What an index finds may
be wrong if its files were made to be; it does not leave its arrays. What does not fit raises `StorageError`, whose text
names no file: `load_index` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.errors import StorageError
from sosie.types import U64

_PIECE = 1 << 16  # rows that stay in the cache while they are looked up


def whole(what: str, value: Any, least: int, most: int) -> int:
    """Return a number of a manifest if it is a whole one of a range; a flag is none.

    >>> whole("bits", 64, 1, 16384)
    64
    >>> whole("bits", 1.5, 1, 16384)
    Traceback (most recent call last):
    ...
    sosie.errors.StorageError: bits: 1.5 is no whole number from 1 to 16384
    """
    if type(value) is not int or not least <= value <= most:
        raise StorageError(f"{what}: {_short(value)} is no whole number from {least} to {most}")
    return value


def whole_or_none(what: str, value: Any, least: int, most: int) -> int | None:
    """Return a number as `whole` does, or None if there is none."""
    return None if value is None else whole(what, value, least, most)


def check_each_once(tables: NDArray[Any], first: int, count: int) -> None:
    """Refuse tables that do not name each of the rows `first` and up, `count` of them, once.

    >>> check_each_once(np.array([[5, 4], [4, 4]]), first=4, count=2)
    Traceback (most recent call last):
    ...
    sosie.errors.StorageError: a table names a row twice, or one that is not in it
    """
    check_distinct(tables, first, count)
    if tables.shape[-1] != count:
        raise StorageError("a table does not name all of its rows")


def check_distinct(tables: NDArray[Any], first: int, count: int) -> None:
    """Refuse tables that name a row twice, or one that is not among the rows `first` and up, `count` of them."""
    if not tables.size:
        return
    if not first <= int(tables.min()) <= int(tables.max()) < first + count:
        raise StorageError("a table names a row twice, or one that is not in it")
    seen = np.zeros(count, np.bool_)
    for table in tables.reshape(-1, tables.shape[-1]):
        seen[:] = False
        for start in range(0, len(table), _PIECE):
            seen[np.subtract(table[start : start + _PIECE], first, dtype=np.int64)] = True
        if np.count_nonzero(seen) < len(table):
            raise StorageError("a table names a row twice, or one that is not in it")


def check_padding(words: U64, bits: int) -> None:
    """Refuse signatures that have more bits than they should: distances would be beyond the bits, too."""
    if bits % 64 and np.any(words[:, -1] >> np.uint64(bits % 64)):
        raise StorageError(f"signatures of more than {bits} bits")


def _short(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 40 else f"{said[:40]}..."
