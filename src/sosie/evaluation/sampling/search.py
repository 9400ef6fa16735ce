"""Exact search: some rows, the probes, are compared with all rows; nothing is bounded as in a join.

features of the probes, inverted -> rows that have one of them -> rows x features x probes, a sparse product
-> pairs near enough -> whatever is wanted of them, piece by piece, so that no list of all pairs is ever held
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from sosie.evaluation.sampling.compare import Comparison
from sosie.kernels.sets.counts import sought_places
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.groups import spread
from sosie.matches.sets.threshold import CLOSE
from sosie.parallel import ordered_map, spans
from sosie.types import F64, I32, I64, U64, Bools, VerifiedPairs, offsets_of

T = TypeVar("T")

CANDIDATES = 1 << 22  # common features of pairs that one task looks at at a time
SPAN = 1 << 18  # features that one task looks up
COUNTED = 1 << 21  # features that are enough to tell which ones are rare
FILTER_BITS = 20  # of a table that says no for almost every feature that is not sought


def search(
    compared: Comparison,
    probes: I64,
    least: Fraction,
    summarise: Callable[[VerifiedPairs], T],
    threads: int | None = None,
) -> Iterator[T]:
    """Yield a summary of each piece of the pairs whose similarity is at least `least`, none of a row with itself.

    In a pair, `a` is the probe. Which pairs make a piece does not depend on the threads; a pair of two probes is found
    from both.

    >>> from sosie.kernels.sets.similarity import Sets
    >>> sets = Sets(np.array([1, 2, 1, 2, 3, 9], np.uint64), np.array([0, 2, 5]), np.array([2, 5, 6]))
    >>> list(search(Comparison(sets), np.array([1]), Fraction(1, 2), lambda pairs: pairs.b.tolist()))
    [[0]]
    """
    wanted = sought(compared, probes, least)

    def of_span(span: tuple[int, int]) -> list[T]:
        found = (_near(compared, least, *piece) for piece in _products(compared, probes, wanted, *span))
        return [summarise(pairs) for pairs in found]

    if len(wanted.table.features):
        for part in ordered_map(of_span, row_spans(compared), threads):
            yield from part


def _products(
    compared: Comparison, probes: I64, wanted: SoughtFeatures, low: int, high: int
) -> Iterator[tuple[Any, I64, I64]]:
    """Yield, for the rows from low to high in pieces: inner products, the probes and the rows that they are of."""
    at, row, which = wanted.table.occurrences(compared.sets, low, high)
    steps = offsets_of(np.diff(wanted.lists.indptr)[which])
    for begin, end in _whole_rows(row, steps):
        rows, place = np.unique(row[begin:end], return_inverse=True)
        values = weights_at(compared, at[begin:end])
        held = csr_array((values, (place, which[begin:end])), (len(rows), wanted.lists.shape[0]))
        both = held @ wanted.lists
        yield both.data, probes[both.indices], np.repeat(rows, np.diff(both.indptr))


def _near(compared: Comparison, least: Fraction, products: Any, probe: I64, row: I64) -> VerifiedPairs:
    """Return the pairs near enough; for Jaccard the products are of some features only and say nothing yet."""
    possible = probe != row
    if compared.by.measure != "jaccard":
        possible &= compared.similarity(products, probe, row) >= float(least) - CLOSE
    return compared.similar(probe[possible], row[possible], least, 1)


def _whole_rows(row: I64, steps: I64) -> Iterator[tuple[int, int]]:
    """Cut hits, in order of their rows, into pieces of about CANDIDATES steps that end where a row ends."""
    begin = 0
    while begin < len(row):
        end = int(np.searchsorted(steps, steps[begin] + CANDIDATES, side="left"))
        end = min(max(end, begin + 1), len(row))
        end = int(np.searchsorted(row, row[end - 1], side="right"))
        yield begin, end
        begin = end


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features to look up, sorted and distinct."""

    features: U64

    @cached_property
    def _maybe(self) -> Bools:
        """Which leading bits a feature of the table has."""
        maybe = np.zeros(1 << FILTER_BITS, np.bool_)
        maybe[self.features >> np.uint64(64 - FILTER_BITS)] = True
        return maybe

    def occurrences(self, sets: Sets, low: int, high: int) -> tuple[I64, I64, I64]:
        """Return where in the rows from low to high one of the features stands, in which row, and which one it is."""
        starts, stops = sets.starts[low:high], sets.stops[low:high]
        at, row = sought_places(sets.hashes, starts, stops, self._maybe, 64 - FILTER_BITS)
        hashes = sets.hashes[at]
        which = np.minimum(np.searchsorted(self.features, hashes), len(self.features) - 1)
        real = self.features[which] == hashes
        return at[real], low + row[real], which[real]

    def frequencies(self, compared: Comparison) -> I64:
        """Return about how many rows have each of the features: exactly in a small collection, else from every nth."""
        every = int(compared.sizes.sum()) // COUNTED + 1
        some = compared.of_rows(np.arange(0, len(compared.sizes), every))
        if not len(self.features):
            return np.empty(0, np.int64)
        found = self.occurrences(some.sets, 0, len(some.sizes))[2]
        return every * np.bincount(found, minlength=len(self.features))


@dataclass(frozen=True, eq=False)
class SoughtFeatures:
    """The features of probes, and the weight that each has in each probe (CSR).

    `steps` says for each probe about how many features of other rows a search has to look at.
    """

    table: FeatureTable
    lists: Any
    steps: I64


def sought(compared: Comparison, probes: I64, least: Fraction) -> SoughtFeatures:
    """Invert the features of the probes that every row with a similarity of at least `least` has one of.

    For Jaccard, any |x| - ceil(t |x|) + 1 features of a set x will do: a set that has none of them shares too few. The
    rarest ones are taken, so that what all documents share is not looked for; any others would do as well.
    """
    sets, sizes = compared.sets, compared.sizes[probes]
    at = spread(sets.starts[probes], sizes)
    owner = np.repeat(np.arange(len(probes)), sizes)
    table, which = _table(sets.hashes[at])
    frequency = table.frequencies(compared)
    if compared.by.measure == "jaccard":
        order = np.lexsort((which, frequency[which], owner))
        place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        enough = sizes - -(-least.numerator * sizes // least.denominator) + 1
        taken = order[place < enough[owner[order]]]
        at, owner, frequency = at[taken], owner[taken], frequency[which[taken]]
        table, which = _table(sets.hashes[at])
    else:
        frequency = frequency[which]
    lists = csr_array((weights_at(compared, at), (which, owner)), (len(table.features), len(probes)))
    return SoughtFeatures(table, lists, np.bincount(owner, frequency, len(probes)).astype(np.int64))


def row_spans(compared: Comparison) -> list[tuple[int, int]]:
    """Cut the rows into spans that one task looks at."""
    return spans(offsets_of(compared.sizes), SPAN)


def weights_at(compared: Comparison, at: I64) -> I32 | F64:
    """Return the weights of the features at these places."""
    return np.ones(len(at), np.int32) if compared.by.weights is None else compared.by.weights[at]


def _table(hashes: U64) -> tuple[FeatureTable, I64]:
    features, which = np.unique(hashes, return_inverse=True)
    return FeatureTable(features), which
