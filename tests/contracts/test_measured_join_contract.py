"""What the exact join promises for every measure: every pair that reaches the threshold, and no other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle_measures as oracle

import sosie
from sosie import Features, UsageError
from sosie.matches.sets import join as set_join
from sosie.matches.sets import partitions
from sosie.matches.sets.join import join_similar
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import verify_rows
from sosie.types import Pairs

THRESHOLDS = [1, "4/5", 0.5, "1/3", 0.95, 0.25, 0.01, "1/1000000"]
KINDS = ["jaccard", "cosine", "weights", "containment"]  # "weights": the cosine of weights of their own


def joined(kind, rows, threshold, split=0, hashed=oracle.spread, threads=1) -> Pairs:
    features, weights = oracle.features_and_weights(rows, hashed)
    return join_similar(sets_of(features)[0], similarity_of(kind, weights), threshold, threads, split=split)


def similarity_of(kind, weights) -> Similarity:
    return Similarity("cosine", weights) if kind == "weights" else Similarity(kind)


def truth(kind, rows, threshold, split=0) -> list[tuple[int, int]]:
    """Compare all with all."""
    rows = rows if kind == "weights" else [dict.fromkeys(row, 1) for row in rows]
    measure = "cosine" if kind == "weights" else kind
    if len(rows) > 50:
        similar = oracle.similar_in_matrix(measure, rows, Fraction(str(threshold)))
        similar = similar[:split, split:] if split else np.triu(similar, 1)
        return [(int(a), int(b)) for a, b in np.argwhere(similar)]
    if split:
        return oracle.similar_across(measure, rows[:split], rows[split:], Fraction(str(threshold)))
    return oracle.similar_pairs(measure, rows, Fraction(str(threshold)))


def found(pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


weights = st.one_of(st.just(1), st.integers(0, 40))
rows = st.one_of(
    st.dictionaries(st.integers(0, 9), weights, max_size=4),
    st.dictionaries(st.integers(0, 9), weights, min_size=6),
)
collections = st.lists(rows, max_size=14)
hashings = st.sampled_from([oracle.spread, oracle.same_low_bits, oracle.same_high_bits])
kinds, thresholds = st.sampled_from(KINDS), st.sampled_from(THRESHOLDS)

NESTED = [dict.fromkeys(range(size), 1) for size in (1, 2, 3, 5, 9, 0, 9)]


@settings(max_examples=200)
@given(kinds, collections, thresholds, hashings)
@example("containment", NESTED, 1, oracle.spread)
@example("cosine", NESTED, "1/3", oracle.spread)  # 1 of 9 features: exactly a third
@example("weights", [{0: 4, 1: 3}, {0: 1}, {0: 8, 1: 6}, {5: 0}], 0.8, oracle.spread)
@example("weights", [{0: 4, 1: 3}, {0: 1}, {0: 8, 1: 6}, {5: 0}], 1, oracle.spread)
def test_a_collection_with_itself(kind, collection, threshold, hashed):
    pairs = joined(kind, collection, threshold, hashed=hashed)
    assert found(pairs) == truth(kind, collection, threshold)
    assert pairs.counters["bounded_lists"] == pairs.counters["unlisted_pairs"] == 0
    assert pairs.counters["comparisons"] >= len(pairs) and pairs.recall == 1.0


@settings(max_examples=120)
@given(kinds, st.lists(rows, min_size=2, max_size=20), thresholds, hashings, st.integers(1, 19))
def test_two_collections(kind, collection, threshold, hashed, split):
    split = min(split, len(collection) - 1)
    pairs = joined(kind, collection, threshold, split, hashed)
    assert found(pairs) == truth(kind, collection, threshold, split)


@settings(max_examples=40)
@given(kinds, st.lists(rows, min_size=2, max_size=20), thresholds, st.integers(1, 40), st.integers(1, 20))
def test_spans_and_partitions_never_matter(kind, collection, threshold, partition, span):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "PARTITION", partition)
        patch.setattr(partitions, "SPAN", span)
        pairs = joined(kind, collection, threshold, threads=2)
    assert found(pairs) == truth(kind, collection, threshold)


def families(rng) -> list[dict[int, int]]:
    """Near-duplicates over frequent and rare features, and parts of them: a paragraph of a long document."""
    made: list[set[int]] = [set(), set()]
    for _ in range(24):
        base = set((1500 * rng.random(int(rng.choice([1, 2, 5, 20, 100, 300]))) ** 2).astype(int).tolist())
        for _ in range(int(rng.integers(1, 6))):
            changed = {item for item in base if rng.random() > 0.06}
            made.append(changed | set(rng.integers(0, 1500, rng.integers(0, 1 + len(base) // 12)).tolist()))
        made.append({item for item in base if rng.random() < 0.2})
    return [weighed(made[i]) for i in rng.permutation(len(made))]


def under_one_header(rng) -> list[dict[int, int]]:
    """Documents of every size that all begin alike."""
    return [weighed({*range(12), *rng.integers(100, 600, size).tolist()}) for size in rng.permutation(160)]


def subsets(rng) -> list[dict[int, int]]:
    """Each the beginning of the next, among documents of one feature of their own."""
    nested = [weighed(range(size)) for size in range(1, 150)]
    return [(nested + [weighed([1000 + i]) for i in range(40)])[i] for i in rng.permutation(189)]


def weighed(items) -> dict[int, int]:
    return {int(item): 1 + int(item) % 7 for item in items}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [families, under_one_header, subsets])
@pytest.mark.parametrize("threshold", ["4/5", 0.5, 1])
def test_collections_of_all_sizes_on_any_number_of_threads(make, kind, threshold):
    collection = make(np.random.default_rng(8))
    expected = truth(kind, collection, threshold)
    alone = joined(kind, collection, threshold)
    assert found(alone) == expected and (expected or make is under_one_header or kind != "containment")
    for threads in (2, 7):
        pairs = joined(kind, collection, threshold, threads=threads)
        assert found(pairs) == expected and pairs.counters == alone.counters
    half = len(collection) // 2
    assert found(joined(kind, collection, threshold, half, threads=2)) == truth(kind, collection, threshold, half)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [5, 90, 250, 2500])
def test_exactly_at_the_threshold_and_just_below(kind, size):
    """Of both documents four fifths are shared; one feature more, and they are not."""
    shared = 4 * size // 5
    at = [dict.fromkeys([*range(shared), *range(mine, mine + size - shared)], 1) for mine in (10**6, 2 * 10**6)]
    if kind == "jaccard":
        at[1] = dict.fromkeys(range(shared), 1)
    below = [{**row, 5 * 10**6 + i: 1} for i, row in enumerate(at)]
    for sides in (at, at[::-1]):
        assert found(joined(kind, sides, 0.8)) == [(0, 1)]
        assert found(joined(kind, sides, "4/5", split=1)) == [(0, 0)]
    assert found(joined(kind, below, 0.8)) == found(joined(kind, below, 0.8, split=1)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_joined_is_what_is_verified(kind):
    collection = families(np.random.default_rng(3))
    features, own = oracle.features_and_weights(collection)
    sets, similarity = sets_of(features)[0], similarity_of(kind, own)
    every = np.array([(a, b) for a in range(len(collection)) for b in range(a + 1, len(collection))])
    verified = verify_rows(sets, Pairs(every[:, 0], every[:, 1]), 0.6, similarity=similarity)
    assert found(join_similar(sets, similarity, 0.6)) == found(verified) != []


# Dense lists: every pair all the same


@settings(max_examples=150)
@given(kinds, collections, st.sampled_from(["4/5", 0.5, "1/3"]), st.integers(1, 4), st.integers(0, 14), hashings)
def test_dense_lists_lose_no_pair(kind, collection, threshold, dense, split, hashed):
    split = min(split, len(collection))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_join, "DENSE", dense)
        pairs = joined(kind, collection, threshold, split, hashed)
    assert found(pairs) == truth(kind, collection, threshold, split)
    assert pairs.recall == 1.0


def test_quotations_are_found_in_the_document_that_holds_them():
    """A paragraph that 600 documents quote in part, and one holds: its list is dense, its pairs are not lost."""
    rng = np.random.default_rng(5)
    quoted = [dict.fromkeys([*rng.choice(40, 30, replace=False).tolist(), 1000 + i], 1) for i in range(600)]
    page = dict.fromkeys([*range(40), *range(5000, 5400)], 1)
    collection = [*quoted[:300], page, *quoted[300:]]
    pairs = joined("containment", collection, 0.9, threads=2)
    assert sum(300 in pair for pair in found(pairs)) == 600
    assert found(pairs) == truth("containment", collection, 0.9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_large_rows_of_dense_lists_lose_no_pair(kind, threshold, monkeypatch):
    """Rows that fill a sketch are told apart by screens, those of more than 512 features by narrower ones."""
    rng = np.random.default_rng(8)
    collection = []
    for size in (20, 56, 57, 64, 65, 300, 511, 513, 900):
        first = rng.choice(1200, size, replace=False)
        for changed in (0, size // 8, size // 3, size // 2):  # and parts of it, which the others contain
            other = np.concatenate([first[changed:], rng.integers(0, 1200, changed // 2)])
            collection += [dict.fromkeys(other.tolist(), 1), dict.fromkeys(other[: len(other) // 2].tolist(), 1)]
    monkeypatch.setattr(set_join, "DENSE", 2)
    pairs = joined(kind, collection, threshold, threads=2)
    assert len(pairs) > 0
    assert found(pairs) == truth(kind, collection, threshold)


def test_a_frequent_feature_that_few_probe_is_not_dense():
    """A word of a thousand long documents is all that a few short ones consist of: every pair is found."""
    long = [dict.fromkeys([0, *range(100 * i + 1, 100 * i + 40)], 1) for i in range(1000)]
    pairs = joined("containment", [*long, {0: 1}, {0: 1, 10**6: 1}], 1)
    assert found(pairs) == [*((i, 1000) for i in range(1000)), (1000, 1001)]
    assert pairs.counters["bounded_lists"] == 0


# The verbs


def test_the_verbs_take_a_measure():
    features = sosie.Shingles(width=1).extract(["a b", "a b c d e f g h", "a b c d e f g i"])
    expected = {"jaccard": [(1, 2)], "cosine": [(1, 2)], "containment": [(0, 1), (0, 2), (1, 2)]}
    for measure, pairs in expected.items():
        candidates = sosie.join(features, threshold="7/9", measure=measure)
        assert found(candidates) == pairs
        assert found(sosie.verify(candidates, features, threshold="7/9", measure=measure)) == pairs
    with pytest.raises(UsageError, match="measure must be"):
        sosie.join(features, threshold=0.5, measure="dice")
    with pytest.raises(UsageError, match="is for features"):
        sosie.join(sosie.Simhash(weighting="binary").fit().sign(features), radius=3, measure="cosine")


def test_the_cosine_of_term_counts():
    hashes, counts = np.array([1, 2, 1], np.uint64), np.array([4, 3, 1], np.int32)
    features = Features(hashes, np.array([0, 2, 3]), counts)
    assert found(sosie.join(features, threshold="4/5", measure="cosine")) == [(0, 1)]
    assert found(sosie.join(features, threshold="0.801", measure="cosine")) == []
    sets_only = Features(hashes, np.array([0, 2, 3]))
    assert found(sosie.join(sets_only, threshold="4/5", measure="cosine")) == []
    assert found(sosie.join(sets_only, features, threshold="4/5", measure="cosine")) == [(0, 0), (1, 0), (1, 1)]
    empty = Features(hashes[:0], np.zeros(1, np.int64))
    assert found(sosie.join(features, empty, threshold=0.5, measure="containment")) == []
    assert sosie.join(features, empty, threshold=0.5).recall == 1.0
    assert found(sosie.join(empty, threshold=0.5, measure="cosine")) == []
