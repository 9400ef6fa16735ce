"""Groups of equal rows: what a pair of groups stands for, written out; large groups as stars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.types import I64

STAR = 64  # larger groups are written as stars, unless another number is asked for


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows that are equal: group g is `rows[offsets[g]:offsets[g + 1]]`, its representative first.

    The pairs of a group of more than `star` rows are written as a star, each row with the representative.
    """

    rows: I64
    offsets: I64
    star: int = STAR

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """How many rows each group has."""
        return np.diff(self.offsets)

    @property
    def representatives(self) -> I64:
        """The first row of each group."""
        return self.rows[self.offsets[:-1]]

    def of_rows(self, count: int) -> I64:
        """Return the group of each of `count` rows, -1 for those in none.

        >>> Groups(np.array([3, 0]), np.array([0, 2])).of_rows(4).tolist()
        [0, -1, -1, 0]
        """
        group = np.full(count, -1, np.int64)
        group[self.rows] = np.repeat(np.arange(len(self)), self.sizes)
        return group


def pairs_between(a: I64, b: I64, left: Groups, right: Groups) -> tuple[I64, I64, I64]:
    """Pair the rows of groups a[i] and b[i]: rows, rows, and which i they stand for.

    Where one of the two is written as a star, each row is paired with the representative of the other group only;
    the pair of the two representatives is then given twice.

    >>> groups = Groups(np.array([0, 1, 2]), np.array([0, 2, 3]))
    >>> [part.tolist() for part in pairs_between(np.array([0]), np.array([1]), groups, groups)]
    [[0, 1], [2, 2], [0, 0]]
    """
    large = np.maximum(left.sizes[a], right.sizes[b]) > left.star
    few, many = np.flatnonzero(~large), np.flatnonzero(large)
    ones = np.ones(len(many), np.int64)
    parts = [
        _product(few, left.offsets[a[few]], left.sizes[a[few]], right.offsets[b[few]], right.sizes[b[few]]),
        _product(many, left.offsets[a[many]], ones, right.offsets[b[many]], right.sizes[b[many]]),
        _product(many, left.offsets[a[many]], left.sizes[a[many]], right.offsets[b[many]], ones),
    ]
    at_a, at_b, source = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left.rows[at_a], right.rows[at_b], source


def pairs_inside(groups: Groups) -> tuple[I64, I64, I64]:
    """Pair the rows inside each group: rows, rows and the group; all with all, or with the first of a star.

    >>> [part.tolist() for part in pairs_inside(Groups(np.array([5, 7, 9]), np.array([0, 3])))]
    [[5, 5, 7], [7, 9, 9], [0, 0, 0]]
    """
    several = np.flatnonzero(groups.sizes > 1)
    group = np.repeat(several, groups.sizes[several])
    place = spread(np.zeros(len(several), np.int64), groups.sizes[several])
    partners = np.where(groups.sizes[group] > groups.star, np.minimum(place, 1), place)
    later = np.repeat(groups.offsets[group] + place, partners)
    earlier = spread(groups.offsets[group], partners)
    return groups.rows[earlier], groups.rows[later], np.repeat(group, partners)


def spread(starts: I64, lengths: I64) -> I64:
    """Concatenate the ranges from starts[i] of lengths[i].

    >>> spread(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    ranges: I64 = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    return ranges


def _product(which: I64, from_a: I64, count_a: I64, from_b: I64, count_b: I64) -> tuple[I64, I64, I64]:
    counts = count_a * count_b
    pair = np.repeat(np.arange(len(which)), counts)
    place = spread(np.zeros(len(which), np.int64), counts)
    return from_a[pair] + place // count_b[pair], from_b[pair] + place % count_b[pair], which[pair]
