"""Identical feature sets, collapsed to one representative before a join and expanded after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.kernels.identical import equal_rows, set_digests
from sosie.kernels.set_join import Sets
from sosie.types import I64, Bools, VerifiedPairs

STAR = 64  # larger groups are written as a star: each member with the first, not all with all


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows with identical features: group g is `rows[offsets[g]:offsets[g + 1]]`, its representative first.

    Groups are numbered in keep order, and so are the members inside a group. Rows without features are in none.
    """

    rows: I64
    offsets: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """How many rows each group has."""
        return np.diff(self.offsets)

    @property
    def representatives(self) -> I64:
        """The first row of each group in keep order."""
        return self.rows[self.offsets[:-1]]


def collapse(sets: Sets, rank: I64) -> Groups:
    """Group the rows with identical features; `rank` is each row's place in keep order.

    >>> sets = Sets(np.array([1, 2, 1, 2, 7], np.uint64), np.array([0, 2, 4, 5]), np.array([2, 4, 5, 5]))
    >>> collapse(sets, rank=np.array([3, 1, 2, 0])).rows.tolist()
    [1, 0, 2]
    """
    rows = np.flatnonzero(sets.stops > sets.starts)
    digests = set_digests(sets.hashes, sets.starts[rows], sets.stops[rows])
    order = np.lexsort((rank[rows], digests))
    rows, digests = rows[order], digests[order]
    opens = np.concatenate([np.ones(min(len(rows), 1), np.bool_), digests[1:] != digests[:-1]])
    first = np.flatnonzero(opens)[np.cumsum(opens) - 1] if len(rows) else np.empty(0, np.int64)
    # Equal digests of different sets are next to impossible; such a row stands for itself.
    opens |= ~equal_rows(sets.hashes, sets.starts, sets.stops, rows, rows[first])
    starts = np.flatnonzero(opens)
    sizes = np.diff(np.append(starts, len(rows)))
    by_rank = np.argsort(rank[rows[starts]], kind="stable")
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[by_rank])])
    return Groups(rows[_spread(starts[by_rank], sizes[by_rank])], offsets)


def expand(pairs: VerifiedPairs, groups: Groups, set_sizes: I64) -> VerifiedPairs:
    """Return the pairs of rows that pairs of groups stand for, and those inside the groups.

    `set_sizes` is the number of features of each group. Where a group has more than 64 rows, its rows are paired with
    the representative only, and the counters say how many pairs were not written.
    """
    sizes = groups.sizes
    large = np.maximum(sizes[pairs.a], sizes[pairs.b]) > STAR
    across = [
        _product(groups, pairs.a, pairs.b, ~large),
        _product(groups, pairs.a, pairs.b, large, star_a=True),
        _product(groups, pairs.a, pairs.b, large, star_b=True),
    ]
    inside = _inside(groups)
    source = np.concatenate([part[2] for part in across])
    a = np.concatenate([*(part[0] for part in across), inside[0]])
    b = np.concatenate([*(part[1] for part in across), inside[1]])
    own = set_sizes[inside[2]]
    shared = np.concatenate([pairs.shared[source], own])
    total = np.concatenate([pairs.total[source], own]) if pairs.total is not None else None
    similarity = np.concatenate([pairs.similarity[source], np.ones(len(own))])
    a, b = np.minimum(a, b), np.maximum(a, b)
    packed = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    _, order = np.unique(packed, return_index=True)  # the two stars share the pair of representatives
    possible = int((sizes[pairs.a] * sizes[pairs.b]).sum() + (sizes * (sizes - 1) // 2).sum())
    counters = {
        **pairs.counters,
        "identical_documents": int(sizes.sum()) - len(groups),
        "bounded_groups": int((sizes > STAR).sum()),
        "bounded_pairs": possible - len(order),
    }
    return VerifiedPairs(
        a[order], b[order], similarity[order], shared[order], None if total is None else total[order], counters
    )


def _product(
    groups: Groups, a: I64, b: I64, where: Bools, *, star_a: bool = False, star_b: bool = False
) -> tuple[I64, I64, I64]:
    """Pair the rows of groups a[i] with those of b[i]; a starred side gives its representative only."""
    source = np.flatnonzero(where)
    a, b = a[source], b[source]
    of_a = np.ones(len(a), np.int64) if star_a else groups.sizes[a]
    of_b = np.ones(len(b), np.int64) if star_b else groups.sizes[b]
    counts = of_a * of_b
    which = np.repeat(np.arange(len(a)), counts)
    place = _spread(np.zeros(len(a), np.int64), counts)
    left = groups.rows[groups.offsets[a][which] + place // of_b[which]]
    right = groups.rows[groups.offsets[b][which] + place % of_b[which]]
    return left, right, source[which]


def _inside(groups: Groups) -> tuple[I64, I64, I64]:
    """Pair the rows inside each group: all with all, or all with the first where there are more than 64."""
    several = np.flatnonzero(groups.sizes > 1)
    # Row k of a group is paired with the k rows before it, or with the first one only.
    group = np.repeat(several, groups.sizes[several])
    place = _spread(np.zeros(len(several), np.int64), groups.sizes[several])
    partners = np.where(groups.sizes[group] > STAR, np.minimum(place, 1), place)
    right = np.repeat(groups.offsets[group] + place, partners)
    left = np.repeat(groups.offsets[group], partners) + _spread(np.zeros(len(partners), np.int64), partners)
    return groups.rows[left], groups.rows[right], np.repeat(group, partners)


def _spread(starts: I64, lengths: I64) -> I64:
    """Concatenate the ranges starts[i] .. starts[i] + lengths[i]."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    ranges: I64 = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)
    return ranges
