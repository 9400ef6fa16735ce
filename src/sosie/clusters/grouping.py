"""Clusters of verified pairs: anchored ones, those that chains connect, and a second look where a join was bounded.

*Anchored*: every dropped document is verified against the one that stays. In keep order, a document similar to no kept
one is kept; any other joins its most similar kept one. *Transitive*, on request: whatever a chain of verified pairs
connects. A chain can connect documents that are not similar at all; the similarity to the kept one is computed and
reported.

A *second look*: where not all pairs were compared, a kept document can be similar to a dropped one and, unseen, to the
one that stays in its place. And where chains of pairs connect several kept documents, all on the chains may be similar
to the first, which stays in any case. Those are the likeliest of the pairs left out, so they are verified before
clusters are final.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sosie.kernels.sets.cluster import assign_anchors, components
from sosie.kernels.sets.similarity import Sets
from sosie.matches.order import merged, ordered_pairs
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.matches.verify import similarities, verify_rows
from sosie.types import I64, Bools, Clusters, VerifiedPairs, offsets_of


def anchored(count: int, pairs: VerifiedPairs) -> Clusters:
    """Cluster items 0..count, numbered in keep order, by their verified pairs (a < b).

    >>> pairs = VerifiedPairs(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8]), np.array([9, 8]))
    >>> anchored(3, pairs).anchor.tolist()  # 1 joins 0; 2 is similar only to 1, which goes, so it stays
    [0, 0, 2]
    """
    by_later = np.argsort(pairs.b, kind="stable")
    offsets = offsets_of(np.bincount(pairs.b, minlength=count))
    anchor, similarity = np.empty(count, np.int64), np.empty(count, np.float64)
    assign_anchors(offsets, pairs.a[by_later], pairs.similarity[by_later], anchor, similarity)
    return Clusters(anchor, similarity)


def transitive(
    sets: Sets, pairs: VerifiedPairs, threads: int | None = None, similarity: Similarity = JACCARD
) -> Clusters:
    """Cluster the rows of sets, numbered in keep order, by the connected components of their verified pairs."""
    anchor = np.empty(len(sets.starts), np.int64)
    components(pairs.a, pairs.b, anchor)
    gone = np.flatnonzero(anchor != np.arange(len(anchor)))
    to_anchor = np.ones(len(anchor))
    to_anchor[gone] = similarities(sets, gone, anchor[gone], similarity, threads)
    return Clusters(anchor, to_anchor)


def second_look(
    sets: Sets,
    pairs: VerifiedPairs,
    clusters: Clusters,
    threshold: Fraction,
    threads: int | None = None,
    similarity: Similarity = JACCARD,
) -> VerifiedPairs:
    """Return the pairs, and those of kept rows with the anchors of dropped ones, and of connected rows with the first.

    >>> sets = Sets(np.array([1, 2, 3, 1, 2, 3, 1, 2, 3], np.uint64), np.array([0, 3, 6]), np.array([3, 6, 9]))
    >>> ones = np.ones(2)
    >>> pairs = VerifiedPairs(np.array([0, 1]), np.array([1, 2]), ones, ones, ones)  # 0 and 2 were not compared
    >>> found = second_look(sets, pairs, Clusters(np.array([0, 0, 2]), np.ones(3)), Fraction(1, 2))
    >>> list(zip(found.a.tolist(), found.b.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    kept = clusters.kept
    one_stays = np.flatnonzero(kept[pairs.a] != kept[pairs.b])
    a, b = pairs.a[one_stays], pairs.b[one_stays]
    rows, first = _connected(pairs, kept)
    stays = np.concatenate([np.where(kept[a], a, b), rows])
    other = np.concatenate([clusters.anchor[np.where(kept[a], b, a)], first])
    apart = np.flatnonzero(stays != other)
    if not len(apart):
        return pairs
    low, high = np.minimum(stays, other)[apart], np.maximum(stays, other)[apart]
    new = np.flatnonzero(~np.isin(low << 32 | high, pairs.a << 32 | pairs.b))
    unseen = ordered_pairs(low[new], high[new], distinct=False)
    found = verify_rows(sets, unseen, threshold, threads, similarity=similarity)
    return merged(pairs, found) if len(found) else pairs


def _connected(pairs: VerifiedPairs, kept: Bools) -> tuple[I64, I64]:
    """Return the rows that pairs connect with several kept ones, but for the first of them, and that first one."""
    first = np.empty(len(kept), np.int64)
    components(pairs.a, pairs.b, first)
    follows = first != np.arange(len(first))
    several = np.zeros(len(kept), np.bool_)
    several[first[kept & follows]] = True
    rows = np.flatnonzero(follows & several[first])
    return rows, first[rows]
