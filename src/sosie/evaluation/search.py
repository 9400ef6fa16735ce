"""Exact search: some rows, the probes, are compared with all rows; nothing is bounded as in a join.

features of the probes, inverted -> rows that have one of them -> rows x features x probes, a sparse product
-> pairs near enough -> whatever is wanted of them, piece by piece, so that no list of all pairs is ever held
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from sosie.evaluation.compare import ROUNDING, Comparison
from sosie.kernels.parallel import ordered_map, spans
from sosie.kernels.set_join import Sets
from sosie.kernels.sought import sought_places
from sosie.matches.groups import spread
from sosie.types import F64, I32, I64, U64, Bools, VerifiedPairs

T = TypeVar("T")

SPAN = 1 << 18  # features that one task looks up
CANDIDATES = 1 << 22  # common features of pairs that one task looks at at a time
FILTER_BITS = 20  # of a table that says no for almost every feature that is not wanted


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

    >>> sets = Sets(np.array([1, 2, 1, 2, 3, 9], np.uint64), np.array([0, 2, 5]), np.array([2, 5, 6]))
    >>> list(search(Comparison(sets), np.array([1]), Fraction(1, 2), lambda pairs: pairs.b.tolist()))
    [[0]]
    """
    sought = _sought(compared, probes, least)

    def of_span(span: tuple[int, int]) -> list[T]:
        found = (_near(compared, least, *piece) for piece in _products(compared, probes, sought, *span))
        return [summarise(pairs) for pairs in found]

    if len(sought.features):
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(compared.sizes)])
        for part in ordered_map(of_span, spans(ends, SPAN), threads):
            yield from part


@dataclass(frozen=True, eq=False)
class _Sought:
    """The features to look for, sorted; a filter of them; and the weight that each has in each probe, CSR."""

    features: U64
    maybe: Bools
    lists: Any

    def occurrences(self, sets: Sets, low: int, high: int) -> tuple[I64, I64, I64]:
        """Return where in the rows from low to high a sought feature stands, in which row, and which one it is."""
        starts, stops = sets.starts[low:high], sets.stops[low:high]
        at, row = sought_places(sets.hashes, starts, stops, self.maybe, 64 - FILTER_BITS)
        hashes = sets.hashes[at]
        which = np.minimum(np.searchsorted(self.features, hashes), len(self.features) - 1)
        real = self.features[which] == hashes
        return at[real], low + row[real], which[real]


def _sought(compared: Comparison, probes: I64, least: Fraction) -> _Sought:
    """Invert the features of the probes.

    For Jaccard, any |x| - ceil(t |x|) + 1 features of a set x will do: a set that has none of them shares too few.
    Those that are rarest among the probes are taken, so that what all documents share is not looked for.
    """
    sets, sizes = compared.sets, compared.sizes[probes]
    at = spread(sets.starts[probes], sizes)
    hashes, owner = sets.hashes[at], np.repeat(np.arange(len(probes)), sizes)
    if compared.measure == "jaccard":
        _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        order = np.lexsort((hashes, counts[inverse], owner))
        place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        enough = sizes - -(-least.numerator * sizes // least.denominator) + 1
        taken = order[place < enough[owner[order]]]
        at, hashes, owner = at[taken], hashes[taken], owner[taken]
    features, which = np.unique(hashes, return_inverse=True)
    maybe = np.zeros(1 << FILTER_BITS, np.bool_)
    maybe[features >> np.uint64(64 - FILTER_BITS)] = True
    return _Sought(features, maybe, csr_array((_values(compared, at), (which, owner)), (len(features), len(probes))))


def _products(
    compared: Comparison, probes: I64, sought: _Sought, low: int, high: int
) -> Iterator[tuple[Any, I64, I64]]:
    """Yield, for the rows from low to high in pieces: inner products, the probes and the rows that they are of."""
    at, row, which = sought.occurrences(compared.sets, low, high)
    steps = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(sought.lists.indptr)[which])])
    for begin, end in _whole_rows(row, steps):
        rows, place = np.unique(row[begin:end], return_inverse=True)
        values = _values(compared, at[begin:end])
        held = csr_array((values, (place, which[begin:end])), (len(rows), len(sought.features)))
        both = held @ sought.lists
        yield both.data, probes[both.indices], np.repeat(rows, np.diff(both.indptr))


def _near(compared: Comparison, least: Fraction, products: Any, probe: I64, row: I64) -> VerifiedPairs:
    """Return the pairs near enough; for Jaccard the products are of some features only and say nothing yet."""
    possible = probe != row
    if compared.measure != "jaccard":
        possible &= compared.similarity(products, probe, row) >= float(least) - ROUNDING
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


def _values(compared: Comparison, at: I64) -> I32 | F64:
    """Return the weights of the features at these places."""
    return np.ones(len(at), np.int32) if compared.weights is None else compared.weights[at]
