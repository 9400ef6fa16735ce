"""Exact search: some rows, the probes, are compared with all rows; nothing is bounded as in a join.

features of the probes, inverted -> rows that have one of them -> rows x features x probes, a sparse product
-> pairs near enough -> whatever is wanted of them, piece by piece, so that no list of all pairs is ever held
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from sosie.evaluation.compare import ROUNDING, Comparison
from sosie.evaluation.sought import Sought, row_spans, sought, weights_at
from sosie.parallel import ordered_map
from sosie.types import I64, VerifiedPairs, offsets_of

T = TypeVar("T")

CANDIDATES = 1 << 22  # common features of pairs that one task looks at at a time


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

    >>> from sosie.kernels.sets.set_join import Sets
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


def _products(compared: Comparison, probes: I64, wanted: Sought, low: int, high: int) -> Iterator[tuple[Any, I64, I64]]:
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
