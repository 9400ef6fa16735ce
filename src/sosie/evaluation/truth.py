"""Found pairs and clusters against known ones: recall, precision and what clusterings share, counted from sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.evaluation.result import Numbering, Result, numbered_ids
from sosie.kernels.sets.cluster import components
from sosie.types import I64, Pairs, VerifiedPairs


@dataclass(frozen=True)
class Agreement:
    """How many of the true pairs were found, and how many of the found ones are true."""

    true: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        """The share of the true pairs that were found; 1 where there are none."""
        return self.right / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """The share of the found pairs that are true; 1 where none was found."""
        return self.right / self.found if self.found else 1.0


def agreement(found: Pairs | VerifiedPairs, true: Pairs | VerifiedPairs) -> Agreement:
    """Compare found pairs with the true ones.

    >>> one, two = Pairs(np.array([0]), np.array([1])), Pairs(np.array([0, 0]), np.array([1, 2]))
    >>> agreement(one, two).recall, agreement(one, two).precision
    (0.5, 1.0)
    """
    right = np.intersect1d(_packed(found.a, found.b), _packed(true.a, true.b), assume_unique=True)
    return Agreement(len(true), len(found), len(right))


@dataclass(frozen=True)
class ClusterAgreement(Agreement):
    """The same of pairs of documents that are together: in the truth, in what was found, in both; `pairs` counts all.

    >>> cluster_agreement(np.array([0, 0, 0, 3]), np.array([0, 0, 2, 3]))
    ClusterAgreement(true=3, found=1, right=1, pairs=6)
    """

    pairs: int

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return 2 * self.right / (self.true + self.found) if self.true + self.found else 1.0

    @property
    def adjusted_rand(self) -> float:
        """The Rand index less what chance explains (Hubert and Arabie 1985): 1 if equal, about 0 if unrelated."""
        # (right - expected) / (mean - expected) with expected = true * found / pairs, in whole numbers
        chance = 2 * self.true * self.found
        most = (self.true + self.found) * self.pairs
        return (2 * self.right * self.pairs - chance) / (most - chance) if most != chance else 1.0


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


@dataclass(frozen=True)
class TruthAgreement:
    """How a result agrees with a truth: its pairs and, for a de-duplication, its clusters.

    Of the truth, `repeated` pairs were given before (in either order) and `selves` pair an id with itself; neither
    counts. `checked` says whether the ids were looked up among the documents.
    """

    pairs: Agreement
    clusters: ClusterAgreement | None
    repeated: int
    selves: int
    checked: bool


def compare_with_truth(
    result: Result, truth: Any, numbering: Numbering | None = None, documents: int | None = None
) -> TruthAgreement:
    """Compare a result with true pairs, a table of ids a, b. Pairs of one collection have no order.

    `numbering` knows the ids of all documents: others in the truth are an error. Without it, ids are not checked.
    `documents` is how many could be used, by default those of the numbering, or else of the report.
    The true clusters are what the true pairs connect.
    """
    known = numbering
    if known is None:
        clustered = [] if result.clusters is None else [result.clusters["id"]]
        known = numbered_ids(result.pairs["a"], result.pairs["b"], truth["a"], truth["b"], *clustered)
    found, _, _ = _distinct(result.pairs, known, str(result.path), result.across)
    true, repeated, selves = _distinct(truth, known, "the truth", result.across)
    clusters = None
    if result.clusters is not None:
        counts = result.report.get("counts", {})
        usable = len(known) if numbering is not None else counts.get("documents", 0) - counts.get("rejected", 0)
        total = max(usable if documents is None else documents, 1)
        labels = np.arange(len(known))
        members = known.of(result.clusters["id"], str(result.path))
        # any number of a member that no other cluster has: the k-th member stands for the k-th cluster
        labels[members] = members[np.unique(result.clusters["cluster"].to_numpy(), return_inverse=True)[1]]
        clusters = cluster_agreement(connected(true, len(known)), labels, total)
    return TruthAgreement(agreement(found, true), clusters, repeated, selves, numbering is not None)


def _distinct(table: Any, numbering: Numbering, owner: str, across: bool) -> tuple[Pairs, int, int]:
    """Return pairs of ids as distinct pairs of documents; how many were repeated, and how many were of one document.

    With `across`, b is of another collection: its documents have numbers of their own.
    """
    a, b = np.split(numbering.of(pa.chunked_array([*table["a"].chunks, *table["b"].chunks], table["a"].type), owner), 2)
    b = b + len(numbering) if across else b
    two = a != b
    packed = np.unique(_packed(a[two], b[two]))
    return Pairs(packed >> 32, packed & 0xFFFFFFFF), int(two.sum()) - len(packed), int((~two).sum())


def _packed(a: I64, b: I64) -> I64:
    return np.minimum(a, b) << 32 | np.maximum(a, b)


def _together(sizes: I64) -> int:
    """Return the number of pairs inside clusters of these sizes."""
    return sum(_choose(size) * count for size, count in zip(*_counted(sizes), strict=True))


def _counted(sizes: I64) -> tuple[list[int], list[int]]:
    distinct, counts = np.unique(sizes, return_counts=True)
    return distinct.tolist(), counts.tolist()


def _choose(count: int) -> int:
    return count * (count - 1) // 2
