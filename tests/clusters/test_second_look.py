"""The second look: more of the truth, never anything else, and nothing where all pairs are known."""

from fractions import Fraction
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle

from sosie.clusters.grouping import anchored, second_look, transitive
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import verify_rows
from sosie.types import Clusters, Pairs

HALF = Fraction(1, 2)
collections = st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=6), min_size=2, max_size=10)


def rows(collection):
    hashes = [sorted(each) for each in collection]
    edges = np.cumsum([0, *map(len, hashes)])
    return rows_of(np.array([*chain.from_iterable(hashes)], np.uint64), edges[:-1], edges[1:])


def verified(collection, pairs):
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return verify_rows(rows(collection), Pairs(both[:, 0], both[:, 1]), HALF)


def similar(collection):
    count = range(len(collection))
    return {(a, b) for b in count for a in range(b) if oracle.jaccard(collection[a], collection[b]) >= HALF}


def test_looks_by_the_measure_that_was_asked_for():
    """0 and 2 were not compared: by containment they are similar, by Jaccard not."""
    collection = [range(12), range(3), range(2)]
    by = Similarity("containment")
    pairs = verify_rows(rows(collection), Pairs(np.array([0, 1]), np.array([1, 2])), HALF, similarity=by)
    clusters = Clusters(np.array([0, 0, 2]), np.ones(3))
    assert second_look(rows(collection), pairs, clusters, HALF, similarity=by).b.tolist() == [1, 2, 2]
    assert second_look(rows(collection), pairs, clusters, HALF).b.tolist() == [1, 2]


@given(collections, st.data())
def test_adds_true_pairs_of_kept_rows_and_anchors(collection, data):
    truth = sorted(similar(collection))
    known = verified(collection, data.draw(st.lists(st.sampled_from(truth), unique=True)) if truth else [])
    clusters = anchored(len(collection), known)
    found = second_look(rows(collection), known, clusters, HALF)
    listed = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert listed == sorted(set(listed)) and set(listed) <= set(truth)
    assert set(zip(known.a.tolist(), known.b.tolist(), strict=True)) <= set(listed)
    for a, b, likeness in zip(*(column.tolist() for column in (found.a, found.b, found.similarity)), strict=True):
        assert likeness == float(oracle.jaccard(collection[a], collection[b]))
    kept, anchor = clusters.kept, clusters.anchor.tolist()
    for a, b in zip(known.a.tolist(), known.b.tolist(), strict=True):
        if kept[a] != kept[b]:
            stays, other = (a, anchor[b]) if kept[a] else (b, anchor[a])
            pair = (min(stays, other), max(stays, other))
            assert pair[0] == pair[1] or (pair in truth) == (pair in listed)
    first = transitive(rows(collection), known).anchor.tolist()
    kept_with = {first[row] for row in np.flatnonzero(kept).tolist() if first[row] != row}
    for row in range(len(collection)):
        pair = (first[row], row)
        assert first[row] not in kept_with or first[row] == row or (pair in truth) == (pair in listed)


def test_looks_at_the_first_of_a_chain():
    """3 is similar to 2, which goes because of 1; to 0, the first of all, it is similar as well, and not to 1."""
    collection = [{1, 2, 3}, {3, 4}, {2, 3, 4}, {1, 2, 4}]
    known = verified(collection, [(0, 2), (1, 2), (2, 3)])
    clusters = Clusters(np.array([0, 1, 1, 3]), np.ones(4))
    assert second_look(rows(collection), known, clusters, HALF).b.tolist() == [2, 3, 2, 3]


@given(collections)
def test_adds_nothing_where_all_pairs_are_known(collection):
    known = verified(collection, similar(collection))
    assert second_look(rows(collection), known, anchored(len(collection), known), HALF) is known
