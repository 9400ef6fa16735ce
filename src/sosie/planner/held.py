"""What a join may hold within a limit of memory: rows of a table at a time, and pairs that wait to be written."""

from __future__ import annotations

from sosie.planner.constants.joins import JOIN_PROGRAM
from sosie.planner.memory import in_memory


def held_rows(limit: int | None, each: int, threads: int, waiting: int | None = None) -> int | None:
    """Return how many rows, of so many bytes each, of a table a thread may hold within a limit, None without one.

    What the program takes is set aside, and so is what pairs take that are `waiting`.

    >>> held_rows(1_600_000_000, 12, 2), held_rows(None, 12, 2)
    (28125000, None)
    """
    if limit is None:
        return None
    room = in_memory(limit) if waiting is None else waiting
    free = max((limit - JOIN_PROGRAM - 3 * room) * 3 // 4, limit // 8)
    return max(free // threads // each, 1)


def limit_for(rows: int, each: int, threads: int) -> int:
    """Return about which limit lets each thread hold so many rows of a table.

    >>> limit_for(10_000_000, 12, threads=2)
    880000000
    """
    return JOIN_PROGRAM + 2 * rows * each * threads
