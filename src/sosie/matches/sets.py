"""The exact set-similarity join: every pair with Jaccard >= threshold, by prefix filter (Xiao et al., PPJoin).

document frequencies -> each document's rarest features -> postings in partitions -> pairs
-> dense lists -> leaders
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from sosie.kernels.parallel import ordered_map, spans, thread_count
from sosie.kernels.postings import Postings, count_postings, scatter_postings, sorted_postings
from sosie.kernels.rarity import count_documents, rarest_prefixes
from sosie.kernels.set_join import Bounds, Prefixes, Sets, join_postings
from sosie.matches.dense import link_dense
from sosie.matches.order import ordered_pairs
from sosie.matches.similarity import as_fraction
from sosie.types import I64, U64, Features, Pairs

DENSE = 256  # a list of more documents is linked by leaders instead of joined, and counted as bounded
CROWDED = 16  # the same, in a collection with more pairs than anyone can look at
PAIRS = 8  # similar pairs for each document that make a collection crowded
SPAN = 1 << 16  # features that one task orders
PARTITION = 1 << 15  # postings that one task joins: they stay in the cache


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
    partitions, postings = _postings(prefixes, threads)

    def join(partition: tuple[int, int], dense: int) -> tuple[I64, I64, I64, I64, int]:
        here = slice(*partition)
        part = Postings(postings.tokens[here], postings.rows[here], postings.positions[here])
        return join_postings(sets, prefixes, bounds, dense, sorted_postings(part))

    # Features are spread over the partitions by their hashes, so a few partitions tell how many pairs to expect.
    sample = -(-len(partitions) // 16)
    joined = list(ordered_map(partial(join, dense=DENSE), partitions[:sample], threads))
    expected = sum(len(part[0]) for part in joined) * len(partitions) / max(sample, 1)
    dense = DENSE if expected <= PAIRS * len(sets.starts) else CROWDED
    joined += ordered_map(partial(join, dense=dense), partitions[sample:], threads)
    ends, members = _dense_lists([part[2:4] for part in joined])
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
    offsets = _offsets(lengths)
    tokens = np.empty(offsets[-1], np.uint64)
    table, shift = _frequencies(sets, int(sizes.sum()), threads)

    def fill(span: tuple[int, int]) -> None:
        here = slice(*span)
        at = offsets[span[0] : span[1] + 1]
        rarest_prefixes(sets.hashes, sets.starts[here], sets.stops[here], shift, table, at, tokens)

    list(ordered_map(fill, spans(_offsets(sizes), SPAN), threads))
    return Prefixes(tokens, offsets, index_lengths)


def _frequencies(sets: Sets, features: int, threads: int | None) -> tuple[np.ndarray, int]:
    bits = min(max((2 * features).bit_length(), 16), 27)
    table = np.zeros(1 << bits, np.uint16)
    workers = thread_count(threads)
    edges = [(1 << 64) * i // workers for i in range(workers + 1)]
    edges = [edge >> (64 - bits) << (64 - bits) for edge in edges]

    def count(part: int) -> None:
        low, high = np.uint64(edges[part]), np.uint64(edges[part + 1] - 1)
        count_documents(sets.hashes, sets.starts, sets.stops, low, high, 64 - bits, table)

    list(ordered_map(count, range(workers), threads))
    return table, 64 - bits


def _postings(prefixes: Prefixes, threads: int | None) -> tuple[list[tuple[int, int]], Postings]:
    """Return the spans of the partitions, and the postings of all."""
    tokens, offsets = prefixes.tokens, prefixes.offsets
    bits = min(max((len(tokens) // PARTITION).bit_length(), 0), 12)
    cuts = spans(offsets, max(len(tokens) // 64, SPAN))
    counts = list(ordered_map(lambda span: count_postings(tokens, offsets, *span, bits), cuts, threads))
    by_partition = np.array(counts, np.int64).reshape(len(cuts), 1 << bits).T
    places = _offsets(by_partition.ravel())
    total = int(places[-1])
    postings = Postings(np.empty(total, np.uint64), np.empty(total, np.int32), np.empty(total, np.int32))
    starts = places[:-1].reshape(1 << bits, len(cuts))

    def scatter(which: int) -> None:
        scatter_postings(tokens, offsets, *cuts[which], bits, starts[:, which].copy(), postings)

    list(ordered_map(scatter, range(len(cuts)), threads))
    edges = places[:: len(cuts)] if cuts else places
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)), postings


def _dense_lists(lists: list[tuple[I64, I64]]) -> tuple[I64, I64]:
    """Concatenate lists in CSR form."""
    members = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in lists)])
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(ends) for ends, _ in lists)])
    return _offsets(lengths), members


def _offsets(lengths: I64) -> I64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
