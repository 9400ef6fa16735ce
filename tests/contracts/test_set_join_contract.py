"""What the exact set join promises: every pair at or above the threshold, no other, however the work is cut."""

from __future__ import annotations

import itertools
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle
from tests.oracle_measures import same_high_bits, same_low_bits, spread

import sosie
from sosie import Features, UsageError
from sosie.matches.sets import dense as dense_lists
from sosie.matches.sets import join as set_join
from sosie.matches.sets import partitions
from sosie.matches.sets.join import join_features

THRESHOLDS = [1, "4/5", 0.5, "1/3", 0.95, 0.25, 0.01, "1/1000000"]


def features_of(rows, hashed=spread) -> Features:
    hashes = [sorted(map(hashed, row)) for row in rows]
    return Features(np.array([*chain.from_iterable(hashes)], np.uint64), np.cumsum([0, *map(len, hashes)]))


def found(pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


universe = st.integers(0, 9)
rows = st.one_of(st.frozensets(universe, max_size=8), st.frozensets(universe, min_size=6))
collections = st.lists(rows, max_size=14)
hashings = st.sampled_from([spread, same_low_bits, same_high_bits])
thresholds = st.sampled_from(THRESHOLDS)


@settings(max_examples=300)
@given(collections, thresholds, hashings)
@example([frozenset(), frozenset()], 0.01, spread)
@example([frozenset({1})] * 3, 1, spread)
@example([frozenset({0, 1, 2, 3}), frozenset({0, 1, 2, 3, 4})], 0.8, spread)
@example([frozenset({0, 1})], 0.5, same_low_bits)
def test_a_collection_with_itself(collection, threshold, hashed):
    pairs = join_features(features_of(collection, hashed), threshold=threshold, threads=1)
    assert found(pairs) == oracle.similar_pairs(collection, Fraction(str(threshold)))
    assert pairs.counters["bounded_lists"] == pairs.counters["unlisted_pairs"] == 0
    assert pairs.counters["comparisons"] >= len(pairs) and pairs.recall == 1.0


@settings(max_examples=200)
@given(collections, collections, thresholds, hashings)
@example([], [frozenset({1})], 0.5, spread)
@example([frozenset({1})], [], 0.5, spread)
@example([frozenset({1}), frozenset()], [frozenset(), frozenset({1})], 1, spread)
def test_two_collections(first, second, threshold, hashed):
    pairs = join_features(features_of(first, hashed), features_of(second, hashed), threshold=threshold, threads=1)
    assert found(pairs) == oracle.similar_across(first, second, Fraction(str(threshold)))


@settings(max_examples=60)
@given(st.lists(rows, min_size=2, max_size=20), thresholds, st.integers(1, 40), st.integers(1, 20))
def test_spans_and_partitions_never_matter(collection, threshold, partition, span):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "PARTITION", partition)
        patch.setattr(partitions, "SPAN", span)
        pairs = join_features(features_of(collection), threshold=threshold, threads=2)
    assert found(pairs) == oracle.similar_pairs(collection, Fraction(str(threshold)))


