"""Pairs collected while a join finds them: in any order, sorted in runs that go to disk, and merged in their order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType

import numpy as np

from sosie.errors import UsageError
from sosie.matches.order import unpacked
from sosie.storage.resident import give_back, within
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import I64, U64, Counters, Pairs

_FEW = 1 << 10  # pairs that there is room for at first
_PIECE = 1 << 20  # pairs that are looked at together
_FAN = 64  # runs that are merged at a time,
_LEAST = 64  # and how many pairs of each are looked at, at least


class PairRuns:
    """Pairs of rows in any order and with repeats, which come out in order and each once.

    They wait in half of the room's memory. When that is full they are sorted and go to disk as a run; the runs are
    merged at the end, in as much memory. Without a room all of them stay in memory. Any thread may add: the result
    does not depend on the order. Rows are numbered below 2^32. Once more than `most` were added, repeats included, more
    are counted but not kept: for those who will refuse so many. The file goes when the runs are closed; pairs that were
    given out stay valid.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, PairRuns(Room(folder, memory=48)) as runs:
    ...     for a, b in (3, 4), (1, 2), (3, 4), (0, 9), (1, 2):
    ...         runs.add(np.array([a]), np.array([b]))
    ...     found = runs.pairs()
    >>> list(zip(found.a.tolist(), found.b.tolist())), runs.added
    ([(0, 9), (1, 2), (3, 4)], 5)
    """

    def __init__(self, room: Room | None = None, most: int | None = None) -> None:
        self.added = 0
        self.spilled_bytes = 0
        self._room = room
        self._wanted = most
        self._most = None if room is None else max(room.memory // 2 // 8, 1)
        self._waiting = np.empty(_FEW if self._most is None else min(_FEW, self._most), np.uint64)
        self._count = 0
        self._ends: list[int] = []  # of the runs on disk
        self._disk = None if room is None else Spill(room.scratch, np.uint64, 0)
        self._lock = threading.Lock()

    def __enter__(self) -> PairRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, a: I64, b: I64) -> None:
        """Add pairs of rows a[i] and b[i]."""
        if len(a) and int(np.bitwise_or.reduce(a | b)) >> 32:
            raise UsageError("pairs are collected of fewer than 4,294,967,296 rows: split the collection")
        self.add_packed(a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64))

    def add_packed(self, pairs: U64) -> None:
        """Add pairs of a row in the upper and a row in the lower 32 bits."""
        with self._lock:
            self.added += len(pairs)
            if self._wanted is not None and self.added > self._wanted:
                return
            while len(pairs):
                free = self._free(len(pairs))
                self._waiting[self._count : self._count + free] = pairs[:free]
                self._count, pairs = self._count + free, pairs[free:]

    def pairs(self, counters: Counters | None = None, recall: float | None = None) -> Pairs:
        """Return all pairs added so far, ordered by (a, b), each once; more than the room's memory are mapped."""
        if not self._ends:
            return Pairs(*unpacked(self._sorted()), dict(counters or {}), recall)
        assert self._room is not None
        share = self._room.memory // 4
        with Spill(self._room.scratch, np.int64, share) as first, Spill(self._room.scratch, np.int64, share) as second:
            for piece in self.merged():
                for side, rows in zip((first, second), unpacked(piece), strict=True):
                    side.append(rows)
                self.spilled_bytes = max(self.spilled_bytes, 8 * self._ends[-1] + _bytes(first) + _bytes(second))
            a, b = first.array(), second.array()
            with within(self._room.limit, (a, b)):
                found = Pairs(a, b, dict(counters or {}), recall)
            give_back(a)
            give_back(b)
        return found

    def packed(self) -> U64:
        """Return all pairs added so far as `merged` gives them, in one array, which is mapped if it is large."""
        if self._room is None:
            return self._sorted().copy()
        with Spill(self._room.scratch, np.uint64, self._room.memory // 4) as whole:
            for piece in self.merged():
                whole.append(piece)
            return np.asarray(whole.array())

    def merged(self) -> Iterator[U64]:
        """Yield all pairs added so far, packed, in order, each once; in pieces that fit into half of the memory."""
        with self._lock:
            if self._ends:
                self._write()
            held = self._sorted()
        if not self._ends:
            yield from (held[start : start + _PIECE].copy() for start in range(0, len(held), _PIECE))
            return
        while len(self._ends) > _FAN:
            self._merge_runs()
        yield from self._merge(range(len(self._ends)))

    def close(self) -> None:
        """Let go of what is held, and of the file."""
        self._waiting, self._count, self._ends = np.empty(0, np.uint64), 0, []
        if self._disk is not None:
            self._disk.close()

    def _merge(self, which: range) -> Iterator[U64]:
        """Yield the pairs of some runs in order, each once: as far as every run's next ones reach."""
        assert self._disk is not None and self._most is not None
        whole, starts = np.asarray(self._disk.array()), [0, *self._ends[:-1]]
        runs = [whole[starts[run] : self._ends[run]] for run in which]
        size = max(self._most // 2 // len(runs), _LEAST)
        while runs:
            heads = [run[:size] for run in runs]
            bound = min(int(head[-1]) for head in heads)
            counts = [int(np.searchsorted(head, np.uint64(bound), "right")) for head in heads]
            piece = np.concatenate([head[:count] for head, count in zip(heads, counts, strict=True)])
            runs = [run[count:] for run, count in zip(runs, counts, strict=True) if count < len(run)]
            piece.sort()
            give_back(whole)
            yield piece[: _keep_distinct(piece)]

    def _merge_runs(self) -> None:
        """Make longer runs of so many that their next ones would not be long enough to be merged quickly."""
        assert self._room is not None and self._disk is not None
        merged, ends = Spill(self._room.scratch, np.uint64, 0), []
        try:
            for start in range(0, len(self._ends), _FAN):
                for piece in self._merge(range(len(self._ends))[start : start + _FAN]):
                    merged.append(piece)
                ends.append(len(merged))
        except BaseException:
            merged.close()
            raise
        self.spilled_bytes = max(self.spilled_bytes, 8 * (self._ends[-1] + ends[-1]))
        self._disk.close()
        self._disk, self._ends = merged, ends

    def _free(self, wanted: int) -> int:
        """Make room for pairs, as many of those that are wanted as fit; return how many."""
        if self._count == len(self._waiting):
            self._sorted()  # what was found again and again takes the room of one
            if 4 * self._count > 3 * len(self._waiting):
                if len(self._waiting) == self._most:
                    self._write()
                else:
                    size = max(2 * self._count, self._count + wanted, _FEW)
                    self._waiting.resize(size if self._most is None else min(size, self._most), refcheck=False)
        return min(wanted, len(self._waiting) - self._count)

    def _sorted(self) -> U64:
        """Return what waits, sorted, each once."""
        held = self._waiting[: self._count]
        held.sort()
        self._count = _keep_distinct(held)
        return self._waiting[: self._count]

    def _write(self) -> None:
        """Write what waits to disk, as a run."""
        assert self._disk is not None
        if self._count:
            self._disk.append(self._sorted())
            self._ends.append(len(self._disk))
            self.spilled_bytes = max(self.spilled_bytes, 8 * len(self._disk))
            self._count = 0


def _keep_distinct(values: U64) -> int:
    """Move the distinct values of a sorted array to its front, in pieces; return how many there are."""
    kept, last = 0, None
    for start in range(0, len(values), _PIECE):
        piece = values[start : start + _PIECE]
        new = np.empty(len(piece), np.bool_)
        new[0] = last is None or piece[0] != last
        np.not_equal(piece[1:], piece[:-1], out=new[1:])
        last, found = piece[-1], piece[new]
        values[kept : kept + len(found)] = found
        kept += len(found)
    return kept


def _bytes(spill: Spill) -> int:
    return len(spill) * spill.dtype.itemsize if spill.on_disk else 0
