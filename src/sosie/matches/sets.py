"""The exact set-similarity join: every pair with Jaccard >= threshold, by prefix filter (Xiao et al., PPJoin).

document frequencies -> each document's rarest features -> postings in partitions -> pairs
-> dense lists -> leaders
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sosie.kernels.sets.rarity import rarest_prefixes
from sosie.kernels.sets.set_join import Bounds, Prefixes, Sets, join_postings
from sosie.matches.dense import link_dense
from sosie.matches.order import ordered_pairs
from sosie.matches.partitions import (
    concatenated,
    count_frequencies,
    feature_spans,
    join_partitions,
    partition_postings,
    sorted_partition,
)
from sosie.matches.similarity import as_fraction
from sosie.parallel import ordered_map
from sosie.types import I64, U64, Features, Pairs, offsets_of


def join_sets(
    features: Features,
    other: Features | None = None,
    *,
    threshold: float | str | Fraction,
    threads: int | None = None,
) -> Pairs:
    """Return every pair of documents whose feature sets have a Jaccard similarity of at least the threshold.

    >>> sets = Features(np.array([1, 2, 3, 4, 1, 2, 3, 5, 8], np.uint64), np.array([0, 4, 8, 9]))
    >>> pairs = join_sets(sets, threshold=0.6)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([0], [1])
    """
    if other is not None and not (len(features) and len(other)):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    sets, split = sets_of(features, other)
    return join_rows(sets, threshold, threads, split=split)


def sets_of(features: Features, other: Features | None = None) -> tuple[Sets, int]:
    """Return the rows of one or two collections in one array, and where the second one starts (0 if there is none)."""
    if other is None:
        return rows_of(features.hashes, features.offsets[:-1], features.offsets[1:]), 0
    shifted = other.offsets + len(features.hashes)
    both = rows_of(
        np.concatenate([features.hashes, other.hashes]),
        np.concatenate([features.offsets[:-1], shifted[:-1]]),
        np.concatenate([features.offsets[1:], shifted[1:]]),
    )
    return both, len(features)


def rows_of(hashes: U64, starts: I64, stops: I64) -> Sets:
    """Return rows of features that lie anywhere in one array; read-only, so that kernels are compiled once."""
    sets = Sets(np.asarray(hashes).view(), starts.view(), stops.view())
    for array in sets:
        array.flags.writeable = False
    return sets


def join_rows(sets: Sets, threshold: float | str | Fraction, threads: int | None = None, *, split: int = 0) -> Pairs:
    """Join rows of features that may lie anywhere in one array; rows from `split` on are the second collection."""
    fraction = as_fraction(threshold)
    bounds = Bounds(fraction.numerator, fraction.denominator, split)
    prefixes = _prefixes(sets, fraction, threads)
    partitions, postings = partition_postings(prefixes.tokens, prefixes.offsets, threads)

    def join(partition: slice, dense: int) -> tuple[I64, I64, I64, I64, int]:
        return join_postings(sets, prefixes, bounds, dense, sorted_partition(postings, partition))

    joined = join_partitions(join, partitions, len(sets.starts), threads)
    ends, members = concatenated([part[2:4] for part in joined])
    linked_a, linked_b, counted = link_dense(sets, fraction, ends, members, split)
    a = np.concatenate([*(part[0] for part in joined), linked_a])
    b = np.concatenate([*(part[1] for part in joined), linked_b])
    counters = {
        "postings": len(postings.rows),
        "comparisons": sum(part[4] for part in joined) + counted["linked"],
        "bounded_lists": counted["bounded_lists"],
        "bounded_comparisons": counted["bounded_comparisons"],
    }
    return ordered_pairs(np.minimum(a, b), np.maximum(a, b) - split, counters, distinct=False)


def _prefixes(sets: Sets, fraction: Fraction, threads: int | None) -> Prefixes:
    """Return the features of each row that a similar pair must share one of, rarest first."""
    sizes = sets.stops - sets.starts
    p, q = fraction.numerator, fraction.denominator
    lengths = np.where(sizes > 0, sizes - -(-p * sizes // q) + 1, 0)
    index_lengths = np.where(sizes > 0, sizes - -(-2 * p * sizes // (p + q)) + 1, 0)
    offsets = offsets_of(lengths)
    tokens = np.empty(offsets[-1], np.uint64)
    table, shift = count_frequencies(sets, threads)

    def fill(span: tuple[int, int]) -> None:
        here = slice(*span)
        at = offsets[span[0] : span[1] + 1]
        rarest_prefixes(sets.hashes, sets.starts[here], sets.stops[here], shift, table, at, tokens)

    list(ordered_map(fill, feature_spans(sets), threads))
    return Prefixes(tokens, offsets, index_lengths)
