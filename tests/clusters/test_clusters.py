"""Clusters, against their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie.clusters.grouping import anchored, transitive
from sosie.clusters.keep import keep_rank
from sosie.errors import UsageError
from sosie.matches.sets.rows import rows_of
from sosie.types import Clusters, VerifiedPairs


def verified(similarity: dict[tuple[int, int], Fraction]) -> VerifiedPairs:
    pairs = sorted(similarity)
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    values = [similarity[pair] for pair in pairs]
    shared, total = (np.array([getattr(v, part) for v in values], np.int64) for part in ("numerator", "denominator"))
    return VerifiedPairs(a, b, np.array([float(value) for value in values]), shared, total)


@st.composite
def graphs(draw):
    """Items 0..n and similarities of some pairs, ties included."""
    count = draw(st.integers(0, 12))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    values = st.sampled_from([Fraction(4, 5), Fraction(5, 6), Fraction(9, 10), Fraction(1)])
    return count, {pair: draw(values) for pair in chosen}


@settings(max_examples=200)
@given(graphs())
def test_anchored(graph):
    count, similarity = graph
    clusters = anchored(count, verified(similarity))
    assert clusters.anchor.tolist() == oracle.anchors(count, similarity)
    kept = set(np.flatnonzero(clusters.kept).tolist())
    for item, (anchor, found) in enumerate(zip(clusters.anchor.tolist(), clusters.similarity.tolist(), strict=True)):
        assert anchor in kept  # whoever goes is similar to one that stays
        assert found == (1 if anchor == item else float(similarity[anchor, item]))
    for a, b in similarity:
        assert not (a in kept and b in kept)  # two that stay are not similar


@settings(max_examples=150)
@given(st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=5), max_size=12), st.randoms())
def test_transitive(sets, random):
    hashes = [sorted(each) for each in sets]
    edges = np.cumsum([0, *map(len, hashes)])
    rows = rows_of(np.array([*chain.from_iterable(hashes)], np.uint64), edges[:-1], edges[1:])
    pairs = oracle.similar_pairs(sets, Fraction(1, 2))
    random.shuffle(pairs)  # the order of the pairs never matters to a union
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    clusters = transitive(rows, VerifiedPairs(a, b, np.ones(len(a)), a, a), threads=1)
    expected = oracle.components(len(sets), pairs)
    assert clusters.anchor.tolist() == expected
    for row, anchor in enumerate(expected):  # the true similarity with the kept one, even where it is 0
        assert clusters.similarity[row] == (1 if anchor == row else float(oracle.jaccard(sets[row], sets[anchor])))


def test_a_chain_is_one_transitive_cluster_and_several_anchored_ones():
    chain = [frozenset(range(start, start + 9)) for start in range(12)]  # neighbours share 8 of 10
    similarity = {(i, i + 1): Fraction(4, 5) for i in range(11)}
    assert {pair: oracle.jaccard(chain[pair[0]], chain[pair[1]]) for pair in similarity} == similarity
    assert anchored(12, verified(similarity)).anchor.tolist() == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]
    edges = np.arange(13) * 9
    rows = rows_of(np.array([item for each in chain for item in sorted(each)], np.uint64), edges[:-1], edges[1:])
    whole = transitive(rows, verified(similarity))
    assert whole.anchor.tolist() == [0] * 12
    assert whole.similarity[11] == 0 and whole.sizes.tolist() == [12] * 12


def test_sizes_and_kept():
    clusters = Clusters(np.array([0, 0, 2, 0, 4]), np.ones(5))
    assert clusters.kept.tolist() == [True, False, True, False, True]
    assert clusters.sizes.tolist() == [3, 3, 1, 3, 1]
    assert len(Clusters(np.empty(0, np.int64), np.empty(0)).sizes) == 0


@given(st.lists(st.integers(0, 5)))
def test_keep_order(lengths):
    values = np.array(lengths, np.int64)
    assert keep_rank("first", values).tolist() == list(range(len(lengths)))
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    assert keep_rank("longest", values).tolist() == [order.index(row) for row in range(len(lengths))]


def test_no_such_keep():
    with pytest.raises(UsageError, match="first, longest"):
        keep_rank("random", np.empty(0, np.int64))
