"""Postings in partitions that stay in the cache: what all exact joins of sets have in common.

document frequencies -> postings of the rarest features, in partitions, each of which is joined by itself
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sosie.arrays import U16
from sosie.kernels.sets.postings import Postings, count_postings, scatter_postings, sorted_postings
from sosie.kernels.sets.rarity import count_documents
from sosie.kernels.sets.similarity import Sets
from sosie.parallel import ordered_map, spans, thread_count
from sosie.planner.constants.documents import FEW_PAIRS as FEW
from sosie.planner.constants.documents import LISTED_PAIRS as PAIRS
from sosie.types import I64, U64, offsets_of

SPAN = 1 << 16  # features that one task orders
PARTITION = 1 << 15  # postings that one task joins: they stay in the cache


def listed_at_most(rows: int) -> int:
    """Return the number of pairs of so many rows beyond which a collection is crowded: more than anyone can look at.

    >>> listed_at_most(1_000), listed_at_most(1_000_000)
    (2097152, 8000000)
    """
    return max(PAIRS * rows, FEW)


def count_frequencies(sets: Sets, threads: int | None) -> tuple[U16, int]:
    """Count how many documents hold each feature: a table by the leading bits of hashes, and how they are shifted."""
    features = int((sets.stops - sets.starts).sum())
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


def feature_spans(sets: Sets) -> list[tuple[int, int]]:
    """Cut rows into spans of about as many features as one task orders."""
    return spans(offsets_of(sets.stops - sets.starts), SPAN)


def partition_postings(tokens: U64, offsets: I64, threads: int | None) -> tuple[list[slice], Postings]:
    """Return where each partition is, and the postings of all."""
    bits = min(max((len(tokens) // PARTITION).bit_length(), 0), 12)
    cuts = spans(offsets, max(len(tokens) // 64, SPAN))
    counts = list(ordered_map(lambda span: count_postings(tokens, offsets, *span, bits), cuts, threads))
    by_partition = np.array(counts, np.int64).reshape(len(cuts), 1 << bits).T
    places = offsets_of(by_partition.ravel())
    total = int(places[-1])
    postings = Postings(np.empty(total, np.uint64), np.empty(total, np.int32), np.empty(total, np.int32))
    starts = places[:-1].reshape(1 << bits, len(cuts))

    def scatter(which: int) -> None:
        scatter_postings(tokens, offsets, *cuts[which], bits, starts[:, which].copy(), postings)

    list(ordered_map(scatter, range(len(cuts)), threads))
    edges = places[:: len(cuts)] if cuts else places
    return [slice(*edge) for edge in pairwise(edges.tolist())], postings


def sorted_partition(postings: Postings, partition: slice) -> Postings:
    """Return the postings of one partition, ordered by token."""
    tokens, rows, positions = postings
    return sorted_postings(Postings(tokens[partition], rows[partition], positions[partition]))
