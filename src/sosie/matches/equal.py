"""Equal signatures, collapsed to one row before a join and written out after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sosie.kernels.equal_rows import first_equal
from sosie.matches.order import ordered_pairs
from sosie.types import I64, U64, Bools, Pairs, Signatures

Find = Callable[[U64, int], Pairs | None]
NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
STAR = 64  # larger groups are written as a star: each member with the first, not all with all


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Groups of equal rows, ordered by their first row: group g is `members[offsets[g]:offsets[g + 1]]`, in order."""

    members: I64
    offsets: I64

    @property
    def sizes(self) -> I64:
        """How many rows each group has."""
        return np.diff(self.offsets)

    @property
    def firsts(self) -> I64:
        """The lowest row of each group."""
        return self.members[self.offsets[:-1]]


def group_equal(words: U64) -> EqualRows:
    """Group the rows with equal words.

    >>> group_equal(np.array([[7], [1], [7]], np.uint64)).members.tolist()
    [0, 2, 1]
    """
    first = first_equal(words)
    members = np.argsort(first, kind="stable")
    opens = np.flatnonzero(np.diff(first[members], prepend=-1))
    return EqualRows(members, np.append(opens, len(words)))


def join_distinct(a: Signatures, b: Signatures | None, find: Find) -> Pairs:
    """Collapse equal rows, join what remains with `find`, and write the equal rows out.

    `find(words, split)` joins rows that are distinct within their collection; the second one starts at `split`, and
    with a split of 0 there is only one.
    """
    left = group_equal(a.words)
    if b is None:
        found = find(a.words[left.firsts], 0) if len(left.firsts) > 1 else NO_PAIRS
        assert found is not None, "the rows are distinct"
        pairs = _spread_within(found.a, found.b, left)
    else:
        right = group_equal(b.words)
        split = len(left.firsts)
        words = np.concatenate([a.words[left.firsts], b.words[right.firsts]])
        found = find(words, split) if len(a) and len(b) else NO_PAIRS
        assert found is not None, "the rows are distinct"
        pairs = _spread_between(found.a, found.b - split, left, right)
    return Pairs(pairs.a, pairs.b, {**found.counters, **pairs.counters})


def _spread_within(a: I64, b: I64, groups: EqualRows) -> Pairs:
    """Return the pairs of rows that distinct pairs of groups stand for, and those inside the groups."""
    sizes = groups.sizes
    rows_a, rows_b = _across(a, b, groups, groups)
    few = np.flatnonzero((sizes > 1) & (sizes <= STAR))
    many = np.flatnonzero(sizes > STAR)
    inside = [_product(few, few, groups, groups), _product(many, many, groups, groups, first_left=True)]
    left = np.concatenate([rows_a, *(pair[0] for pair in inside)])
    right = np.concatenate([rows_b, *(pair[1] for pair in inside)])
    apart = left != right
    left, right = left[apart], right[apart]
    possible = int(np.sum(sizes[a] * sizes[b]) + np.sum(sizes * (sizes - 1) // 2))
    return _counted(np.minimum(left, right), np.maximum(left, right), possible, sizes > STAR)


def _spread_between(a: I64, b: I64, left: EqualRows, right: EqualRows) -> Pairs:
    """Return the pairs of rows that distinct pairs of groups of two collections stand for."""
    rows_a, rows_b = _across(a, b, left, right)
    possible = int(np.sum(left.sizes[a] * right.sizes[b]))
    bounded = np.concatenate([left.sizes[np.unique(a)], right.sizes[np.unique(b)]]) > STAR
    return _counted(rows_a, rows_b, possible, bounded)


def _counted(a: I64, b: I64, possible: int, bounded: Bools) -> Pairs:
    pairs = ordered_pairs(a, b, distinct=False)
    counters = {"bounded_groups": int(np.sum(bounded)), "bounded_pairs": possible - len(pairs)}
    return Pairs(pairs.a, pairs.b, counters)


def _across(a: I64, b: I64, left: EqualRows, right: EqualRows) -> tuple[I64, I64]:
    """Pair all members of two groups, or, where one is large, each member with the first of the other group."""
    large = np.maximum(left.sizes[a], right.sizes[b]) > STAR
    parts = [
        _product(a[~large], b[~large], left, right),
        _product(a[large], b[large], left, right, first_left=True),
        _product(a[large], b[large], left, right, first_right=True),
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _product(
    a: I64, b: I64, left: EqualRows, right: EqualRows, *, first_left: bool = False, first_right: bool = False
) -> tuple[I64, I64]:
    """Pair the members of groups a[i] and b[i], or only the first ones of a side."""
    of_a = np.ones(len(a), np.int64) if first_left else left.sizes[a]
    of_b = np.ones(len(b), np.int64) if first_right else right.sizes[b]
    counts = of_a * of_b
    which = np.repeat(np.arange(len(a)), counts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return (
        left.members[left.offsets[a][which] + place // of_b[which]],
        right.members[right.offsets[b][which] + place % of_b[which]],
    )
