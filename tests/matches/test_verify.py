"""Verification: the true similarity of every candidate, compared exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle

import sosie
from sosie import Features, MismatchError, Pairs, UsageError
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import similarities, verify_rows

rows = st.lists(st.dictionaries(st.integers(0, 7), st.integers(1, 4), max_size=6), min_size=1, max_size=6)
thresholds = st.sampled_from(["1", "4/5", "3/5", "1/2", "1/3", "0.7071", "1/1000000"])


def features_of(collection, counts: bool = True) -> Features:
    """Rows of {feature: count}."""
    ordered = [sorted((oracle.splitmix64(item), count) for item, count in row.items()) for row in collection]
    flat = [entry for row in ordered for entry in row]
    repeats = np.array([count for _, count in flat], np.int32) if counts else None
    return Features(np.array([h for h, _ in flat], np.uint64), np.cumsum([0, *map(len, ordered)]), repeats)


def all_pairs(first, second=None) -> Pairs:
    """Every pair, rows with themselves included: verification takes whatever it is given."""
    second = first if second is None else second
    both = np.array([(i, j) for i in range(len(first)) for j in range(len(second))], np.int64).reshape(-1, 2)
    return Pairs(both[:, 0], both[:, 1], {"comparisons": 5})


@settings(max_examples=150)
@given(rows, st.one_of(st.none(), rows), thresholds)
@example([{}, {}], None, "1/1000000")
@example([{}], [{}, {1: 1}], "1/2")
def test_jaccard(first, second, threshold):
    pairs = all_pairs(first, second)
    verified = sosie.verify(
        pairs, features_of(first), None if second is None else features_of(second), threshold=threshold, threads=1
    )
    others = first if second is None else second
    expected = [
        (i, j, len(first[i].keys() & others[j].keys()), len(first[i].keys() | others[j].keys()))
        for i, j in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        if oracle.jaccard(set(first[i]), set(others[j])) >= Fraction(threshold)
    ]
    columns = (verified.a, verified.b, verified.shared, verified.total)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert verified.similarity.tolist() == [shared / total for _, _, shared, total in expected]
    assert verified.counters == {"comparisons": 5, "candidates": len(pairs)}


@settings(max_examples=150)
@given(rows, st.one_of(st.none(), rows), thresholds, st.booleans())
@example([{}, {}], None, "1/1000000", True)
def test_cosine(first, second, threshold, counted):
    pairs = all_pairs(first, second)
    others = first if second is None else second
    verified = sosie.verify(
        pairs,
        features_of(first, counted),
        None if second is None else features_of(second, counted),
        threshold=threshold,
        measure="cosine",
        threads=1,
    )
    weigh = (lambda row: row) if counted else (lambda row: dict.fromkeys(row, 1))
    expected = [
        (i, j)
        for i, j in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        if oracle.cosine_reaches(weigh(first[i]), weigh(others[j]), Fraction(threshold))
    ]
    assert list(zip(verified.a.tolist(), verified.b.tolist(), strict=True)) == expected
    assert verified.total is None and verified.counters["candidates"] == len(pairs)
    for (i, j), cosine, shared in zip(expected, verified.similarity, verified.shared, strict=True):
        a, b = weigh(first[i]), weigh(others[j])
        dot = sum(count * b.get(item, 0) for item, count in a.items())
        assert shared == dot
        norms = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
        assert cosine == pytest.approx(dot / norms**0.5)


@settings(max_examples=150)
@given(rows, st.one_of(st.none(), rows), thresholds)
@example([{}, {}], None, "1/1000000")
def test_containment(first, second, threshold):
    pairs = all_pairs(first, second)
    others = first if second is None else second
    other = None if second is None else features_of(second)
    verified = sosie.verify(pairs, features_of(first), other, threshold=threshold, measure="containment", threads=1)
    expected = [
        (i, j, len(first[i].keys() & others[j].keys()), min(len(first[i]), len(others[j])))
        for i, j in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
    ]
    expected = [row for row in expected if row[3] and Fraction(row[2], row[3]) >= Fraction(threshold)]
    columns = (verified.a, verified.b, verified.shared, verified.total)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert verified.similarity.tolist() == [shared / total for *_, shared, total in expected]


@settings(max_examples=150)
@given(rows, thresholds, st.integers(0, 5))
def test_the_cosine_of_float_weights(collection, threshold, split):
    """In eighths, which float64 adds up exactly: at the threshold a pair is in, as with integers."""
    split = min(split, len(collection) - 1)
    features = features_of(collection)
    similarity = Similarity("cosine", features.counts / 8)
    pairs = all_pairs(collection[:split], collection[split:]) if split else all_pairs(collection)
    verified = verify_rows(sets_of(features)[0], pairs, threshold, 1, split=split, similarity=similarity)
    b = pairs.b + split
    expected = [
        oracle.cosine_reaches(collection[i], collection[j], Fraction(threshold))
        for i, j in zip(pairs.a.tolist(), b.tolist(), strict=True)
    ]
    assert np.array_equal(verified.a, pairs.a[expected]) and np.array_equal(verified.b, pairs.b[expected])
    shared = [
        len(collection[i].keys() & collection[j + split].keys()) for i, j in zip(verified.a, verified.b, strict=True)
    ]
    assert verified.shared.tolist() == shared and verified.total is None
    every = similarities(sets_of(features)[0], pairs.a, b, similarity, 2)
    assert np.array_equal(every[expected], verified.similarity) and every.max(initial=0) <= 1
    for i, j, value in zip(pairs.a.tolist(), b.tolist(), every.tolist(), strict=True):
        dot = sum(count * collection[j].get(item, 0) for item, count in collection[i].items())
        norms = sum(n * n for n in collection[i].values()) * sum(n * n for n in collection[j].values())
        assert value == pytest.approx(dot / norms**0.5 if dot else 0, abs=1e-12)


def test_rows_of_one_direction_have_a_cosine_of_exactly_one():
    rng = np.random.default_rng(2)
    for size in (1, 2, 10, 1000):
        hashes = np.sort(rng.integers(0, 2**64, size, dtype=np.uint64))
        weights = np.concatenate([w := rng.random(size) * 10.0 ** rng.integers(-3, 4), w, 3 * w])
        sets, _ = sets_of(Features(np.tile(hashes, 3), np.arange(4) * size))
        similarity = Similarity("cosine", weights)
        a, b = np.array([0, 0, 1]), np.array([1, 2, 2])
        assert similarities(sets, a, b, similarity).tolist() == [1, 1, 1]
        assert len(verify_rows(sets, Pairs(a, b), 1, similarity=similarity)) == 3


@given(rows, st.sampled_from(["jaccard", "cosine", "containment"]))
def test_similarities_of_any_pairs(collection, measure):
    features, pairs = features_of(collection, counts=False), all_pairs(collection)
    found = similarities(sets_of(features)[0], pairs.a, pairs.b, Similarity(measure), threads=2)
    for i, j, value in zip(pairs.a.tolist(), pairs.b.tolist(), found.tolist(), strict=True):
        a, b = set(collection[i]), set(collection[j])
        of = {"jaccard": len(a | b), "cosine": (len(a) * len(b)) ** 0.5, "containment": min(len(a), len(b))}[measure]
        assert value == (len(a & b) / of if a & b else 0)


def test_weights_that_do_not_fit():
    features, pair = features_of([{1: 1, 2: 1}, {1: 1}]), Pairs(np.array([0]), np.array([1]))
    sets, _ = sets_of(features)
    for short in (np.ones(2), np.ones(2, np.int64)):
        with pytest.raises(MismatchError, match=r"\[2\] weights for 3 features"):
            verify_rows(sets, pair, 0.5, similarity=Similarity("cosine", short))
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(UsageError, match="weights must be finite numbers, 0 or more"):
            verify_rows(sets, pair, 0.5, similarity=Similarity("cosine", np.array([1, 1, wrong])))


BOUNDARY = [
    ({0: 4, 1: 3}, {0: 1}, "4/5"),  # 4 / (5 * 1)
    ({0: 3, 1: 4}, {0: 7}, "3/5"),
    ({0: 1, 1: 1}, {0: 1, 2: 1}, "1/2"),
    ({0: 12, 1: 5}, {0: 1}, "12/13"),
    ({0: 30_000, 1: 40_000}, {1: 1}, "4/5"),
    ({i: 1 for i in range(9)}, {i: 1 for i in range(1)}, "1/3"),
    ({i: 1 for i in range(10)}, {i: 1 for i in range(2, 12)}, "4/5"),
]


@pytest.mark.parametrize(("a", "b", "cosine"), BOUNDARY)
def test_a_cosine_exactly_at_the_threshold_is_decided_by_integers(a, b, cosine):
    features = features_of([a, b])
    pair = Pairs(np.array([0]), np.array([1]))

    def reaches(threshold) -> int:
        return len(sosie.verify(pair, features, threshold=threshold, measure="cosine"))

    at = Fraction(cosine)
    above = Fraction(at.numerator * 70_000 + 1, at.denominator * 70_000)
    assert oracle.cosine_reaches(a, b, at) and not oracle.cosine_reaches(a, b, above)
    assert reaches(at) == 1 and reaches(above) == 0


def test_a_cosine_just_below_is_refused_though_floats_cannot_tell():
    a, b = {0: 10**9, 1: 1}, {0: 1}
    assert 10**9 / float(10**18 + 1) ** 0.5 == 1  # the cosine is 1 - 5e-19
    pair = Pairs(np.array([0]), np.array([1]))
    assert not oracle.cosine_reaches(a, b, Fraction(1))
    assert len(sosie.verify(pair, features_of([a, b]), threshold=1, measure="cosine")) == 0
    assert len(sosie.verify(pair, features_of([a, b]), threshold="0.999999", measure="cosine")) == 1


def test_many_pairs_on_any_number_of_threads():
    rng = np.random.default_rng(4)
    collection = [dict.fromkeys(rng.integers(0, 30, 12).tolist(), 2) for _ in range(200)]
    features, pairs = features_of(collection), all_pairs(collection)
    assert len(pairs) > 4 * (1 << 13)
    for measure in ("jaccard", "cosine", "containment"):
        alone = sosie.verify(pairs, features, threshold=0.5, measure=measure, threads=1)
        assert 0 < len(alone) < len(pairs)
        for threads in (2, 7):
            together = sosie.verify(pairs, features, threshold=0.5, measure=measure, threads=threads)
            for name in ("a", "b", "similarity", "shared"):
                assert np.array_equal(getattr(alone, name), getattr(together, name))


def test_no_pairs_and_no_such_measure():
    features, none = features_of([{1: 1}]), Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    for measure in ("jaccard", "cosine", "containment"):
        assert len(sosie.verify(none, features, threshold=0.8, measure=measure)) == 0
    with pytest.raises(UsageError, match="measure must be"):
        sosie.verify(none, features, threshold=0.8, measure="dice")
