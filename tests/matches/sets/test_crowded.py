"""Who stays in a crowded collection: the definition's answer, by every measure, with a reference and without one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_measures as oracle

from sosie.clusters.grouping import anchored, transitive
from sosie.matches.sets import crowded, dense
from sosie.matches.sets import join as set_join
from sosie.matches.sets.join import join_sparse
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sides import Sides
from sosie.matches.verify import verify_rows

MEASURES = ["jaccard", "cosine", "containment"]
rows = st.frozensets(st.integers(0, 11), min_size=1, max_size=8)
collections = st.lists(rows, min_size=1, max_size=25, unique=True)


@st.composite
def cases(draw):
    collection = draw(collections)
    reference = draw(st.sampled_from([0, 0, len(collection) // 3]))
    return collection, draw(st.sampled_from(MEASURES)), draw(st.sampled_from(["1/3", "1/2", "3/5", "4/5"])), reference


def squared(measure, a, b) -> Fraction:
    """The similarity, squared: an exact fraction for the cosine as well."""
    totals = {"jaccard": len(a | b) ** 2, "cosine": len(a) * len(b), "containment": min(len(a), len(b)) ** 2}
    return Fraction(len(a & b) ** 2, totals[measure])


def found(case, *, only, bound, connected=False):
    """All stages from the join to the pairs that decide, with lists dense from three rows on."""
    collection, measure, threshold, reference = case
    features, _ = oracle.features_and_weights([dict.fromkeys(row, 1) for row in collection])
    sets, similarity = sets_of(features)[0], Similarity(measure)
    of_it = np.arange(len(collection)) < reference
    sides = Sides(reference, only, of_it, ~of_it)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_join, "DENSE", 2)
        patch.setattr(dense, "PARTNERS", 1)
        patch.setattr(dense, "BATCH", 3)
        patch.setattr(crowded, "listed_at_most", lambda count: -1 if bound else 10**6)
        sparse = join_sparse(sets, similarity, threshold)
        pairs = verify_rows(sets, sides.of_interest(sparse.pairs), threshold, similarity=similarity)
        if sparse.dense is not None:
            pairs = crowded.complete(
                sets, similarity, Fraction(threshold), pairs, sparse.dense, sides, connected=connected, threads=2
            )
    return sets, similarity, sides, sides.of_interest(pairs)


def truth(case, only) -> set[tuple[int, int]]:
    collection, measure, threshold, reference = case
    return {
        (a, b)
        for b in range(reference, len(collection))
        for a in range(reference if only else b)
        if squared(measure, collection[a], collection[b]) >= Fraction(threshold) ** 2
    }


@settings(max_examples=150)
@given(cases(), st.booleans(), st.booleans())
def test_who_stays_and_with_whom_the_others_go(case, only, bound):
    collection, measure, _, reference = case
    only = only and reference > 0
    similar = truth(case, only)
    kept, anchors = [], []
    for row in range(len(collection)):
        near = [other for other in kept if (other, row) in similar]
        if near:
            anchors.append(max(near, key=lambda other: (squared(measure, collection[other], collection[row]), -other)))
        else:
            anchors.append(row)
            kept.append(row)
    _, _, sides, pairs = found(case, only=only, bound=bound)
    listed = set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    assert listed <= similar and (bound or listed == similar)
    assert anchored(len(collection), sides.deciding(pairs)).anchor.tolist() == anchors


@settings(max_examples=150)
@given(cases(), st.booleans())
def test_whom_chains_connect(case, only):
    collection, _, _, reference = case
    only = only and reference > 0
    first = list(range(len(collection)))
    for _ in first:  # the least row that a chain reaches, step by step
        for a, b in truth(case, only):
            first[a] = first[b] = min(first[a], first[b])
    sets, similarity, sides, pairs = found(case, only=only, bound=True, connected=True)
    assert transitive(sets, sides.deciding(pairs), similarity=similarity).anchor.tolist() == first


def test_how_many_pairs_are_not_listed_is_estimated(monkeypatch):
    """300 lookalikes of one document that stays: 299 pairs are listed of some 45,000."""
    collection = [dict.fromkeys([*range(20), 1000 + i], 1) for i in range(300)]
    features, _ = oracle.features_and_weights(collection)
    sets, similarity = sets_of(features)[0], Similarity()
    monkeypatch.setattr(crowded, "listed_at_most", lambda count: 1000)
    monkeypatch.setattr(dense, "SAMPLE", 50_000)
    none = np.zeros(300, np.bool_)
    sparse = join_sparse(sets, similarity, "4/5")
    verified = verify_rows(sets, sparse.pairs, "4/5")
    pairs = crowded.complete(
        sets, similarity, Fraction(4, 5), verified, sparse.dense, Sides(0, False, none, ~none), threads=1
    )
    assert pairs.a.tolist() == [0] * 299 and pairs.b.tolist() == [*range(1, 300)] and pairs.recall is None
    missing = 300 * 299 // 2 - 299
    assert 0.8 * missing < pairs.counters["unlisted_pairs"] < 1.2 * missing
    assert pairs.counters["bounded_lists"] == len(sparse.dense) > 0
