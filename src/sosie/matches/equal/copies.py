"""Copies: rows of signatures that equal an earlier one, found and kept in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.arrays import read_only
from sosie.kernels.tables.equal import copies_in_runs, hash_rows
from sosie.kernels.tables.sort_rows import bits_to_tell, sort_by_top_bits
from sosie.kernels.tables.word_join import set_bits
from sosie.matches.collected import PairRuns
from sosie.matches.equal.groups import STAR, Groups, spread
from sosie.matches.order import unpacked
from sosie.matches.scan import Scan, check_parts, cut_parts, table_rows
from sosie.parallel import ordered_map
from sosie.planner.constants.joins import COPIES_ROW_BYTES
from sosie.storage.resident import return_freed
from sosie.storage.room import Room
from sosie.types import I64, U64

_PARTS = 12  # bits of a hash by which rows are told to be in one piece
_PIECE = 1 << 20  # copies that are looked at together


@dataclass(frozen=True, eq=False)
class Copies:
    """The rows that equal an earlier one: `of_first` has the first such row in its upper, the row in its lower 32 bits.

    They are ordered by both.

    >>> copies = Copies.found(np.array([[7], [1], [7], [7]], np.uint64), threads=1)
    >>> copies.sizes(np.array([0, 1])).tolist(), copies.groups(np.array([0, 1])).rows.tolist()
    ([3, 1], [0, 2, 3, 1])
    """

    of_first: U64

    @staticmethod
    def found(words: U64, threads: int, room: Room | None = None) -> Copies:
        """Find the copies of one collection, a piece at a time: rows whose hashes begin alike."""
        side, counts = Scan((read_only(words),)), np.zeros(1 << _PARTS, np.int64)
        for _, piece in side.pieces():
            counts += np.bincount(_part(hash_rows(piece)), minlength=len(counts))
        with PairRuns(room) as runs:

            def run(span: tuple[int, int]) -> None:
                runs.add_packed(_find(side, *span, int(counts[span[0] : span[1]].sum())))

            most = table_rows(room, COPIES_ROW_BYTES, threads)
            check_parts(counts, most, COPIES_ROW_BYTES, threads)
            for _ in ordered_map(run, cut_parts(counts, most), threads, ahead=1):
                pass
            if most is not None:
                return_freed()
            return Copies(runs.packed())

    def __len__(self) -> int:
        return len(self.of_first)

    def mark(self, bits: U64, first: int) -> None:
        """Set the bits of the copies; their collection begins with row `first`."""
        for start in range(0, len(self), _PIECE):
            set_bits(bits, unpacked(self.of_first[start : start + _PIECE])[1] + first)

    def sizes(self, firsts: I64) -> I64:
        """Return how many rows are equal to each of these, which are the first of their kind, with itself."""
        begin, end = self._span(firsts)
        return end - begin + 1

    def groups(self, firsts: I64, star: int = STAR) -> Groups:
        """Return the rows that equal each of these, which are the first of their kind; it comes first."""
        begin, end = self._span(firsts)
        sizes = end - begin + 1
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        rows = np.empty(offsets[-1], np.int64)
        rows[offsets[:-1]] = firsts
        at = np.ones(len(rows), np.bool_)
        at[offsets[:-1]] = False
        rows[at] = (self.of_first[spread(begin, sizes - 1)] & np.uint64(2**32 - 1)).astype(np.int64)
        return Groups(rows, offsets, star)

    def _span(self, firsts: I64) -> tuple[I64, I64]:
        wanted = firsts.astype(np.uint64) << np.uint64(32)
        last = wanted | np.uint64(2**32 - 1)
        return np.searchsorted(self.of_first, wanted), np.searchsorted(self.of_first, last, "right")


def _find(side: Scan, low: int, high: int, size: int) -> U64:
    """Return the copies among the rows whose hashes begin with values from `low` to below `high`."""
    keys, rows, at = np.empty(size, np.uint64), np.empty(size, np.int64), 0
    for first, words in side.pieces():
        hashed = hash_rows(words)
        part = _part(hashed)
        here = np.flatnonzero((part >= low) & (part < high))
        keys[at : at + len(here)], rows[at : at + len(here)] = hashed[here], first + here
        at += len(here)
    keys = hash_rows(read_only(keys.reshape(-1, 1)))  # what they begin with is no longer alike
    bits = bits_to_tell(size)
    keys, rows = sort_by_top_bits(keys, rows, bits)
    copies = np.empty(size, np.uint64)
    return copies[: copies_in_runs(side.sides[0], keys, rows, bits, copies)].copy()


def _part(hashed: U64) -> I64:
    return (hashed >> np.uint64(64 - _PARTS)).astype(np.int64)
