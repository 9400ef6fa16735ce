"""How two rows are compared: Jaccard, cosine or containment of given pairs, decided exactly at the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from sosie.errors import UsageError
from sosie.kernels.overlap import dot_products
from sosie.kernels.parallel import ordered_map
from sosie.kernels.set_join import Sets
from sosie.matches.sets import rows_of
from sosie.matches.verify import shared_counts, verify_rows
from sosie.types import F64, I64, Bools, Pairs, VerifiedPairs

Measure = Literal["jaccard", "cosine", "containment"]

SPAN = 1 << 13  # pairs that one task multiplies
ROUNDING = 1e-9  # a cosine so close to a bound is compared in integers


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows and the measure that compares them; `weights` (for cosine) stand beside the hashes, None means 1 each.

    Cosine is <a, b> / (|a| |b|), containment is the share of the smaller set that the larger one holds.

    >>> sets = Sets(np.array([1, 2, 3, 4, 2, 3], np.uint64), np.array([0, 4]), np.array([4, 6]))
    >>> for measure in ("jaccard", "cosine", "containment"):
    ...     Comparison(sets, measure).similar(np.array([0]), np.array([1]), Fraction(1, 2)).similarity.round(4).tolist()
    [0.5]
    [0.7071]
    [1.0]
    """

    sets: Sets
    measure: Measure = "jaccard"
    weights: F64 | None = None

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise UsageError(f"measure must be one of {', '.join(get_args(Measure))}, got {self.measure!r}")
        if self.weights is not None and self.measure != "cosine":
            raise UsageError(f"{self.measure} compares sets: weights are for cosine")

    @cached_property
    def sizes(self) -> I64:
        """The number of features of each row."""
        return np.asarray(self.sets.stops - self.sets.starts)

    def of_rows(self, rows: I64) -> Comparison:
        """Return the comparison of some rows, numbered anew."""
        sets = self.sets
        return Comparison(rows_of(sets.hashes, sets.starts[rows], sets.stops[rows]), self.measure, self.weights)

    def similar(self, a: I64, b: I64, least: Fraction, threads: int | None = None) -> VerifiedPairs:
        """Return those of these pairs of rows whose similarity is at least `least`; each shares a feature."""
        if self.measure == "jaccard":
            return verify_rows(self.sets, Pairs(a, b), least, threads)
        shared = shared_counts(self.sets, a, b, Fraction(0), threads)
        products = shared if self.weights is None else self._products(a, b, threads)
        total = np.minimum(self.sizes[a], self.sizes[b]) if self.measure == "containment" else None
        pairs = VerifiedPairs(a, b, self.similarity(products, a, b), shared, total)
        return chosen(pairs, (shared > 0) & self.reaches(pairs, least))

    def similarity(self, products: I64 | F64, a: I64, b: I64) -> F64:
        """Return the similarity of pairs of rows, given the inner products of their weights."""
        if self.measure == "containment":
            return np.asarray(products / np.maximum(np.minimum(self.sizes[a], self.sizes[b]), 1))
        if self.measure == "jaccard":
            return np.asarray(products / np.maximum(self.sizes[a] + self.sizes[b] - products, 1))
        norms = np.sqrt(self._squares(a) * self._squares(b))
        return np.minimum(products / np.where(norms > 0, norms, 1.0), 1.0)

    def reaches(self, pairs: VerifiedPairs, least: Fraction) -> Bools:
        """Whether each similarity is at least `least`: in whole numbers where features count 1 each."""
        p, q = least.numerator, least.denominator
        if pairs.total is not None:
            return np.asarray(pairs.shared * q >= p * pairs.total)
        reached = pairs.similarity >= float(least)
        if self.weights is None:
            close = np.flatnonzero(np.abs(pairs.similarity - float(least)) < ROUNDING)
            shared, a, b = (array[close].astype(object) for array in (pairs.shared, *self._sizes_of(pairs)))
            reached[close] = (shared * q) ** 2 >= p**2 * a * b
        return np.asarray(reached)

    def _sizes_of(self, pairs: VerifiedPairs) -> tuple[I64, I64]:
        return self.sizes[pairs.a], self.sizes[pairs.b]

    def _squares(self, rows: I64) -> F64:
        """Return the squared norms of rows."""
        if self.weights is None:
            return self.sizes[rows].astype(np.float64)
        distinct, place = np.unique(rows, return_inverse=True)
        return self._products(distinct, distinct, 1)[place]

    def _products(self, a: I64, b: I64, threads: int | None) -> F64:
        weights = np.asarray(self.weights).view()
        weights.flags.writeable = False

        def multiply(start: int) -> F64:
            here = slice(start, start + SPAN)
            return np.asarray(dot_products(self.sets.hashes, weights, *self.sets[1:], a[here], b[here]), np.float64)

        return np.concatenate([np.empty(0), *ordered_map(multiply, range(0, len(a), SPAN), threads)])


def chosen(pairs: VerifiedPairs, which: Bools | I64) -> VerifiedPairs:
    """Return some of the pairs, by flag or by place."""
    total = None if pairs.total is None else pairs.total[which]
    return VerifiedPairs(pairs.a[which], pairs.b[which], pairs.similarity[which], pairs.shared[which], total)
