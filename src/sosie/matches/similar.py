"""The exact joins by any measure: every pair of rows that reaches the threshold.

document frequencies -> each row's features, rare to frequent -> postings in partitions -> pairs
-> dense lists -> leaders
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sosie.kernels.sets.measured_join import Joined, join_measured
from sosie.kernels.sets.measured_leaders import Lists, link_measured
from sosie.kernels.sets.measures import CONTAINMENT, Criterion, Rows
from sosie.kernels.sets.ranked import Ranked, rank_rows
from sosie.kernels.sets.set_join import Sets
from sosie.matches.dense import LEADERS
from sosie.matches.measured import criterion_of, measured_rows, similarity_of
from sosie.matches.order import ordered_pairs
from sosie.matches.partitions import (
    concatenated,
    count_frequencies,
    feature_spans,
    join_partitions,
    partition_postings,
    sorted_partition,
)
from sosie.matches.sets import join_rows, sets_of
from sosie.matches.similarity import Measure, Similarity
from sosie.parallel import ordered_map
from sosie.types import Features, Pairs, offsets_of


def join_features(
    features: Features,
    other: Features | None = None,
    *,
    threshold: float | str | Fraction,
    measure: Measure = "jaccard",
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
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    sets, split = sets_of(features, other)
    return join_similar(sets, similarity, threshold, threads, split=split)


def join_similar(
    sets: Sets, similarity: Similarity, threshold: float | str | Fraction, threads: int | None = None, *, split: int = 0
) -> Pairs:
    """Return every pair of rows whose similarity reaches the threshold; rows from `split` on are the second collection.

    Two rows with a cosine of at least t share a feature where both still have t^2 of their squared norm left, from rare
    to frequent. For containment, one of the smaller row's rarest features is any feature of the larger.

    >>> sets, _ = sets_of(Features(np.array([1, 2, 1, 2, 3, 4], np.uint64), np.array([0, 2, 6])))
    >>> len(join_similar(sets, Similarity("containment"), 0.9)), len(join_similar(sets, Similarity("cosine"), 0.9))
    (1, 0)
    """
    if similarity.measure == "jaccard":
        return join_rows(sets, threshold, threads, split=split)
    rows, criterion = measured_rows(sets, similarity), criterion_of(similarity, threshold, split)
    ranked = _rank(sets, rows, criterion, threads)
    partitions, postings = partition_postings(ranked.tokens, ranked.offsets, threads)

    def join(partition: slice, dense: int) -> Joined:
        return join_measured(rows, criterion, ranked, dense, sorted_partition(postings, partition))

    joined = join_partitions(join, partitions, len(rows.starts), threads)
    lists = _dense_lists(joined, rows, criterion)
    linked_a, linked_b, linked, left_out = link_measured(rows, criterion, lists, LEADERS)
    a = np.concatenate([*(part.a for part in joined), linked_a])
    b = np.concatenate([*(part.b for part in joined), linked_b])
    counters = {
        "postings": len(postings.rows),
        "comparisons": sum(part.compared for part in joined) + linked,
        "bounded_lists": len(lists.ends) - 1,
        "bounded_comparisons": left_out,
    }
    return ordered_pairs(np.minimum(a, b), np.maximum(a, b) - split, counters, distinct=False)


def _rank(sets: Sets, rows: Rows, criterion: Criterion, threads: int | None) -> Ranked:
    """Rank each row's features: all of them for containment, else the prefix that the threshold implies."""
    share = 0.0 if criterion.measure == CONTAINMENT else (criterion.numerator / criterion.denominator) ** 2
    table, shift = count_frequencies(sets, threads)
    ranked = list(ordered_map(lambda span: rank_rows(rows, *span, share, shift, table), feature_spans(sets), threads))
    lengths = [np.diff(part.offsets) for part in ranked]
    return Ranked(
        np.concatenate([np.empty(0, np.uint64), *(part.tokens for part in ranked)]),
        offsets_of(np.concatenate([np.empty(0, np.int64), *lengths])),
        np.concatenate([np.empty(0, np.float64), *(part.rests for part in ranked)]),
    )


def _dense_lists(joined: list[Joined], rows: Rows, criterion: Criterion) -> Lists:
    """Return the dense lists, the longest first, rows ascending inside; for containment the largest rows first."""
    ends, members = concatenated([(part.ends, part.members) for part in joined])
    lengths = np.diff(ends)
    by_length = np.argsort(-lengths, kind="stable")
    rank = np.empty(len(lengths), np.int64)
    rank[by_length] = np.arange(len(lengths))
    if criterion.measure == CONTAINMENT:
        probes = np.concatenate([np.empty(0, np.bool_), *(part.probes for part in joined)])
        order = np.lexsort((members, -rows.norms[members], np.repeat(rank, lengths)))
    else:
        probes = np.ones(len(members), np.bool_)
        order = np.lexsort((members, np.repeat(rank, lengths)))
    return Lists(offsets_of(lengths[by_length]), members[order], probes[order])
