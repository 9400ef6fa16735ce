"""Equal signatures, collapsed to one row before a join and written out after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sosie.kernels.tables.equal import first_equal
from sosie.matches.check import check_pairs
from sosie.matches.equal.groups import Groups, pairs_between, pairs_inside
from sosie.matches.order import ordered_pairs
from sosie.types import I64, U64, Bools, Pairs, Signatures

Find = Callable[[U64, int], Pairs | None]
NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), recall=1.0)


def group_equal(words: U64) -> Groups:
    """Group the rows with equal words.

    >>> group_equal(np.array([[7], [1], [7]], np.uint64)).rows.tolist()
    [0, 2, 1]
    """
    first = first_equal(words)
    rows = np.argsort(first, kind="stable")
    opens = np.flatnonzero(np.diff(first[rows], prepend=-1))
    return Groups(rows, np.append(opens, len(words)))


def join_distinct(a: Signatures, b: Signatures | None, find: Find, max_pairs: int | None = None) -> Pairs:
    """Collapse equal rows, join what remains with `find`, and write the equal rows out.

    `find(words, split)` joins rows that are distinct within their collection; the second one starts at `split`, and
    with a split of 0 there is only one. More than `max_pairs` are refused. Without a limit, large groups are written as
    stars, and the recall is what it says of the pairs found, less the share that is not written.
    """
    left = _listed(group_equal(a.words), max_pairs)
    if b is None:
        found = find(a.words[left.representatives], 0) if len(left.representatives) > 1 else NO_PAIRS
        assert found is not None, "the rows are distinct"
        pairs = _spread_within(found.a, found.b, left, max_pairs)
    else:
        right = _listed(group_equal(b.words), max_pairs)
        split = len(left.representatives)
        words = np.concatenate([a.words[left.representatives], b.words[right.representatives]])
        found = find(words, split) if len(a) and len(b) else NO_PAIRS
        assert found is not None, "the rows are distinct"
        pairs = _spread_between(found.a, found.b - split, left, right, max_pairs)
    recall = None if found.recall is None or pairs.recall is None else found.recall * pairs.recall
    return replace(pairs, counters={**found.counters, **pairs.counters}, recall=recall)


def _listed(groups: Groups, max_pairs: int | None) -> Groups:
    """Return groups that are written with all of their pairs, where their number is limited otherwise."""
    return groups if max_pairs is None else replace(groups, star=len(groups.rows))


def _spread_within(a: I64, b: I64, groups: Groups, max_pairs: int | None) -> Pairs:
    """Return the pairs of rows that distinct pairs of groups stand for, and those inside the groups."""
    sizes = groups.sizes
    possible = int(np.sum(sizes[a] * sizes[b]) + np.sum(sizes * (sizes - 1) // 2))
    if max_pairs is not None:
        check_pairs(possible, max_pairs)
    between_a, between_b, _ = pairs_between(a, b, groups, groups)
    inside_a, inside_b, _ = pairs_inside(groups)
    left, right = np.concatenate([between_a, inside_a]), np.concatenate([between_b, inside_b])
    return _counted(np.minimum(left, right), np.maximum(left, right), possible, sizes > groups.star)


def _spread_between(a: I64, b: I64, left: Groups, right: Groups, max_pairs: int | None) -> Pairs:
    """Return the pairs of rows that distinct pairs of groups of two collections stand for."""
    possible = int(np.sum(left.sizes[a] * right.sizes[b]))
    if max_pairs is not None:
        check_pairs(possible, max_pairs)
    star = max(left.star, right.star)
    rows_a, rows_b, _ = pairs_between(a, b, replace(left, star=star), right)
    bounded = np.concatenate([left.sizes[np.unique(a)], right.sizes[np.unique(b)]]) > star
    return _counted(rows_a, rows_b, possible, bounded)


def _counted(a: I64, b: I64, possible: int, bounded: Bools) -> Pairs:
    pairs = ordered_pairs(a, b, distinct=False)
    counters = {"bounded_groups": int(np.sum(bounded)), "bounded_pairs": possible - len(pairs)}
    return replace(pairs, counters=counters, recall=len(pairs) / possible if possible else 1.0)
