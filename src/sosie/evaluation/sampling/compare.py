"""How two rows are compared: Jaccard, cosine or containment of given pairs, decided exactly at the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sosie.kernels.sets.similarity import Sets, WeighedSets
from sosie.matches.sets.rows import rows_of, weighed_sets
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.matches.sets.threshold import cosine_reaches, criterion_of, rounded_reaches, share_reaches
from sosie.matches.verify import measured, total_of
from sosie.types import F64, I64, Bools, VerifiedPairs


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows, and the similarity by which they are compared.

    >>> sets = Sets(np.array([1, 2, 3, 4, 2, 3], np.uint64), np.array([0, 4]), np.array([4, 6]))
    >>> for measure in ("jaccard", "cosine", "containment"):
    ...     compared = Comparison(sets, Similarity(measure))
    ...     compared.similar(np.array([0]), np.array([1]), Fraction(1, 2)).similarity.round(4).tolist()
    [0.5]
    [0.7071]
    [1.0]
    """

    sets: Sets
    by: Similarity = JACCARD

    @cached_property
    def sizes(self) -> I64:
        """The number of features of each row."""
        return np.asarray(self.sets.stops - self.sets.starts)

    @cached_property
    def _rows(self) -> WeighedSets:
        return weighed_sets(self.sets, self.by)

    def of_rows(self, rows: I64) -> Comparison:
        """Return the comparison of some rows, numbered anew."""
        sets = self.sets
        return Comparison(rows_of(sets.hashes, sets.starts[rows], sets.stops[rows]), self.by)

    def similar(self, a: I64, b: I64, least: Fraction, threads: int | None = None) -> VerifiedPairs:
        """Return those of these pairs of rows whose similarity is at least `least`; each shares a feature."""
        similarity, shared = measured(self._rows, criterion_of(self.by, least), a, b, threads)
        total = total_of(self.by.measure, self.sizes[a], self.sizes[b], shared)
        return VerifiedPairs(a, b, similarity, shared, total).take(shared > 0)

    def similarity(self, products: I64 | F64, a: I64, b: I64) -> F64:
        """Return the similarity of pairs of rows, given the inner products of their weights."""
        if self.by.measure == "containment":
            return np.asarray(products / np.maximum(np.minimum(self.sizes[a], self.sizes[b]), 1))
        if self.by.measure == "jaccard":
            return np.asarray(products / np.maximum(self.sizes[a] + self.sizes[b] - products, 1))
        norms = np.sqrt(self._rows.norms[a] * self._rows.norms[b])
        return np.minimum(products / np.where(norms > 0, norms, 1.0), 1.0)

    def reaches(self, pairs: VerifiedPairs, least: Fraction) -> Bools:
        """Whether the similarity of each of these pairs, as they were measured, is at least `least`."""
        if pairs.total is not None:
            return share_reaches(pairs.shared, pairs.total, least)
        if self.by.weights is None:
            return cosine_reaches(pairs.similarity, pairs.shared, self.sizes[pairs.a], self.sizes[pairs.b], least)
        return rounded_reaches(pairs.similarity, least)
