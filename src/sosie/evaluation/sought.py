"""What a search looks for: the features of some rows, the probes, inverted; for Jaccard only the rarest of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sosie.evaluation.compare import Comparison
from sosie.kernels.sets.set_join import Sets
from sosie.kernels.sets.sought import sought_places
from sosie.matches.groups import spread
from sosie.parallel import spans
from sosie.types import F64, I32, I64, U64, Bools, offsets_of

SPAN = 1 << 18  # features that one task looks up
COUNTED = 1 << 21  # features that are enough to tell which ones are rare
FILTER_BITS = 20  # of a table that says no for almost every feature that is not sought


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
class Sought:
    """The features of probes, and the weight that each has in each probe (CSR).

    `steps` says for each probe about how many features of other rows a search has to look at.
    """

    table: FeatureTable
    lists: Any
    steps: I64


def sought(compared: Comparison, probes: I64, least: Fraction) -> Sought:
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
    return Sought(table, lists, np.bincount(owner, frequency, len(probes)).astype(np.int64))


def row_spans(compared: Comparison) -> list[tuple[int, int]]:
    """Cut the rows into spans that one task looks at."""
    return spans(offsets_of(compared.sizes), SPAN)


def weights_at(compared: Comparison, at: I64) -> I32 | F64:
    """Return the weights of the features at these places."""
    return np.ones(len(at), np.int32) if compared.by.weights is None else compared.by.weights[at]


def _table(hashes: U64) -> tuple[FeatureTable, I64]:
    features, which = np.unique(hashes, return_inverse=True)
    return FeatureTable(features), which
