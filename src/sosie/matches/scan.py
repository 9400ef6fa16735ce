"""Signatures read from one end to the other, as often as a join wants: of one collection or two, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.planner.held import held_rows, limit_for
from sosie.storage.resident import give_back
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import I64, U64, Bools, Signatures

_STEP = 1 << 18  # rows that are read at a time: what is worked out for them is a few megabytes
_NONE = np.empty(0, np.uint64)


@dataclass(frozen=True, eq=False)
class Scan:
    """The words of one collection or two; rows of the second are numbered from `split` on, which is 0 if there is none.

    Rows whose bit is set in `left_out` are passed over by those who read.
    """

    sides: tuple[U64, ...]
    left_out: U64 = field(default_factory=lambda: _NONE)

    @staticmethod
    def of(a: Signatures, b: Signatures | None = None) -> Scan:
        """Return the rows of signatures, mapped or not."""
        return Scan(tuple(read_only(side.words) for side in (a, b) if side is not None))

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    @property
    def split(self) -> int:
        """The first row of the second collection, 0 if there is only one."""
        return len(self.sides[0]) if len(self.sides) > 1 else 0

    @property
    def words(self) -> int:
        """How many words a row has."""
        return int(self.sides[0].shape[1])

    def pieces(self) -> Iterator[tuple[int, U64]]:
        """Yield the words in pieces, each with the number of its first row; pages of files are given back after it."""
        first = 0
        for side in self.sides:
            for start in range(0, len(side), _STEP):
                yield first + start, side[start : start + _STEP]
                give_back(side)
            first += len(side)

    def stay(self, rows: I64) -> Bools:
        """Return which of these rows are not left out."""
        if not len(self.left_out):
            return np.ones(len(rows), np.bool_)
        return np.asarray(self.left_out[rows >> 6] >> (rows & 63).astype(np.uint64) & np.uint64(1) == 0)

    def take(self, rows: I64) -> U64:
        """Return the words of some rows, of either side."""
        if not self.split:
            return self.sides[0][rows]
        taken = np.empty((len(rows), self.words), np.uint64)
        second = rows >= self.split
        taken[~second] = self.sides[0][rows[~second]]
        taken[second] = self.sides[1][rows[second] - self.split]
        return taken


def table_rows(room: Room | None, row_bytes: int, threads: int) -> int | None:
    """Return how many rows of a table a thread may hold within the room, None if there is no limit.

    What the program takes is set aside, and so is what pairs take.
    """
    return None if room is None else held_rows(room.limit, row_bytes, threads, room.memory)


def cut_parts(counts: I64, most: int | None) -> list[tuple[int, int]]:
    """Cut parts that hold so many rows into spans of at most `most` rows each, or of one part that has more.

    >>> cut_parts(np.array([3, 2, 4, 0, 1]), 5)
    [(0, 2), (2, 5)]
    """
    if most is None:
        return [(0, len(counts))] if counts.any() else []
    spans, start, held = [], 0, 0
    for part, count in enumerate(counts.tolist()):
        if held and held + count > most:
            spans.append((start, part))
            start, held = part, 0
        held += count
    return [*spans, (start, len(counts))] if held else spans


def check_parts(counts: I64, most: int | None, row_bytes: int, threads: int) -> None:
    """Refuse a part of more than `most` rows, which would have to be held at once."""
    largest = int(counts.max(initial=0))
    if most is not None and largest > most:
        needed = show_size(limit_for(largest, row_bytes, threads))
        raise UsageError(
            f"{largest:,} rows begin alike in a table and have to be held at once: allow about {needed} of memory"
            " (--memory, memory=), or use fewer threads"
        )
