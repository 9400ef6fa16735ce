"""Do two clusterings agree? Counted from the sizes of clusters and of what they share, never pair by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.kernels.sets.cluster import components
from sosie.types import I64, Pairs


@dataclass(frozen=True)
class ClusterAgreement:
    """How many pairs of documents are together: in the truth, in what was found, in both; `pairs` counts all.

    >>> cluster_agreement(np.array([0, 0, 0, 3]), np.array([0, 0, 2, 3]))
    ClusterAgreement(true=3, found=1, both=1, pairs=6)
    """

    true: int
    found: int
    both: int
    pairs: int

    @property
    def recall(self) -> float:
        """The share of the pairs together in the truth that were found together; 1 where there are none."""
        return self.both / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """The share of the pairs found together that are together in the truth; 1 where there are none."""
        return self.both / self.found if self.found else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return 2 * self.both / (self.true + self.found) if self.true + self.found else 1.0

    @property
    def adjusted_rand(self) -> float:
        """The Rand index less what chance explains (Hubert and Arabie 1985): 1 if equal, about 0 if unrelated."""
        # (both - expected) / (mean - expected) with expected = true * found / pairs, in whole numbers
        chance = 2 * self.true * self.found
        most = (self.true + self.found) * self.pairs
        return (2 * self.both * self.pairs - chance) / (most - chance) if most != chance else 1.0


def cluster_agreement(true: I64, found: I64, documents: int | None = None) -> ClusterAgreement:
    """Compare two clusterings given as one label (from 0 on, below 2^31) per document.

    `documents` is their number if some that stand alone in both have no label.
    """
    count = len(true) if documents is None else documents
    cells = np.unique(true << 32 | found, return_counts=True)[1]
    return ClusterAgreement(
        _together(np.bincount(true)), _together(np.bincount(found)), _together(cells), _choose(count)
    )


def connected(pairs: Pairs, documents: int) -> I64:
    """Return a label for each document: those that a chain of pairs connects have the same.

    >>> connected(Pairs(np.array([0, 3]), np.array([1, 1])), 4).tolist()
    [0, 0, 2, 0]
    """
    labels = np.empty(documents, np.int64)
    components(pairs.a, pairs.b, labels)
    return labels


def _together(sizes: I64) -> int:
    """Return the number of pairs inside clusters of these sizes."""
    return sum(_choose(size) * count for size, count in zip(*_counted(sizes), strict=True))


def _counted(sizes: I64) -> tuple[list[int], list[int]]:
    distinct, counts = np.unique(sizes, return_counts=True)
    return distinct.tolist(), counts.tolist()


def _choose(count: int) -> int:
    return count * (count - 1) // 2
