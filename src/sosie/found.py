"""What is found: matches of queries, pairs of rows, and who stays of them; frozen and columnar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sosie.arrays import F64, I32, I64, Bools, check_column, check_rows
from sosie.errors import MismatchError
from sosie.shown import counted

Counters = Mapping[str, int]
_ROWS = 2**32 - 1  # more than there are in any collection


@dataclass(frozen=True, eq=False)
class Matches:
    """What a search found: query i has `rows[offsets[i]:offsets[i + 1]]`, ordered by (distance, row).

    `ids` are the ids of those rows. For keys, `distances` is the number of tables that do *not* agree. `recall` is the
    share of the exact answer that is to be expected: 1 where the answer is exact, None where nothing is known. Where
    the true similarity of every match is known, it is in `similarities`, and orders the matches instead of the
    distance: the most similar first, ties by row. Where it was planned how they are found, `planned` has what was
    expected beside what happened (`sosie.planner.outcome.Outcome`).
    """

    offsets: I64
    rows: I64
    distances: I32
    ids: Any = None
    counters: Counters = field(default_factory=dict)
    recall: float | None = None
    similarities: F64 | None = None
    planned: Any = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Matches({_found(self.rows, 'match')} of {_found(self.offsets[1:], 'query')}{_recall(self.recall)})"

    def of(self, query: int) -> tuple[I64, I32]:
        """Return rows and distances found for one query."""
        span = slice(self.offsets[query], self.offsets[query + 1])
        return self.rows[span], self.distances[span]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs of rows, ordered by (a, b), distinct; a < b when a collection is joined with itself.

    Candidates are not duplicates: nothing may be removed because of them. See `VerifiedPairs`. `recall` is the share of
    all pairs that is to be expected among them: 1 where the join is exact, None where nothing is known. Where it is an
    estimate, `interval` holds the true share in 95 of 100 runs. Where it was planned how they are found, `planned` has
    what was expected beside what happened (`sosie.planner.outcome.Outcome`).
    """

    a: I64
    b: I64
    counters: Counters = field(default_factory=dict)
    recall: float | None = None
    interval: tuple[float, float] | None = None
    planned: Any = None

    def __post_init__(self) -> None:
        _check_pairs(self.a, self.b)

    def __len__(self) -> int:
        return len(self.a)

    def __repr__(self) -> str:
        return f"Pairs({counted(len(self), 'candidate')}{_recall(self.recall)})"

    def take(self, which: I64 | Bools) -> Pairs:
        """Return some of the pairs, by place or by flag."""
        return replace(self, a=self.a[which], b=self.b[which])


@dataclass(frozen=True, eq=False)
class VerifiedPairs:
    """Pairs whose true similarity was computed from their features and reaches the threshold.

    For Jaccard and containment the similarity is the exact fraction `shared / total` (of the union, or of the smaller
    one); the cosine has no `total`. `shared` counts features; with integer weights it is their dot product. `recall` is
    the share of all similar pairs that is to be expected among them, as in `Pairs`; `at_threshold` is the chance that a
    pair exactly at the threshold had, where that is less than 1 and known.
    """

    a: I64
    b: I64
    similarity: F64
    shared: I64
    total: I64 | None = None
    counters: Counters = field(default_factory=dict)
    recall: float | None = None
    interval: tuple[float, float] | None = None
    at_threshold: float | None = None

    def __post_init__(self) -> None:
        _check_pairs(self.a, self.b)
        check_column("the similarities of pairs", self.similarity, np.float64, len(self.a))
        for column in (self.shared, self.total):
            if column is not None:
                check_column("the shared features of pairs", column, np.int64, len(self.a))

    def __len__(self) -> int:
        return len(self.a)

    def __repr__(self) -> str:
        low = f", similarity {self.similarity.min():.4g} to {self.similarity.max():.4g}" if len(self) else ""
        return f"VerifiedPairs({counted(len(self), 'pair')}{low}{_recall(self.recall)})"

    def take(self, which: I64 | Bools) -> VerifiedPairs:
        """Return some of the pairs, by place or by flag."""
        total = None if self.total is None else self.total[which]
        a, b = self.a[which], self.b[which]
        return replace(self, a=a, b=b, similarity=self.similarity[which], shared=self.shared[which], total=total)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Who stays and who goes: row i belongs to the cluster of the kept row `anchor[i]`, itself if it is kept.

    `similarity[i]` is the true similarity of row i and its anchor, 1 for the anchor itself. An anchor beyond the rows
    is that of a reference, which stays whatever happens.

    >>> clusters = Clusters(np.array([0, 0, 7]), np.ones(3))
    >>> clusters.kept.tolist(), clusters.members.tolist(), clusters.sizes.tolist()
    ([True, False, False], [2, 0, 0, 0, 0, 0, 0, 2], [2, 2, 2])
    """

    anchor: I64
    similarity: F64

    def __post_init__(self) -> None:
        check_column("the anchors of rows", self.anchor, np.int64)
        check_rows("the anchors of rows", self.anchor, _ROWS)
        check_column("the similarities to anchors", self.similarity, np.float64, len(self.anchor))

    def __len__(self) -> int:
        return len(self.anchor)

    def __repr__(self) -> str:
        groups = int((self.members > 1).sum())
        return f"Clusters({counted(len(self), 'row')}, {int(self.kept.sum()):,} kept, {counted(groups, 'group')})"

    @property
    def kept(self) -> Bools:
        """Whether each row stays."""
        return np.asarray(self.anchor == np.arange(len(self.anchor)))

    @property
    def members(self) -> I64:
        """How many rows belong to the cluster of each row, by its anchor; 0 for a row that goes."""
        members = np.bincount(self.anchor, minlength=len(self.anchor)).astype(np.int64)
        members[self.outside] += 1
        return members

    @property
    def outside(self) -> I64:
        """The anchors that are not among the rows."""
        return np.unique(self.anchor[self.anchor >= len(self.anchor)])

    @property
    def sizes(self) -> I64:
        """The size of the cluster that each row belongs to."""
        return np.asarray(self.members[self.anchor])


def _check_pairs(a: Any, b: Any) -> None:
    for rows in (a, b):
        check_column("the rows of pairs", rows, np.int64)
        check_rows("the rows of pairs", rows)
    if len(a) != len(b):
        raise MismatchError(f"pairs have two rows each, got {len(a)} and {len(b)}")


def _found(rows: Any, noun: str) -> str:
    plural = {"match": "matches", "query": "queries"}[noun]
    return f"{len(rows):,} {noun if len(rows) == 1 else plural}"


def _recall(recall: float | None) -> str:
    return "" if recall is None else f", recall {recall:.4g}"
