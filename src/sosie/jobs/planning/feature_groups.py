"""Comparisons counted before they are made: from how many rows share a feature of their prefixes, or a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.kernels.sets.rarity import HASH_BITS
from sosie.kernels.sets.similarity import Sets
from sosie.kernels.tables.keys import group_by_key
from sosie.matches.sets.join import prefix_postings
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.planner.constants.documents import DENSE_LIST
from sosie.types import I64, U64

LARGEST = 10
_FEATURE = np.uint64((1 << HASH_BITS) - 1)  # of a token, what is not its frequency
FEW = 2  # rows of a list in a sample that say nothing of how long it is in all


@dataclass(frozen=True)
class FeatureGroup:
    """Rows that share a feature or a key: how many there are, one of them, and the key, or 48 bits of the feature."""

    size: int
    example: int
    key: int = 0


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """How many rows share what: sizes of groups of two rows or more, and the largest ones.

    >>> groups = FeatureGroups.of(np.array([2, 3, 40]), np.array([0, 7, 9]))
    >>> groups.pairs, groups.sparse, groups.dense, groups.largest[0]
    (784, 4, 1600, FeatureGroup(size=40, example=9, key=0))
    """

    sizes: I64
    largest: tuple[FeatureGroup, ...]

    @classmethod
    def of(cls, sizes: I64, examples: I64, keys: U64 | None = None) -> FeatureGroups:
        """Return groups of these sizes, of each of which an example is known, and perhaps the key."""
        order = np.argsort(-sizes, kind="stable")[:LARGEST]
        named = np.zeros(len(order), np.uint64) if keys is None else keys[order]
        shown = zip(sizes[order].tolist(), examples[order].tolist(), named.tolist(), strict=True)
        return cls(sizes, tuple(FeatureGroup(*each) for each in shown))

    @property
    def rows(self) -> int:
        """How many rows are in groups, each as often as it is in one: the postings."""
        return int(self.sizes.sum())

    @property
    def pairs(self) -> int:
        """How many pairs of rows are in one group, each as often as it is: the comparisons that nothing rules out."""
        return _pairs(self.sizes)

    @property
    def sparse(self) -> int:
        """How many of them are in groups that the exact join compares pair by pair."""
        return _pairs(self.sizes[self.sizes <= DENSE_LIST])

    @property
    def dense(self) -> int:
        """How many rows are looked at in the other groups, which are compared by sketches: each row with all."""
        sizes = self.sizes[self.sizes > DENSE_LIST]
        return int((sizes * sizes).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the largest groups as plain data."""
        largest = [dict(vars(each)) for each in self.largest]
        counts = {name: getattr(self, name) for name in ("rows", "pairs", "sparse", "dense")}
        return {"groups": len(self.sizes), **counts, "largest": largest}


def prefix_groups(
    sets: Sets, threshold: Fraction, similarity: Similarity = JACCARD, threads: int | None = None
) -> FeatureGroups:
    """Count how many rows share each feature of their prefixes: what the exact join sorts and compares.

    >>> hashes = np.array([1, 2, 1, 2, 9], np.uint64) << np.uint64(50)
    >>> sets = Sets(hashes, np.array([0, 2, 4]), np.array([2, 4, 5]))
    >>> prefix_groups(sets, Fraction(1, 2)).sizes.tolist()
    [2, 2]
    """
    postings = prefix_postings(sets, similarity, threshold, threads)
    order = np.argsort(postings.tokens, kind="stable")
    return _groups_of(postings.tokens[order], postings.rows[order].astype(np.int64))


def band_groups(columns: Sequence[U64]) -> FeatureGroups:
    """Count how many rows have each key of each table: what a join of keys compares, a pair once for each such table.

    >>> band_groups([np.array([5, 9, 5, 5], np.uint64), np.array([1, 1, 2, 3], np.uint64)]).pairs
    4
    """
    sizes, examples = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for column in columns:
        offsets, members = group_by_key(np.ascontiguousarray(column))
        sizes.append(np.diff(offsets))
        examples.append(members[offsets[:-1]])
    return FeatureGroups.of(np.concatenate(sizes), np.concatenate(examples))


@dataclass(frozen=True)
class ExactWork:
    """What the exact join of a whole collection does: postings, and steps in dense lists."""

    postings: float
    dense: float


def exact_work(groups: FeatureGroups, rate: float, tokens: float) -> ExactWork:
    """Return what the join of all rows does, by the groups in a sample that each row is in with the chance `rate`.

    Of g rows that share a feature, c = g * rate are seen on average, and g (g - 1) * rate^2 pairs of them. Two rows in
    one list may be all that there are, or few of many: each stands for 1 / rate^2 pairs. `tokens` is how many features
    there are in the prefixes of all rows.

    >>> exact_work(FeatureGroups.of(np.array([2, 30]), np.zeros(2, np.int64)), 0.1, 10**6)
    ExactWork(postings=500.0, dense=90000.0)
    """
    if rate >= 1 or not rate:  # all, or nothing at all
        return ExactWork(float(groups.rows), float(groups.dense))
    few = int(np.count_nonzero(groups.sizes <= FEW))
    long = groups.sizes[groups.sizes > FEW] / rate
    postings = 2 * few / rate**2 + float(long.sum())
    dense = float((long[long > DENSE_LIST] ** 2).sum())
    return ExactWork(min(round(postings, 6), tokens), round(dense, 6))


def _groups_of(keys: U64, rows: I64) -> FeatureGroups:
    """Return the groups of two rows or more with equal keys, which are sorted."""
    if not len(keys):
        return FeatureGroups.of(np.empty(0, np.int64), np.empty(0, np.int64))
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sizes = np.diff(np.append(starts, len(keys)))
    shared = sizes > 1
    return FeatureGroups.of(sizes[shared], rows[starts[shared]], keys[starts[shared]] & _FEATURE)


def _pairs(sizes: I64) -> int:
    return int((sizes * (sizes - 1) // 2).sum())
