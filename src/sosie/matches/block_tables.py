"""The tables of a block join: one after the other, in pieces that fit into the memory that there is.

The rows of a piece are those whose headers begin with some of the values; all rows are read to find them. That is
cheap, because they are read in their order. What is found does not depend on how tables are cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from sosie.index.block_run import BlockCut
from sosie.kernels.tables.hamming_join import TableJoin, hash_headers, join_hashed
from sosie.kernels.tables.sort_rows import bits_to_tell, sort_by_top_bits
from sosie.kernels.tables.word_join import (
    EQUAL,
    HeaderParts,
    WordJoin,
    count_parts,
    join_words,
    move_words,
    scatter_parts,
)
from sosie.matches.scan import Scan, check_parts, cut_parts, table_rows
from sosie.parallel import ordered_map
from sosie.planner.constants.joins import HASHED_ROW_BYTES, WORD_GROUP, WORD_ROW_BYTES
from sosie.storage.room import Room
from sosie.types import I32, I64, U64

_PART = 12  # a part of 2^12 rows stays in the cache,
_PARTS = 14  # and so do the ends of 2^14 parts
_ROOM = 1 << 16  # pairs that are written at a time, at least
Take = Callable[[U64], None]


class Piece(NamedTuple):
    """A part of a table: the rows whose headers begin with the values from `low` to below `high`."""

    table: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class BlockTables:
    """Which rows are joined by which tables, within which radius and room."""

    scan: Scan
    cut: BlockCut
    radius: int
    threads: int
    room: Room | None = None

    def join(self, take: Take) -> int | None:
        """Give all pairs, packed, to `take`, in any order; return the comparisons, None if rows of a side are equal.

        Each pair is given once. Equal rows matter only within one collection that is joined with itself.
        """
        tables, count = self._kind(self), len(self.cut.headers)
        counted = list(ordered_map(tables.counts, range(count), self.threads))
        most = table_rows(self.room, tables.row_bytes, self.threads)
        for counts in counted:
            check_parts(counts, most, tables.row_bytes, self.threads)
        pieces = [Piece(table, *span) for table in range(count) for span in cut_parts(counted[table], most)]
        total = sum(int(counts.sum()) for counts in counted)
        comparisons, equal = 0, False

        def run(piece: Piece) -> tuple[int, int]:
            counts = counted[piece.table][piece.low : piece.high]
            return int(counts.sum()), EQUAL if equal else tables.join(piece, counts, take)

        for rows, work in ordered_map(run, pieces, self.threads, ahead=1):
            equal = equal or work == EQUAL  # what is under way is waited for: nobody is to take pairs afterwards
            comparisons += work
            if self.room is not None and not equal:
                self.room.tell(rows, total)
        return None if equal else comparisons

    def group_keys(self, table: int, words: U64) -> U64:
        """Return keys of rows: those whose keys in a table are equal are compared with each other."""
        return self._kind(self).group_keys(table, words)

    @property
    def _kind(self) -> type[_WordTables | _HashedTables]:
        return _WordTables if self.scan.words == 1 and len(self.scan) < 2**31 else _HashedTables


class _WordTables:
    """Tables of signatures of one word: scattered by their moved words."""

    row_bytes = WORD_ROW_BYTES

    def __init__(self, of: BlockTables) -> None:
        self._of, count = of, len(of.scan)
        self._bits = max(count.bit_length() - WORD_GROUP, 1)
        most = table_rows(of.room, self.row_bytes, of.threads) or count
        wanted = max(count.bit_length() - _PART, (4 * count // most).bit_length())
        self._parts = min(max(wanted, 1), _PARTS)
        self._free: SimpleQueue[tuple[U64, I32]] = SimpleQueue()  # room that a piece has used, for the next one
        for _ in range(of.threads):
            self._free.put((np.empty(0, np.uint64), np.empty(0, np.int32)))

    def counts(self, table: int) -> I64:
        """Return how many rows belong to each part of a table."""
        how = self._how(table)
        lowest = 64 - how.bits
        how = how._replace(moves=how.moves[how.moves[:, 1] + how.moves[:, 2] > lowest])  # the others tell nothing here
        counts = np.zeros(1 << how.bits, np.int64)
        for first, words in self._of.scan.pieces():
            count_parts(words, first, self._of.scan.left_out, how, counts)
        return counts

    def group_keys(self, table: int, words: U64) -> U64:
        """Return the bits by which groups are told."""
        return move_words(words, self._how(table).moves) >> np.uint64(64 - self._group_bits(table))

    def join(self, piece: Piece, counts: I64, take: Take) -> int:
        how, of = self._how(piece.table), self._of
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        keys, rows = self._free.get()
        try:
            if len(keys) < starts[-1]:
                keys, rows = np.empty(starts[-1], np.uint64), np.empty(starts[-1], np.int32)
            places = starts[:-1].copy()
            for first, words in of.scan.pieces():
                scatter_parts(words, first, of.scan.left_out, how, piece.low, places, keys, rows)
            masks = move_words(np.ascontiguousarray(of.cut.masks[: piece.table + 1]), how.moves)
            sought = WordJoin(of.scan.split, of.radius, masks)
            return self._compare(starts, keys, rows, (how.bits, self._group_bits(piece.table) - how.bits), sought, take)
        finally:
            self._free.put((keys, rows))

    def _compare(self, starts: I64, keys: U64, rows: I32, shape: tuple[int, int], sought: WordJoin, take: Take) -> int:
        pairs = np.empty(max(_ROOM, int(np.diff(starts).max())), np.uint64)
        place, comparisons = np.zeros(3, np.int64), 0
        while place[0] < len(starts) - 1:
            found, work = join_words(starts, keys, rows, shape, place, sought, pairs)
            if found == EQUAL:
                return EQUAL
            comparisons += work
            take(pairs[:found] - np.uint64(sought.split))
        return comparisons

    def _group_bits(self, table: int) -> int:
        return min(self._of.cut.header_bits(table), self._bits)

    def _how(self, table: int) -> HeaderParts:
        return HeaderParts(_moves(self._of.cut, table), min(self._group_bits(table), self._parts))


class _HashedTables:
    """Tables of signatures of several words: sorted by a hash of the header."""

    def __init__(self, of: BlockTables) -> None:
        self._of = of
        self.row_bytes = HASHED_ROW_BYTES + 8 * of.scan.words
        self._bits = bits_to_tell(len(of.scan))
        self._parts = min(self._bits, _PARTS)

    def counts(self, table: int) -> I64:
        """Return how many rows belong to each part of a table."""
        counts = np.zeros(1 << self._parts, np.int64)
        for first, words in self._of.scan.pieces():
            keys = hash_headers(words, self._of.cut.masks[table])[self._of.scan.stay(first + np.arange(len(words)))]
            counts += np.bincount((keys >> np.uint64(64 - self._parts)).astype(np.int64), minlength=len(counts))
        return counts

    def group_keys(self, table: int, words: U64) -> U64:
        """Return the bits by which groups are told."""
        return hash_headers(words, self._of.cut.masks[table]) >> np.uint64(64 - self._bits)

    def join(self, piece: Piece, counts: I64, take: Take) -> int:
        of, size = self._of, int(counts.sum())
        keys, rows = self._select(piece, size)
        keys, rows = sort_by_top_bits(keys, rows, self._bits)
        near = of.scan.take(rows)
        sought = TableJoin(of.scan.split, of.radius, of.cut.masks[: piece.table + 1])
        pairs = np.empty((max(size, _ROOM), 2), np.int64)
        place, comparisons = 0, 0
        while place < size:
            place, found, work = join_hashed(keys, rows, self._bits, near, place, sought, pairs)
            if found == EQUAL:
                return EQUAL
            comparisons += work
            packed = pairs[:found].astype(np.uint64)
            take((packed[:, 0] << np.uint64(32) | packed[:, 1]) - np.uint64(of.scan.split))
        return comparisons

    def _select(self, piece: Piece, size: int) -> tuple[U64, I64]:
        """Return the keys and rows of a piece."""
        keys, rows, at = np.empty(size, np.uint64), np.empty(size, np.int64), 0
        for first, words in self._of.scan.pieces():
            hashed = hash_headers(words, self._of.cut.masks[piece.table])
            part = (hashed >> np.uint64(64 - self._parts)).astype(np.int64)
            here = np.flatnonzero((part >= piece.low) & (part < piece.high))
            here = here[self._of.scan.stay(first + here)]
            keys[at : at + len(here)], rows[at : at + len(here)] = hashed[here], first + here
            at += len(here)
        return keys, rows


def _moves(cut: BlockCut, table: int) -> I64:
    """Return the moves (from bit, width, to bit) that bring a table's header to the top of a word."""
    chosen = cut.headers[table]
    others = [block for block in range(len(cut.edges) - 1) if block not in chosen]
    top, moves = 64, [[0, 0, 0]]
    for block in [*reversed(chosen), *reversed(others)]:
        start, width = int(cut.edges[block]), int(cut.edges[block + 1] - cut.edges[block])
        top -= width
        if start + width == moves[-1][0]:  # it goes on below the block before it, as it was
            moves[-1] = [start, moves[-1][1] + width, top]
        else:
            moves.append([start, width, top])
    return np.array(moves[1:], np.int64)
