"""Identical feature sets, collapsed to one representative before a join and expanded after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sosie.arrays import read_only
from sosie.kernels.sets.similarity import Sets
from sosie.kernels.tables.equal import equal_rows, equal_tags, set_digests, weighted_digests
from sosie.matches.equal.groups import Groups, pairs_between, pairs_inside, spread
from sosie.matches.sets.partitions import listed_at_most
from sosie.parallel import spans
from sosie.storage.resident import give_back
from sosie.types import F64, I64, U32, U64, Bools, VerifiedPairs, offsets_of

SPAN = 1 << 26  # features that are looked at before their pages are given back


def collapse(sets: Sets, rank: I64, weights: F64 | None = None, tags: U32 | None = None) -> Groups:
    """Group the rows with identical features, groups and their members in keep order; rows without any are in none.

    `rank` is each row's place in keep order. With weights, one for each of the hashes, rows are identical only if
    their features weigh the same; with tags, likewise, only if their words are the same.

    >>> sets = Sets(np.array([1, 2, 1, 2, 7], np.uint64), np.array([0, 2, 4, 5]), np.array([2, 4, 5, 5]))
    >>> collapse(sets, rank=np.array([3, 1, 2, 0])).rows.tolist()
    [1, 0, 2]
    """
    rows = np.flatnonzero(sets.stops > sets.starts)
    columns = [sets.hashes] if weights is None else [sets.hashes, read_only(weights).view(np.uint64)]
    digests = _digests(columns, sets.starts[rows], sets.stops[rows])
    by_rank = np.argsort(rank[rows], kind="stable")
    rows, opens, differs = _runs(sets, columns, tags, rows[by_rank], digests[by_rank])
    if differs.any():
        # Equal digests of different rows are next to impossible, unless someone made the hashes so.
        others, rows, opens = rows[differs], rows[~differs], opens[~differs]
        others = others[np.argsort(rank[others], kind="stable")]
        others, opens_other, apart = _runs(sets, columns, tags, others, _word_digests(sets, tags, others))
        rows = np.concatenate([rows, others[~apart], others[apart]])  # those that differ again stand for themselves
        opens = np.concatenate([opens, opens_other[~apart], apart[apart]])
    starts = np.flatnonzero(opens)
    sizes = np.diff(np.append(starts, len(rows)))
    in_order = np.argsort(rank[rows[starts]], kind="stable")
    offsets = offsets_of(sizes[in_order])
    return Groups(rows[spread(starts[in_order], sizes[in_order])], offsets)


def _runs(sets: Sets, columns: list[U64], tags: U32 | None, rows: I64, digests: U64) -> tuple[I64, Bools, Bools]:
    """Bring rows with equal digests together; return which begin a run, and which differ from the first of theirs."""
    order = np.argsort(digests, kind="stable")
    rows, digests = rows[order], digests[order]
    opens = np.concatenate([np.ones(min(len(rows), 1), np.bool_), digests[1:] != digests[:-1]])
    first = np.flatnonzero(opens)[np.cumsum(opens) - 1] if len(rows) else np.empty(0, np.int64)
    differs, later = np.zeros(len(rows), np.bool_), np.flatnonzero(~opens)
    for column in columns:
        differs[later] |= ~equal_rows(column, sets.starts, sets.stops, rows[later], rows[first[later]])
    if tags is not None:
        later = later[~differs[later]]
        differs[later] = ~equal_tags(read_only(tags), sets.starts, sets.stops, rows[later], rows[first[later]])
    return rows, opens, differs


def _word_digests(sets: Sets, tags: U32 | None, rows: I64) -> U64:
    """Return a digest of the hashes and the tags of each of a few rows."""
    sizes = sets.stops[rows] - sets.starts[rows]
    places, ends = spread(sets.starts[rows], sizes), offsets_of(sizes)
    words = np.zeros(len(places), np.uint64) if tags is None else tags[places].astype(np.uint64)
    return weighted_digests(*(read_only(column) for column in (sets.hashes[places], words, ends[:-1], ends[1:])))


def _digests(columns: list[U64], starts: I64, stops: I64) -> U64:
    """Return a digest of each row; mapped pages are given back on the way, which is faster than anyone could watch."""
    digest: Callable[..., U64] = set_digests if len(columns) == 1 else weighted_digests
    parts = [np.empty(0, np.uint64)]
    for first, last in spans(offsets_of(stops - starts), SPAN):
        parts.append(digest(*columns, read_only(starts[first:last]), read_only(stops[first:last])))
        if last < len(starts):
            for column in columns:
                give_back(column)
    return np.concatenate(parts)


def listable(pairs: VerifiedPairs, groups: Groups, rows: int | None = None) -> Groups:
    """Return the groups such that `expand` writes a bounded number of pairs: as stars, where there would be too many.

    `rows` are those of the collection, where the groups are not all of it. Ten versions of a page with sixty copies
    each make 300 pairs for each document.

    >>> none = np.empty(0, np.int64)
    >>> pairs = VerifiedPairs(none, none, np.empty(0), none)
    >>> [listable(pairs, Groups(np.arange(60 * n), np.arange(0, 60 * n + 1, 60))).star for n in (1000, 2000)]
    [64, 1]
    """
    sizes = groups.sizes
    left, right = sizes[pairs.a], sizes[pairs.b]
    between = np.where(np.maximum(left, right) > groups.star, left + right, left * right).sum()
    inside = np.where(sizes > groups.star, sizes, sizes * (sizes - 1) // 2).sum()
    rows = len(groups.rows) if rows is None else rows
    return groups if between + inside <= listed_at_most(rows) else replace(groups, star=1)


def expand(pairs: VerifiedPairs, groups: Groups, set_sizes: I64) -> VerifiedPairs:
    """Return the pairs of rows that pairs of groups stand for, and those inside the groups.

    `set_sizes` is the number of features of each group. The rows of a star are paired with the representative only, and
    the counters say from how many rows on that is so, and how many pairs were not written.
    """
    sizes = groups.sizes
    between_a, between_b, source = pairs_between(pairs.a, pairs.b, groups, groups)
    inside_a, inside_b, group = pairs_inside(groups)
    a, b = np.concatenate([between_a, inside_a]), np.concatenate([between_b, inside_b])
    a, b = np.minimum(a, b), np.maximum(a, b)
    own = set_sizes[group]
    shared = np.concatenate([pairs.shared[source], own])
    total = np.concatenate([pairs.total[source], own]) if pairs.total is not None else None
    similarity = np.concatenate([pairs.similarity[source], np.ones(len(own))])
    order = np.lexsort((b, a))
    first = np.concatenate([np.ones(min(len(order), 1), np.bool_), (np.diff(a[order]) != 0) | (np.diff(b[order]) != 0)])
    order = order[first]
    possible = int((sizes[pairs.a] * sizes[pairs.b]).sum() + (sizes * (sizes - 1) // 2).sum())
    counters = {
        **pairs.counters,
        "identical_documents": int(sizes.sum()) - len(groups),
        "bounded_above": groups.star,
        "bounded_groups": int((sizes > groups.star).sum()),
        "bounded_pairs": possible - len(order),
    }
    return replace(
        pairs,
        a=a[order],
        b=b[order],
        similarity=similarity[order],
        shared=shared[order],
        total=None if total is None else total[order],
        counters=counters,
    )
