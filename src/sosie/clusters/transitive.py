"""Transitive clusters: whatever a chain of verified pairs connects, on request.

A chain can connect documents that are not similar at all; the similarity to the kept one is computed and reported.
"""

from __future__ import annotations

import numpy as np

from sosie.kernels.sets.cluster import components
from sosie.kernels.sets.set_join import Sets
from sosie.matches.measured import similarities
from sosie.matches.similarity import JACCARD, Similarity
from sosie.types import Clusters, VerifiedPairs


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
