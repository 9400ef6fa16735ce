"""Lists of features or keys that very many rows share: all of their pairs, or only those that decide who stays.

A million documents that share a template have 5 * 10^11 similar pairs; no one wants that file, and no one can wait for
it. Who stays is decided all the same, exactly as the definition says: in keep order, a row stays if it is similar to no
one that stays. So each row is compared with the rows of its lists that stay so far, and a dense group costs little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np

from sosie.arrays import aligned_zeros, read_only
from sosie.kernels.sets.dense import (
    SKETCH,
    Bounds,
    Compared,
    Entries,
    Lists,
    Partners,
    Sketches,
    Standing,
    find_partners,
    settle,
    sketch_rows,
)
from sosie.kernels.sets.similarity import Criterion, WeighedSets
from sosie.parallel import ordered_map, spans, thread_count
from sosie.types import F64, I32, I64, Bools, offsets_of

BATCH = 4096  # rows that are compared side by side with those that stay before them
PARTNERS = 64  # that stay, of each row: the first, and the most similar one
SAMPLE = 1 << 20  # comparisons that an estimate takes, if four rows need no more
ALL = 1 << 62


@dataclass(frozen=True, eq=False)
class DenseLists:
    """Rows that share a feature or a key with very many others: `members`, and by their places there, the lists.

    List i is `rows[edges[i]:edges[i + 1]]`, and `rests` is what each row has left from there on.
    """

    members: I64
    edges: I64
    rows: I32
    rests: F64
    entries: Entries

    def __len__(self) -> int:
        return len(self.edges) // 2

    @property
    def lengths(self) -> I64:
        """How many rows a row of each list is compared with: probes with all, the others with the probes."""
        probes, others = np.diff(self.edges).reshape(-1, 2).T
        return np.stack([probes + others, probes], axis=1).ravel()


def dense_lists(count: int, rows: I32 | I64, offsets: I64, rests: F64, probes: Bools | None = None) -> DenseLists:
    """Return lists as CSR of `count` rows, ascending in each list, with what each row has left from there on."""
    present = np.zeros(count, np.bool_)
    present[rows] = True
    members = np.flatnonzero(present)
    place = (np.cumsum(present) - 1)[rows].astype(np.int32)
    which = 2 * np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    if probes is not None:
        which += ~probes
        order = np.argsort(which, kind="stable")  # nearly sorted already
        which, place, rests = which[order], place[order], rests[order]
    # Two features of a row may share a token: then the first stands for both, and it has more left.
    new = np.ones(len(which), np.bool_)
    new[1:] = (which[1:] != which[:-1]) | (place[1:] != place[:-1])
    which, place, rests = which[new], place[new], rests[new]
    edges = offsets_of(np.bincount(which, minlength=2 * (len(offsets) - 1)))
    by_row = np.argsort(place, kind="stable")
    starts = offsets_of(np.bincount(place, minlength=len(members)))
    return DenseLists(members, edges, place, np.ascontiguousarray(rests), Entries(starts, which[by_row], rests[by_row]))


class DenseJoin:
    """The pairs of dense lists that reach a threshold, of one collection or, with a split, of two.

    The first `reference` rows are not compared with each other; with `only`, no others are, either.
    """

    def __init__(
        self,
        dense: DenseLists,
        rows: WeighedSets,
        criterion: Criterion,
        threads: int | None = None,
        *,
        reference: int = 0,
        only: bool = False,
    ) -> None:
        members = dense.members
        starts, stops, norms = (read_only(column[members]) for column in (rows.starts, rows.stops, rows.norms))
        here = WeighedSets(rows.hashes, starts, stops, rows.weights, norms, rows.tags)
        self.dense, self.threads = dense, threads
        self.measured = self.collided = 0  # pairs, so far
        self.work_before = offsets_of(dense.lengths[dense.entries.lists])[dense.entries.offsets]
        self.members, self.reference = members, reference
        lines = aligned_zeros((len(members), 1 + SKETCH))
        sketches = sketch_rows(here.hashes, here.starts, here.stops, lines)
        self.compared = Compared(here, criterion, sketches, np.empty(0, np.int64))
        self.lists = _lists_of(dense, sketches)
        self.first = int(np.searchsorted(members, max(reference, criterion.split)))
        self.sided = only or criterion.split > 0
        limit = self.first if self.sided else 0
        self.bounds = Bounds(limit, self.first if reference else 0, ALL)
        asked = np.arange(self.first, len(members)) if self.first or not self.sided else np.empty(0, np.int64)
        self.asked = asked

    def all_pairs(self) -> tuple[I64, I64]:
        """Return all pairs of rows (a, b)."""
        return self._found(self._partners(self.asked, self.lists, self.bounds))

    def expected_pairs(self) -> tuple[int, int]:
        """Return about how many pairs there are, and of how many rows one was looked at for that."""
        a, _, every = self.sampled_pairs()
        return every * len(a), every

    def sampled_pairs(self) -> tuple[I64, I64, int]:
        """Return the pairs of one in so many rows, and in how many: there are about as many times more pairs.

        Where every row is looked at, these are all.
        """
        every = max(1, min(-(-int(self._work(self.asked).sum()) // SAMPLE), len(self.asked) // 4))
        a, b = self._found(self._partners(self.asked[every // 2 :: every], self.lists, self.bounds))
        return a, b, every

    def deciding_pairs(self, count: int, earlier_offsets: I64, earlier: I64) -> tuple[I64, I64]:
        """Return the pairs with a row that stays, for each row at most some, the most similar one among them.

        `earlier` are the rows, of `count` in keep order, that each one is similar to apart from these lists, CSR.
        """
        lists, bounds = self.lists, self.bounds._replace(most=PARTNERS)
        kept = lists._replace(
            ends=lists.starts.copy(),
            rows=np.empty_like(lists.rows),
            rests=np.empty_like(lists.rests),
            sizes=np.empty_like(lists.sizes),
            bits=np.empty_like(lists.bits),
        )
        places = np.full(count, -1, np.int64)
        places[self.members] = np.arange(len(self.members))
        standing = Standing(earlier_offsets, earlier, places, self.reference)
        stays, seen = np.ones(count, np.bool_), self._unseen()
        found: list[Partners] = []
        for first in range(0, count, BATCH):
            span = (first, min(first + BATCH, count))
            asked = places[max(first, self.reference) : span[1]]
            asked = asked[asked >= 0] if len(self.asked) else asked[:0]
            before = kept._replace(ends=kept.ends.copy())
            for rows, partners in self._partners(asked, before, bounds):
                found.append(partners)
                stays[self.members[rows[partners.some]]] = False
            since = kept._replace(starts=before.ends)
            found.append(settle(self.compared, since, self.dense.entries, standing, bounds, seen, stays, span))
        return self._found((np.empty(0, np.int64), partners) for partners in found)

    def connecting_pairs(self, components: I64) -> tuple[I64, I64]:
        """Return all pairs of rows in different components: `components` has one for every row.

        In each list the rows of the component that most of them belong to need not ask: the others do.
        """
        here = components[self.members]
        lists, entries = self.lists, self.dense.entries
        which = entries.lists >> 1
        of_entry = np.repeat(here, np.diff(entries.offsets))
        largest = _most_frequent(which, of_entry, len(self.dense))
        asks = of_entry != largest[which]
        row = np.repeat(np.arange(len(here)), np.diff(entries.offsets))[asks]
        fewer = Entries(offsets_of(np.bincount(row, minlength=len(here))), entries.lists[asks], entries.rests[asks])
        bounds = self.bounds._replace(limit=len(here))
        compared = self.compared._replace(components=here)
        asked = np.flatnonzero(np.diff(fewer.offsets))
        a, b = self._found(self._partners(asked, lists, bounds, fewer, compared))
        if self.sided:
            inside = (a < self.members[self.first]) != (b < self.members[self.first])
            a, b = a[inside], b[inside]
        return a, b

    def _partners(
        self, asked: I64, lists: Lists, bounds: Bounds, entries: Entries | None = None, compared: Compared | None = None
    ) -> list[tuple[I64, Partners]]:
        """Find the partners of rows on threads, each of which knows whom a row was compared with."""
        entries, compared = entries or self.dense.entries, compared or self.compared
        asked = np.ascontiguousarray(asked)
        if not len(asked):
            return []
        idle: SimpleQueue[I32] = SimpleQueue()
        for _ in range(thread_count(self.threads)):
            idle.put(self._unseen())

        def find(span: tuple[int, int]) -> tuple[I64, Partners]:
            seen, rows = idle.get(), asked[span[0] : span[1]]
            try:
                return rows, find_partners(compared, lists, entries, rows, bounds, seen)
            finally:
                idle.put(seen)

        work = offsets_of(self._work(asked))
        parts = spans(work, max(1, int(work[-1]) // (16 * thread_count(self.threads))))
        return list(ordered_map(find, parts, self.threads))

    def _work(self, asked: I64) -> I64:
        """Return about how many comparisons each row takes."""
        return 1 + self.work_before[asked + 1] - self.work_before[asked]

    def _unseen(self) -> I32:
        return np.full(len(self.members), -1, np.int32)

    def _found(self, parts: Iterable[tuple[I64, Partners]]) -> tuple[I64, I64]:
        found = [partners for _, partners in parts]
        a = np.concatenate([np.empty(0, np.int64), *(part.a for part in found)])
        b = np.concatenate([np.empty(0, np.int64), *(part.b for part in found)])
        self.measured += sum(part.measured for part in found)
        self.collided += sum(part.collided for part in found)
        return self.members[np.minimum(a, b)], self.members[np.maximum(a, b)]


def _lists_of(dense: DenseLists, sketches: Sketches) -> Lists:
    """Return the lists as kernels read them: what tells most rows apart is beside each of them."""
    sizes = sketches.lines[:, 0].astype(np.int32)
    bits = np.bitwise_or.reduce(sketches.lines[:, 1:], axis=1)
    edges, rows = dense.edges, dense.rows
    return Lists(edges[:-1].copy(), edges[1:].copy(), rows, dense.rests, sizes[rows], bits[rows])


def _most_frequent(groups: I32, values: I64, count: int) -> I64:
    """Return the most frequent value of each group.

    >>> _most_frequent(np.array([0, 0, 0, 1]), np.array([7, 5, 7, 3]), 2).tolist()
    [7, 3]
    """
    order = np.lexsort((values, groups))
    group, value = groups[order], values[order]
    starts = np.flatnonzero(np.concatenate([np.ones(1, np.bool_), (np.diff(group) != 0) | (np.diff(value) != 0)]))
    lengths = np.diff(np.append(starts, len(order)))
    by_length = np.argsort(lengths, kind="stable")
    largest = np.full(count, -1, np.int64)
    largest[group[starts[by_length]]] = value[starts[by_length]]  # the longest run of a group is written last
    return largest
