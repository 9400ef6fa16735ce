"""Clusters of verified pairs: anchored ones, and those that chains connect.

*Anchored*: every dropped document is verified against the one that stays. In keep order, a document similar to no kept
one is kept; any other joins its most similar kept one. *Transitive*, on request: whatever a chain of verified pairs
connects. A chain can connect documents that are not similar at all; the similarity to the kept one is computed and
reported.
"""

from __future__ import annotations

import numpy as np

from sosie.kernels.sets.cluster import assign_anchors, components
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.groups import Groups
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.matches.verify import similarities
from sosie.types import Clusters, VerifiedPairs, offsets_of


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


def of_rows(clusters: Clusters, groups: Groups, rows: int) -> Clusters:
    """Return the clusters of rows from those of groups of equal ones; a row in no group stays.

    >>> groups = Groups(np.array([2, 0]), np.array([0, 2]))
    >>> of_rows(Clusters(np.array([0]), np.ones(1)), groups, 3).anchor.tolist()
    [2, 1, 2]
    """
    spread = Clusters(np.arange(rows), np.ones(rows))
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    spread.anchor[groups.rows] = groups.representatives[clusters.anchor[group]]
    spread.similarity[groups.rows] = clusters.similarity[group]
    return spread
