"""Verified pairs completed by those of dense lists: by all of them, or in a crowded collection by those that decide.

Which rows stay, and which of them are connected, is the same in both cases; what is bounded is the list of pairs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from sosie.kernels.sets.cluster import components
from sosie.kernels.sets.similarity import Sets
from sosie.matches.order import merged, ordered_pairs
from sosie.matches.sets.dense import DenseJoin, DenseLists
from sosie.matches.sets.partitions import listed_at_most
from sosie.matches.sets.rows import weighed_sets
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sets.threshold import criterion_of
from sosie.matches.sides import Sides
from sosie.matches.verify import verify_rows
from sosie.types import I64, U64, Bools, VerifiedPairs, offsets_of


def complete(
    sets: Sets,
    similarity: Similarity,
    threshold: Fraction,
    verified: VerifiedPairs,
    dense: DenseLists,
    sides: Sides,
    *,
    connected: bool = False,
    collection: int | None = None,
    threads: int | None = None,
) -> VerifiedPairs:
    """Return verified pairs of rows in keep order, and those of dense lists.

    The rows are those of a `collection` of so many, where they are not all of it.

    Where these are more than anyone can look at, they are the pairs with a row that stays: for each row at most some,
    the most similar one among them. With `connected`, there are enough others to tell whom chains of pairs connect. The
    counters then say in how many lists that was so and about how many pairs are not among them; no recall is stated.
    """
    rows, criterion = weighed_sets(sets, similarity), criterion_of(similarity, threshold)
    reference = int(np.count_nonzero(sides.reference))
    join = DenseJoin(dense, rows, criterion, threads, reference=reference, only=sides.only)
    a, b, every = join.sampled_pairs()
    crowded = len(verified) + every * len(a) > listed_at_most(collection or len(sets.starts))

    def add(known: VerifiedPairs, a: I64, b: I64) -> VerifiedPairs:
        found = ordered_pairs(a, b, distinct=False)
        pairs = found.take(~_among(_packed(found.a, found.b), known))
        return merged(known, verify_rows(sets, pairs, threshold, threads, similarity=similarity))

    if not crowded:
        if every > 1:
            a, b = join.all_pairs()
        return _counted(add(verified, a, b), join, lists=0, unlisted=0)
    sample = _packed(a, b)
    deciding = sides.deciding(verified)
    by_later = np.argsort(deciding.b, kind="stable")
    offsets = offsets_of(np.bincount(deciding.b, minlength=len(sets.starts)))
    found = add(verified, *join.deciding_pairs(len(sets.starts), offsets, deciding.a[by_later]))
    if connected:
        component = np.empty(len(sets.starts), np.int64)
        chains = sides.deciding(found)
        components(chains.a, chains.b, component)
        found = add(found, *join.connecting_pairs(component))
    unlisted = every * int(np.count_nonzero(~_among(sample, found)))
    return replace(_counted(found, join, lists=len(dense), unlisted=unlisted), recall=None)


def _counted(pairs: VerifiedPairs, join: DenseJoin, lists: int, unlisted: int) -> VerifiedPairs:
    comparisons = pairs.counters["comparisons"] + join.measured
    counters = {"comparisons": comparisons, "bounded_lists": lists, "unlisted_pairs": unlisted}
    if collisions := pairs.counters.get("collisions", 0) + join.collided:
        counters["collisions"] = collisions
    return replace(pairs, counters={**pairs.counters, **counters})


def _among(packed: U64, pairs: VerifiedPairs) -> Bools:
    """Whether packed pairs are among others, which are ordered."""
    if not len(pairs):
        return np.zeros(len(packed), np.bool_)
    known = _packed(pairs.a, pairs.b)
    return np.asarray(known[np.minimum(np.searchsorted(known, packed), len(known) - 1)] == packed)


def _packed(a: I64, b: I64) -> U64:
    return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
