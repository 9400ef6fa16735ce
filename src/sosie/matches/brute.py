"""The brute-force join: all pairs are compared, over bit planes. It wins when the radius is large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.kernels.planes.ranges import Asked, near_each
from sosie.kernels.planes.weighed import Stages, Weighed, stages_of, weigh
from sosie.matches.check import check_join, check_pairs
from sosie.matches.collected import PairRuns
from sosie.matches.equal.signatures import join_distinct
from sosie.matches.order import packed
from sosie.parallel import ordered_map
from sosie.planner.constants.joins import BRUTE_SLAB, JOIN_PROGRAM
from sosie.planner.methods.brute import held_bytes
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import I64, U64, Pairs, Signatures

_SPAN = 1 << 12  # rows that one task compares with them
_SAMPLED = 1 << 10  # rows that tell how many pairs to expect


def join_brute(
    a: Signatures,
    b: Signatures | None = None,
    radius: int = 3,
    threads: int | None = None,
    *,
    max_pairs: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return all pairs of rows at most `radius` apart, as `join_blocks` does, for any radius.

    >>> rows = Signatures(np.array([0b1111, 0b1110, 0b0000], np.uint64))
    >>> join_brute(rows, radius=64).b.tolist()
    [1, 2, 2]
    """
    check_join(a, b, radius, a.bits)
    _check_room(room, [side for side in (a, b) if side is not None])

    def find(words: U64, split: int) -> Pairs:
        join = _Join(words, split, a.bits, radius, stages_of(a.bits, radius))
        asking = split or len(words)
        if max_pairs is not None and asking > 2 * _SAMPLED:
            some = np.arange(0, asking, -(-asking // _SAMPLED))
            with PairRuns(room) as runs:
                expected = sum(join.run([some], runs, threads)) * asking // len(some)
            check_pairs(expected, max_pairs, about=True)
        spans = [np.arange(start, min(start + _SPAN, asking)) for start in range(0, asking, _SPAN)]
        with PairRuns(room) as runs:
            for _ in join.run(spans, runs, threads):
                if room is not None:
                    room.tell(1, join.tasks(len(spans)))
            return runs.pairs({"comparisons": join.comparisons}, recall=1.0)

    return join_distinct(a, b, find, max_pairs)


def _check_room(room: Room | None, sides: list[Signatures]) -> None:
    """Refuse what does not fit: the words of both sides, copies of those that are distinct, and slabs of planes."""
    if room is None or room.limit is None:
        return
    rows, others = len(sides[0]), sum(map(len, sides[1:]))
    needed = JOIN_PROGRAM + held_bytes(rows, others, sides[0].bits) + room.memory
    if needed > room.limit:
        raise UsageError(
            f"comparing all with all takes about {show_size(needed)} of memory: allow more (--memory, memory=)"
        )


class _Task(NamedTuple):
    """Rows that are compared with a slab: with all of it, or inside one collection with those that come later."""

    rows: I64
    slab: Weighed
    start: int
    size: int


@dataclass(frozen=True, eq=False)
class _Join:
    """Distinct rows that are joined; those from `split` on are the second collection, with 0 there is only one."""

    words: U64
    split: int
    bits: int
    radius: int
    stages: Stages

    @property
    def comparisons(self) -> int:
        """How many pairs there are."""
        count = len(self.words)
        return self.split * (count - self.split) if self.split else count * (count - 1) // 2

    def tasks(self, spans: int) -> int:
        """Return how many tasks there are for so many spans, at most."""
        return spans * -(-(len(self.words) - self.split) // BRUTE_SLAB)

    def run(self, spans: list[I64], runs: PairRuns, threads: int | None) -> Iterator[int]:
        """Add the pairs of some rows with all others; yield how many there are, task by task."""
        return ordered_map(lambda task: self._compare(task, runs), self._tasks(spans), threads)

    def _tasks(self, spans: list[I64]) -> Iterator[_Task]:
        for start in range(self.split, len(self.words), BRUTE_SLAB):
            part = self.words[start : start + BRUTE_SLAB]
            slab = weigh(part, self.bits, self.stages)
            yield from (_Task(rows, slab, start, len(part)) for rows in spans)

    def _compare(self, task: _Task, runs: PairRuns) -> int:
        first = np.zeros_like(task.rows) if self.split else np.maximum(task.rows + 1 - task.start, 0)
        asked = Asked(read_only(self.words[task.rows]), read_only(first), read_only(np.full_like(first, task.size)))
        count = 0
        for queries, rows in near_each(task.slab, asked, self.stages, self.radius):
            runs.add_packed(packed(task.rows[queries], rows + task.start))
            count += len(rows)
        return count
