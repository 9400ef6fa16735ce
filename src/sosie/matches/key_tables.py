"""The tables of a key join: one after the other, in pieces that fit into the memory that there is.

A table is a column of keys. Columns of files lie apart in them, so within a limit they are copied to one file each,
beside each other, before they are read as often as pieces need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from sosie.arrays import read_only
from sosie.kernels.tables.keys import count_pairs, count_parts, fill_pairs, group_by_key, select_parts
from sosie.matches.check import check_pairs
from sosie.matches.scan import check_parts, cut_parts, table_rows
from sosie.parallel import ordered_map, thread_count
from sosie.planner.constants.joins import KEY_ROW_BYTES
from sosie.storage.resident import give_back, return_freed
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import I64, U64, Keys

_PARTS = 12  # bits of a mixed key by which rows are told to be in one piece
_PART = 1 << 22  # rows of a piece, where there is no limit
_STEP = 1 << 18  # keys that are read at a time
_ROOM = 1 << 16  # pairs that are written at a time, at least


@dataclass(frozen=True, eq=False)
class KeyTables:
    """The keys of all rows, a column for each table; rows from `split` on are those of the second collection."""

    columns: Sequence[U64]
    split: int
    room: Room | None
    threads: int

    def join(self, take: Callable[[U64], None], max_pairs: int) -> None:
        """Give the pairs of every table, packed, to `take`, in any order; more than `max_pairs` of a piece are refused.

        A pair is given once for each table in which its keys are equal.
        """
        most = table_rows(self.room, KEY_ROW_BYTES, self.threads)
        counted = list(ordered_map(self._counts, range(len(self.columns)), self.threads))
        for counts in counted:
            check_parts(counts, most, KEY_ROW_BYTES, self.threads)
        spans = [(table, span) for table, counts in enumerate(counted) for span in cut_parts(counts, most or _PART)]

        def run(task: tuple[int, tuple[int, int]]) -> int:
            table, span = task
            size = int(counted[table][span[0] : span[1]].sum())
            self._pair(*self._grouped(table, span, size), take, max_pairs)
            return size

        total = sum(int(counts.sum()) for counts in counted)
        for size in ordered_map(run, spans, self.threads, ahead=1):
            if self.room is not None:
                self.room.tell(size, total)
        if most is not None:
            return_freed()

    def _counts(self, table: int) -> I64:
        counts = np.zeros(1 << _PARTS, np.int64)
        for _, keys in _pieces(self.columns[table]):
            count_parts(keys, _PARTS, counts)
        return counts

    def _grouped(self, table: int, span: tuple[int, int], size: int) -> tuple[I64, I64]:
        """Return the groups of rows with equal keys in the parts of a span, rows in order."""
        mixed, rows, count = np.empty(size, np.uint64), np.empty(size, np.int64), 0
        for first, keys in _pieces(self.columns[table]):
            count = select_parts(keys, first, _PARTS, span, mixed, rows, count)
        offsets, members = group_by_key(mixed)
        return offsets, rows[members]

    def _pair(self, offsets: I64, members: I64, take: Callable[[U64], None], max_pairs: int) -> None:
        check_pairs(count_pairs(offsets, members, self.split, len(members)), max_pairs)
        pairs = np.empty(max(_ROOM, int(np.diff(offsets).max(initial=0))), np.uint64)
        place = np.zeros(2, np.int64)
        while place[0] < len(offsets) - 1:
            take(pairs[: fill_pairs(offsets, members, self.split, place, pairs)] - np.uint64(self.split))


@contextmanager
def key_tables(a: Keys, b: Keys | None, room: Room | None, threads: int | None) -> Iterator[KeyTables]:
    """Yield the tables of one collection, or of two; columns that were copied to disk go when the block ends."""
    sides = [side.values for side in (a, b) if side is not None]
    split, workers = 0 if b is None else len(a), thread_count(threads)
    if room is None or room.limit is None:
        values = sides[0] if b is None else np.concatenate(sides)
        yield KeyTables(list(values.T), split, room, workers)
        return
    tables = sides[0].shape[1]
    step = min(max(room.memory // 32 // tables, 1), _STEP)
    with ExitStack() as stack:
        spills = [
            stack.enter_context(Spill(room.scratch, np.uint64, room.memory // 2 // tables)) for _ in range(tables)
        ]
        for values in sides:
            for start in range(0, len(values), step):
                piece = np.ascontiguousarray(values[start : start + step].T)
                for spill, keys in zip(spills, piece, strict=True):
                    spill.append(keys)
                give_back(values)
        yield KeyTables([np.asarray(spill.array()) for spill in spills], split, room, workers)


def _pieces(column: U64) -> Iterator[tuple[int, U64]]:
    for start in range(0, len(column), _STEP):
        yield start, read_only(np.ascontiguousarray(column[start : start + _STEP]))
        give_back(column)
