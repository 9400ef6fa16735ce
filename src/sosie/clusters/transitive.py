"""Transitive clusters: whatever a chain of verified pairs connects, on request.

A chain can connect documents that are not similar at all; the similarity to the kept one is computed and reported.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sosie.kernels.cluster import components
from sosie.kernels.set_join import Sets
from sosie.matches.verify import shared_counts
from sosie.types import Clusters, VerifiedPairs


def transitive(sets: Sets, pairs: VerifiedPairs, threads: int | None = None) -> Clusters:
    """Cluster the rows of sets, numbered in keep order, by the connected components of their verified pairs."""
    anchor = np.empty(len(sets.starts), np.int64)
    components(pairs.a, pairs.b, anchor)
    gone = np.flatnonzero(anchor != np.arange(len(anchor)))
    shared = shared_counts(sets, gone, anchor[gone], Fraction(0), threads)
    sizes = sets.stops - sets.starts
    similarity = np.ones(len(anchor))
    similarity[gone] = shared / (sizes[gone] + sizes[anchor[gone]] - shared)
    return Clusters(anchor, similarity)
