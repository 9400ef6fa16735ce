"""The exact joins of feature sets: every pair of rows that reaches the threshold, by any measure.

document frequencies -> each row's features, rare to frequent -> postings in partitions -> pairs
-> dense lists -> leaders
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sosie.kernels.sets.join import Joined, Prefixes, join_prefixes, join_ranked
from sosie.kernels.sets.leaders import Lists, link_leaders
from sosie.kernels.sets.postings import Postings
from sosie.kernels.sets.rarity import Ranked, rank_rows, rarest_prefixes
from sosie.kernels.sets.similarity import CONTAINMENT, JACCARD, Criterion, Sets, WeighedSets
from sosie.matches.equal.groups import spread
from sosie.matches.order import ordered_pairs
from sosie.matches.sets.partitions import (
    count_frequencies,
    feature_spans,
    join_partitions,
    partition_postings,
    sorted_partition,
)
from sosie.matches.sets.rows import sets_of, weighed_sets
from sosie.matches.sets.similarity import Measure, Similarity, similarity_of
from sosie.matches.sets.threshold import criterion_of
from sosie.parallel import ordered_map
from sosie.types import I64, U64, Bools, Counters, Features, Pairs, offsets_of

LEADERS = 64

JoinPartition = Callable[[int, Postings], Joined]  # given how many rows make a list dense


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
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), recall=1.0)
    sets, split = sets_of(features, other)
    return join_similar(sets, similarity, threshold, threads, split=split)


def join_similar(
    sets: Sets, similarity: Similarity, threshold: float | str | Fraction, threads: int | None = None, *, split: int = 0
) -> Pairs:
    """Return every pair of rows whose similarity reaches the threshold; rows from `split` on are the second collection.

    Where lists were too dense to join, pairs are missing: the counters say how many comparisons were left out, and
    nothing is said of the recall.

    >>> sets, _ = sets_of(Features(np.array([1, 2, 1, 2, 3, 4], np.uint64), np.array([0, 2, 6])))
    >>> len(join_similar(sets, Similarity("containment"), 0.9)), len(join_similar(sets, Similarity("cosine"), 0.9))
    (1, 0)
    """
    criterion, rows = criterion_of(similarity, threshold, split), weighed_sets(sets, similarity)
    order = _by_prefixes if criterion.measure == JACCARD else _by_rests
    tokens, offsets, join = order(rows, criterion, threads)
    partitions, postings = partition_postings(tokens, offsets, threads)

    def join_partition(partition: slice, dense: int) -> Joined:
        return join(dense, sorted_partition(postings, partition))

    joined = join_partitions(join_partition, partitions, len(rows.starts), threads)
    linked_a, linked_b, counted = _link(rows, criterion, _dense_lists(joined, rows, criterion))
    a = np.concatenate([*(part.a for part in joined), linked_a])
    b = np.concatenate([*(part.b for part in joined), linked_b])
    counters = {
        "postings": len(postings.rows),
        "comparisons": sum(part.compared for part in joined) + counted["linked"],
        "bounded_lists": counted["bounded_lists"],
        "bounded_comparisons": counted["bounded_comparisons"],
    }
    recall = None if counted["bounded_lists"] else 1.0
    return ordered_pairs(np.minimum(a, b), np.maximum(a, b) - split, counters, distinct=False, recall=recall)


def link_dense(
    sets: Sets, threshold: Fraction, offsets: I64, members: I64, split: int = 0
) -> tuple[I64, I64, Counters]:
    """Link the rows of each list (CSR, ascending inside) to leaders by Jaccard: pairs (a, b) and what was counted.

    The longest lists come first: who shares a template with everyone is linked to the first that has it.
    """
    similarity = Similarity()
    rows, criterion = weighed_sets(sets, similarity), criterion_of(similarity, threshold, split)
    return _link(rows, criterion, _longest_first(offsets, members, np.ones(len(members), np.bool_)))


def _by_prefixes(rows: WeighedSets, criterion: Criterion, threads: int | None) -> tuple[U64, I64, JoinPartition]:
    """Rank the features of each row that a pair similar by Jaccard must share one of; return how they are joined."""
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
    return tokens, offsets, lambda dense, postings: join_prefixes(sets, prefixes, criterion, dense, postings)


def _by_rests(rows: WeighedSets, criterion: Criterion, threads: int | None) -> tuple[U64, I64, JoinPartition]:
    """Rank each row's features: all of them for containment, else the prefix that the threshold implies.

    Two rows with a cosine of at least t share a feature where both still have t^2 of their squared norm left, from rare
    to frequent. For containment, one of the smaller row's rarest features is any feature of the larger.
    """
    sets = Sets(rows.hashes, rows.starts, rows.stops)
    share = 0.0 if criterion.measure == CONTAINMENT else (criterion.numerator / criterion.denominator) ** 2
    table, shift = count_frequencies(sets, threads)
    parts = list(ordered_map(lambda span: rank_rows(rows, *span, share, shift, table), feature_spans(sets), threads))
    lengths = [np.diff(part.offsets) for part in parts]
    ranked = Ranked(
        np.concatenate([np.empty(0, np.uint64), *(part.tokens for part in parts)]),
        offsets_of(np.concatenate([np.empty(0, np.int64), *lengths])),
        np.concatenate([np.empty(0, np.float64), *(part.rests for part in parts)]),
    )
    return ranked.tokens, ranked.offsets, lambda dense, postings: join_ranked(rows, criterion, ranked, dense, postings)


def _dense_lists(joined: list[Joined], rows: WeighedSets, criterion: Criterion) -> Lists:
    """Return the lists that were not joined, rows ascending inside; for containment the largest rows first."""
    members = np.concatenate([np.empty(0, np.int64), *(part.members for part in joined)])
    probes = np.concatenate([np.empty(0, np.bool_), *(part.probes for part in joined)])
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(part.ends) for part in joined)])
    lists = _longest_first(offsets_of(lengths), members, probes)
    if criterion.measure != CONTAINMENT:
        return Lists(lists.ends, lists.members, np.ones(len(lists.members), np.bool_))
    which = np.repeat(np.arange(len(lists.ends) - 1), np.diff(lists.ends))
    order = np.lexsort((lists.members, -rows.norms[lists.members], which))
    return Lists(lists.ends, lists.members[order], lists.probes[order])


def _longest_first(offsets: I64, members: I64, probes: Bools) -> Lists:
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    at = spread(offsets[:-1][order], lengths[order])
    return Lists(offsets_of(lengths[order]), members[at], probes[at])


def _link(rows: WeighedSets, criterion: Criterion, lists: Lists) -> tuple[I64, I64, Counters]:
    a, b, compared, left_out = link_leaders(rows, criterion, lists, LEADERS)
    return a, b, {"linked": compared, "bounded_lists": len(lists.ends) - 1, "bounded_comparisons": left_out}
