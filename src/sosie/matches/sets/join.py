"""The exact joins of feature sets: every pair of rows that reaches the threshold, by any measure.

document frequencies -> each row's features, rare to frequent -> postings in partitions -> pairs, and apart from them
the dense lists, which `dense.py` joins
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sosie.kernels.sets.join import Joined, Prefixes, join_prefixes, join_ranked
from sosie.kernels.sets.postings import Postings
from sosie.kernels.sets.rarity import SLACK, Ranked, rank_rows, rarest_prefixes
from sosie.kernels.sets.similarity import CONTAINMENT, JACCARD, Criterion, Sets, WeighedSets
from sosie.matches.check import MAX_PAIRS, check_pairs
from sosie.matches.order import ordered_pairs
from sosie.matches.sets.dense import DenseJoin, DenseLists, dense_lists
from sosie.matches.sets.partitions import (
    count_frequencies,
    feature_spans,
    partition_postings,
    sorted_partition,
)
from sosie.matches.sets.rows import sets_of, weighed_sets
from sosie.matches.sets.similarity import Measure, Similarity, similarity_of
from sosie.matches.sets.threshold import criterion_of
from sosie.parallel import ordered_map
from sosie.planner.constants.documents import DENSE_LIST as DENSE
from sosie.types import F64, I32, I64, U64, Bools, Features, Pairs, offsets_of


def join_features(
    features: Features,
    other: Features | None = None,
    *,
    threshold: float | str | Fraction,
    measure: Measure = "jaccard",
    max_pairs: int = MAX_PAIRS,
    threads: int | None = None,
) -> Pairs:
    """Return every pair of documents whose features are at least as similar as the threshold says.

    For the cosine, features weigh their term counts where they have them, else 1.

    >>> features = Features(np.array([1, 2, 1, 2, 3, 4, 5, 6], np.uint64), np.array([0, 2, 8]))
    >>> [len(join_features(features, threshold=0.9, measure=name)) for name in ("jaccard", "cosine", "containment")]
    [0, 0, 1]
    """
    similarity = similarity_of(measure, features, other)
    if other is not None and not (len(features) and len(other)):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), recall=1.0)
    sets, split = sets_of(features, other)
    return join_similar(sets, similarity, threshold, threads, split=split, max_pairs=max_pairs)


def join_similar(
    sets: Sets,
    similarity: Similarity,
    threshold: float | str | Fraction,
    threads: int | None = None,
    *,
    split: int = 0,
    max_pairs: int = MAX_PAIRS,
) -> Pairs:
    """Return every pair of rows whose similarity reaches the threshold; rows from `split` on are the second collection.

    Raises UsageError where there are more than `max_pairs`, before most of the work.

    >>> sets, _ = sets_of(Features(np.array([1, 2, 1, 2, 3, 4], np.uint64), np.array([0, 2, 6])))
    >>> len(join_similar(sets, Similarity("containment"), 0.9)), len(join_similar(sets, Similarity("cosine"), 0.9))
    (1, 0)
    """
    joined = join_sparse(sets, similarity, threshold, threads, split=split)
    a, b, counters = joined.pairs.a, joined.pairs.b + split, dict(joined.pairs.counters)
    if joined.dense is not None:
        rows, criterion = weighed_sets(sets, similarity), criterion_of(similarity, threshold, split)
        dense = DenseJoin(joined.dense, rows, criterion, threads)
        expected, every = dense.expected_pairs()
        check_pairs(expected, max_pairs, about=every > 1)
        more_a, more_b = dense.all_pairs()
        a, b = np.concatenate([a, more_a]), np.concatenate([b, more_b])
        counters["comparisons"] += dense.measured
    pairs = ordered_pairs(a, b - split, counters, distinct=False, recall=1.0)
    check_pairs(len(pairs), max_pairs)
    return pairs


class Sparse(NamedTuple):
    """The pairs of rows whose first common feature is in no dense list, and these lists, where there are any."""

    pairs: Pairs
    dense: DenseLists | None


def join_sparse(
    sets: Sets,
    similarity: Similarity,
    threshold: float | str | Fraction,
    threads: int | None = None,
    *,
    split: int = 0,
) -> Sparse:
    """Return the similar pairs outside dense lists, and these lists.

    No list outside has many rows, so that no row has very many of these pairs.
    """
    criterion, rows = criterion_of(similarity, threshold, split), weighed_sets(sets, similarity)
    rank = _by_prefixes if criterion.measure == JACCARD else _by_rests
    ranked = rank(rows, criterion, threads)
    partitions, postings = partition_postings(ranked.tokens, ranked.offsets, threads)

    def join_partition(partition: slice) -> tuple[Joined, list[Postings]]:
        here = sorted_partition(postings, partition)
        joined = ranked.join(DENSE, here)
        spans = zip(joined.starts.tolist(), joined.stops.tolist(), strict=True)
        return joined, [_part_of(here, first, stop) for first, stop in spans]

    found = list(ordered_map(join_partition, partitions, threads))
    a = np.concatenate([np.empty(0, np.int64), *(joined.a for joined, _ in found)])
    b = np.concatenate([np.empty(0, np.int64), *(joined.b for joined, _ in found)])
    lists = [each for _, dense in found for each in dense]
    counters = {
        "postings": len(postings.rows),
        "comparisons": sum(joined.compared for joined, _ in found),
        "bounded_lists": 0,
        "unlisted_pairs": 0,
    }
    recall = None if lists else 1.0
    pairs = ordered_pairs(np.minimum(a, b), np.maximum(a, b) - split, counters, recall=recall)
    return Sparse(pairs, _dense_lists(lists, ranked, len(rows.starts)) if lists else None)


def prefix_postings(
    sets: Sets, similarity: Similarity, threshold: float | str | Fraction, threads: int | None = None
) -> Postings:
    """Return the postings that the exact join sorts: of each row the rarest features, but for those it alone has."""
    criterion, rows = criterion_of(similarity, threshold), weighed_sets(sets, similarity)
    ranked = (_by_prefixes if criterion.measure == JACCARD else _by_rests)(rows, criterion, threads)
    return partition_postings(ranked.tokens, ranked.offsets, threads)[1]


@dataclass(frozen=True, eq=False)
class _RankedRows:
    """The features of each row that a similar pair must share one of, from rare to frequent, CSR; and what is done.

    `join(dense, postings)` joins postings, given how many rows make a list dense; `left(rows, positions)` says what
    rows have left from these positions on, and which of them are probes there.
    """

    tokens: U64
    offsets: I64
    join: Callable[[int, Postings], Joined]
    left: Callable[[I32, I32], tuple[F64, Bools]]


def _by_prefixes(rows: WeighedSets, criterion: Criterion, threads: int | None) -> _RankedRows:
    """Rank the features of each row that a pair similar by Jaccard must share one of."""
    sets = Sets(rows.hashes, rows.starts, rows.stops)
    sizes = sets.stops - sets.starts
    p, q = criterion.numerator, criterion.denominator
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
    prefixes = Prefixes(tokens, offsets, index_lengths)
    return _RankedRows(
        tokens,
        offsets,
        lambda dense, postings: join_prefixes(sets, prefixes, criterion, dense, postings),
        lambda row, position: ((sizes[row] - position).astype(np.float64), position < index_lengths[row]),
    )


def _by_rests(rows: WeighedSets, criterion: Criterion, threads: int | None) -> _RankedRows:
    """Rank each row's features: all of them for containment, else the prefix that the threshold implies.

    Two rows with a cosine of at least t share a feature where both still have t^2 of their squared norm left, from rare
    to frequent. For containment, one of the smaller row's rarest features is any feature of the larger.
    """
    sets = Sets(rows.hashes, rows.starts, rows.stops)
    least = criterion.numerator / criterion.denominator
    share = 0.0 if criterion.measure == CONTAINMENT else least**2
    table, shift = count_frequencies(sets, threads)
    parts = list(ordered_map(lambda span: rank_rows(rows, *span, share, shift, table), feature_spans(sets), threads))
    lengths = [np.diff(part.offsets) for part in parts]
    ranked = Ranked(
        np.concatenate([np.empty(0, np.uint64), *(part.tokens for part in parts)]),
        offsets_of(np.concatenate([np.empty(0, np.int64), *lengths])),
        np.concatenate([np.empty(0, np.float64), *(part.rests for part in parts)]),
    )
    of_probes = SLACK * least if len(rows.weights) == 0 else (SLACK * least) ** 2

    def left(row: I32, position: I32) -> tuple[F64, Bools]:
        rests = ranked.rests[ranked.offsets[row] + position]
        return rests, rests >= of_probes * rows.norms[row]

    return _RankedRows(
        ranked.tokens,
        ranked.offsets,
        lambda dense, postings: join_ranked(rows, criterion, ranked, dense, postings),
        left,
    )


def _part_of(postings: Postings, first: int, stop: int) -> Postings:
    tokens, rows, positions = postings
    return Postings(tokens[first:stop].copy(), rows[first:stop].copy(), positions[first:stop].copy())


def _dense_lists(lists: list[Postings], ranked: _RankedRows, count: int) -> DenseLists:
    offsets = offsets_of(np.array([len(each.rows) for each in lists], np.int64))
    rows = np.concatenate([each.rows for each in lists])
    rests, probes = ranked.left(rows, np.concatenate([each.positions for each in lists]))
    return dense_lists(count, rows, offsets, rests, probes)
