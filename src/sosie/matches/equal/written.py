"""Pairs of rows that stand for equal ones, written out: first counted, then piece by piece, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sosie.matches.check import check_pairs
from sosie.matches.collected import PairRuns
from sosie.matches.equal.copies import Copies
from sosie.matches.equal.groups import STAR, Groups, pairs_between, pairs_inside
from sosie.matches.order import unpacked
from sosie.planner.constants.joins import WRITTEN_PAIR_BYTES
from sosie.storage.room import Room
from sosie.types import I64, Pairs

_PIECE = 1 << 20  # pairs that are written at a time, where nobody says how much memory there is
_Side = tuple[I64, I64]


@dataclass(frozen=True, eq=False)
class Written:
    """What the pairs of first rows stand for: pairs of all rows equal to them, and those inside one collection.

    `left` and `right` are the same where a collection is joined with itself. More than `max_pairs` are refused. Without
    a limit, groups of more than 64 rows are written as stars.
    """

    left: Copies
    right: Copies
    max_pairs: int | None
    room: Room | None

    def pairs(self, found: PairRuns) -> Pairs:
        """Return the pairs that those found stand for, with what stars leave out, in counters and recall."""
        star = STAR if self.max_pairs is None else 2**62
        possible, large = 0, [np.empty(0, np.int64), np.empty(0, np.int64)]
        for a, b in self._pieces(found):
            sizes = self.left.sizes(a), self.right.sizes(b)
            possible += int(np.sum(sizes[0] * sizes[1]))
            for side, (rows, size) in enumerate(zip((a, b), sizes, strict=True)):
                large[side] = np.union1d(large[side], rows[size > star])
        inside = self.left is self.right
        bounded = 0 if inside else sum(map(len, large))
        for firsts in self._firsts() if inside else ():
            size = self.left.sizes(firsts)
            possible += int(np.sum(size * (size - 1) // 2))
            bounded += int(np.sum(size > star))
        if self.max_pairs is not None:
            check_pairs(possible, self.max_pairs)
        with PairRuns(self.room) as runs:
            for left, right in self._all(found, star, inside):
                lower, upper = (np.minimum(left, right), np.maximum(left, right)) if inside else (left, right)
                runs.add(lower, upper)
            pairs = runs.pairs()
        counters = {"bounded_groups": bounded, "bounded_pairs": possible - len(pairs)}
        return replace(pairs, counters=counters, recall=len(pairs) / possible if possible else 1.0)

    def _pieces(self, found: PairRuns) -> Iterator[_Side]:
        """Yield the pairs that were found, in order, few at a time."""
        for piece in found.merged():
            for start in range(0, len(piece), self._most):
                yield unpacked(piece[start : start + self._most])

    def _all(self, found: PairRuns, star: int, inside: bool) -> Iterator[_Side]:
        for a, b in self._pieces(found):
            sizes = self.left.sizes(a), self.right.sizes(b)
            for some in self._within_reach(
                np.where(np.maximum(*sizes) > star, sizes[0] + sizes[1], sizes[0] * sizes[1])
            ):
                yield from self._between(a[some], b[some], star)
        for firsts in self._firsts() if inside else ():
            size = self.left.sizes(firsts)
            for some in self._within_reach(np.where(size > star, size, size * size // 2)):
                yield from self._inside(self.left.groups(firsts[some], star))

    def _between(self, a: I64, b: I64, star: int) -> Iterator[_Side]:
        groups = [side.groups(rows, star) for side, rows in ((self.left, a), (self.right, b))]
        every = np.arange(len(a))
        if len(a) > 1 or max(int(side.sizes[0]) for side in groups) > star:
            yield pairs_between(every, every, *groups)[:2]
            return
        for rows in _slices(groups[0].rows, self._most // len(groups[1].rows)):
            yield pairs_between(every, every, Groups(rows, np.array([0, len(rows)]), star), groups[1])[:2]

    def _inside(self, groups: Groups) -> Iterator[_Side]:
        if len(groups) > 1 or len(groups.rows) > groups.star:
            yield pairs_inside(groups)[:2]
            return
        first, before = np.zeros(1, np.int64), 0
        for rows in _slices(groups.rows, self._most // len(groups.rows)):
            these = Groups(rows, np.array([0, len(rows)]), groups.star)
            yield pairs_inside(these)[:2]
            if before:
                earlier = Groups(groups.rows[:before], np.array([0, before]), groups.star)
                yield pairs_between(first, first, earlier, these)[:2]
            before += len(rows)

    def _firsts(self) -> Iterator[I64]:
        """Yield the rows that others equal, in pieces; none twice."""
        of_first, last = self.left.of_first, -1
        for start in range(0, len(of_first), self._most):
            firsts = unpacked(of_first[start : start + self._most])[0]
            new = np.unique(firsts[firsts != last])
            last = int(firsts[-1])
            if len(new):
                yield new

    @property
    def _most(self) -> int:
        return _PIECE if self.room is None else max(self.room.memory // WRITTEN_PAIR_BYTES, 1)

    def _within_reach(self, counts: I64) -> Iterator[slice]:
        """Cut pairs that stand for so many each into spans that stand for few enough, or are one."""
        total = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(counts, 1))])
        start = 0
        while start < len(counts):
            stop = max(int(np.searchsorted(total, total[start] + self._most, "right")) - 1, start + 1)
            yield slice(start, stop)
            start = stop


def _slices(rows: I64, size: int) -> Iterator[I64]:
    size = max(size, 1)
    return (rows[start : start + size] for start in range(0, len(rows), size))