@pytest.fixture(scope="module")
def documents() -> list[frozenset[int]]:
    """Families of near-duplicates over frequent and rare features, some of them longer than 256."""
    rng = np.random.default_rng(8)
    made = [frozenset()] * 2
    for _ in range(40):
        size = int(rng.choice([1, 2, 5, 20, 100, 300, 700]))
        base = set((2000 * rng.random(size) ** 2).astype(int).tolist())
        for _ in range(int(rng.integers(1, 8))):
            changed = {item for item in base if rng.random() > 0.06}
            made.append(frozenset(changed | set(rng.integers(0, 2000, rng.integers(0, 1 + size // 12)).tolist())))
    return [made[i] for i in rng.permutation(len(made))]


@pytest.mark.parametrize("threshold", ["4/5", 0.5, 0.95, 1])
def test_long_documents_and_any_number_of_threads(documents, threshold):
    features = features_of(documents)
    assert max(map(len, documents)) > 500 and min(map(len, documents)) == 0
    expected = oracle.similar_pairs(documents, Fraction(str(threshold)))
    assert len(expected) > 10
    for threads in (1, 2, 7):
        pairs = join_features(features, threshold=threshold, threads=threads)
        assert found(pairs) == expected
        assert pairs.counters == join_features(features, threshold=threshold, threads=1).counters
    half = len(documents) // 2
    across = join_features(features_of(documents[:half]), features_of(documents[half:]), threshold=threshold, threads=2)
    assert found(across) == oracle.similar_across(documents[:half], documents[half:], Fraction(str(threshold)))


@pytest.mark.parametrize("size", [5, 90, 250, 300, 2500])
def test_exactly_at_the_threshold_and_just_below(size):
    """Two documents that share 4/5 of their union are a pair; one feature less and they are not."""
    shared, union = 4 * size // 5, size
    at = [set(range(shared)) | set(range(1000_000, 1000_000 + union - shared)), set(range(shared))]
    below = [at[0] | {5_000_000}, at[1]]
    assert oracle.jaccard(*map(frozenset, at)) == Fraction(4, 5) > oracle.jaccard(*map(frozenset, below))
    for sides in (at, at[::-1]):
        assert found(join_features(features_of(sides), threshold=0.8)) == [(0, 1)]
        assert found(join_features(features_of(sides[:1]), features_of(sides[1:]), threshold="4/5")) == [(0, 0)]
    assert found(join_features(features_of(below), threshold=0.8)) == []
    assert found(join_features(features_of(below[:1]), features_of(below[1:]), threshold=0.8)) == []


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, "nan", "much", "1/0", float("inf")])
def test_thresholds_that_are_none(threshold):
    with pytest.raises(UsageError, match="threshold"):
        join_features(features_of([{1}]), threshold=threshold)


def test_the_verb_joins_features_by_a_threshold():
    features = features_of([{1, 2}, {1, 2}])
    assert found(sosie.join(features, threshold=1)) == [(0, 1)]
    assert found(sosie.join(features, features, threshold=1)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for wrong in ({}, {"radius": 3}, {"threshold": 0.5, "radius": 3}):
        with pytest.raises(UsageError, match="threshold"):
            sosie.join(features, **wrong)


# Dense lists: every pair all the same


@settings(max_examples=200)
@given(collections, st.sampled_from(["4/5", 0.5, "1/3"]), st.integers(1, 6), st.integers(0, 14), hashings)
def test_dense_lists_lose_no_pair(collection, threshold, dense, split, hashed):
    split = min(split, len(collection))
    fraction = Fraction(str(threshold))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_join, "DENSE", dense)
        pairs = join_features(features_of(collection, hashed), threshold=threshold, threads=1)
        parts = collection[:split], collection[split:]
        across = join_features(*(features_of(part, hashed) for part in parts), threshold=threshold, threads=2)
    assert found(pairs) == oracle.similar_pairs(collection, fraction)
    assert found(across) == oracle.similar_across(*parts, fraction)
    assert pairs.recall == across.recall == 1.0


@pytest.mark.parametrize(("left", "right"), [(300, 300), (500, 3), (3, 500)])
def test_between_two_collections_every_pair_is_found(left, right):
    rows = [frozenset([*range(20), 1000 + i]) for i in range(left + right)]
    pairs = join_features(features_of(rows[:left]), features_of(rows[left:]), threshold=0.8)
    assert found(pairs) == list(itertools.product(range(left), range(right)))


def test_more_pairs_than_asked_for_are_refused_by_their_number():
    rows = features_of([frozenset([*range(20), 1000 + i]) for i in range(2000)])
    assert len(sosie.join(rows, threshold=0.8, max_pairs=2000 * 1999 // 2)) == 2000 * 1999 // 2
    with pytest.raises(UsageError, match=f"^{2000 * 1999 // 2:,} pairs.*1,500,000 .*--max-pairs"):
        sosie.join(rows, threshold=0.8, max_pairs=1_500_000)


def test_where_there_are_far_too_many_pairs_they_are_estimated(monkeypatch):
    """Of a few rows; nothing else is looked at."""
    monkeypatch.setattr(dense_lists, "SAMPLE", 10_000)
    monkeypatch.setattr(dense_lists.DenseJoin, "all_pairs", lambda self: pytest.fail("refused before the work"))
    rows = features_of([frozenset([*range(20), 1000 + i]) for i in range(2000)])
    with pytest.raises(UsageError, match=r"about [12],[0-9]00,000 pairs are similar"):
        sosie.join(rows, threshold=0.8, max_pairs=100_000)
