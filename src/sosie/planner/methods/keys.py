"""What an index of keys takes, and when a counter for every row is cheap."""

from __future__ import annotations

from sosie.planner.constants.search import FEW_FOUND


def directory_bits(rows: int) -> int:
    """Return how many leading bits the directory of so many keys tells apart: about two keys share them.

    >>> directory_bits(1000)
    9
    """
    return max(1, (rows // 2).bit_length())


def least_room(rows: int, tables: int) -> int:
    """Return what no machine must lack so that the rows can be held: a key as it is, and one sorted with its row."""
    return tables * (24 * rows + (8 << directory_bits(rows)))


def few(found: int, rows: int) -> bool:
    """Say whether a query finds so few of the rows at most that a counter for every row would cost more."""
    return FEW_FOUND * found < rows
