"""Shared features, how many a threshold needs, in integers; similarities of sets and of weights."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.similarity import (
    BELOW,
    COLLIDED,
    CONTAINMENT,
    COSINE,
    JACCARD,
    Criterion,
    contained_features,
    dot_products,
    measure_pairs,
    required_cosine,
    required_overlap,
    required_shared,
    shared_features,
    squared_norms,
)
from sosie.matches.sets.rows import rows_of, weighed_sets
from sosie.matches.sets.similarity import Similarity

sizes = st.one_of(st.integers(0, 40), st.integers(0, 10**7))
fractions = st.one_of(
    st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6),
    st.sampled_from([Fraction(4, 5), Fraction(1, 2), Fraction(1), Fraction(999_999, 10**6)]),
)


@settings(max_examples=400)
@given(sizes, sizes, fractions)
@example(9, 1, Fraction(1, 3))
@example(9_999_991, 9_999_991, Fraction(999_999, 10**6))
def test_a_cosine_needs_the_least_that_reaches_the_threshold(a, b, fraction):
    p, q = fraction.numerator, fraction.denominator
    need = required_cosine(a, b, p, q)
    root = isqrt(max(p * p * a * b - 1, 0))  # the least c with c q > sqrt(p^2 a b - 1)
    assert need == (root // q + 1 if a and b else 0)
    assert need == getattr(required_cosine, "py_func", required_cosine)(a, b, p, q)


@given(sizes, sizes, fractions)
def test_containment_needs_its_share_of_the_smaller_one(a, b, fraction):
    p, q = fraction.numerator, fraction.denominator
    assert required_shared(Criterion(CONTAINMENT, p, q, 0), a, b) == -(-p * min(a, b) // q)
    assert required_shared(Criterion(COSINE, p, q, 0), a, b) == required_cosine(a, b, p, q)


def test_norms_are_sums_of_squares_and_refuse_what_is_no_weight():
    weights = np.array([3.0, 4.0, 0.0, -1.0, np.nan, np.inf])
    norms = squared_norms(weights, np.array([0, 2, 3, 3, 4, 5]), np.array([2, 3, 3, 4, 5, 6]))
    assert norms[:3].tolist() == [25, 0, 0] and not np.isfinite(norms[3:]).any()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000, 12_345, 99_999])
def test_equal_sets_have_a_cosine_of_exactly_one(size):
    assert size / np.sqrt(np.float64(size) * np.float64(size)) == 1


@settings(max_examples=300)
@given(sizes, sizes, fractions)
def test_required_overlap_is_the_least_that_reaches_the_threshold(a, b, fraction):
    need = required_overlap(a, b, fraction.numerator, fraction.denominator)

    def reaches(shared: int) -> bool:
        return shared >= fraction * (a + b - shared)

    assert reaches(need) and (need == 0 or not reaches(need - 1))


@settings(max_examples=200)
@given(st.frozensets(st.integers(0, 30)), st.frozensets(st.integers(0, 30)), st.integers(0, 20))
def test_shared_features(a, b, need):
    hashes = np.array([2**63 - 1, *sorted(a), *sorted(b), 0], np.uint64)
    middle = 1 + len(a)
    found = shared_features(hashes, 1, middle, middle, middle + len(b), need)
    assert found == (len(a & b) if len(a & b) >= need else -1)


@settings(max_examples=300)
@given(st.frozensets(st.integers(0, 400), max_size=12), st.frozensets(st.integers(0, 400)), st.integers(0, 12))
def test_contained_features(a, b, need):
    hashes = np.array([2**63 - 1, *sorted(a), *sorted(b), 0], np.uint64)
    middle = 1 + len(a)
    found = contained_features(hashes, 1, middle, middle, middle + len(b), need)
    assert found == (len(a & b) if len(a & b) >= need else -1)


tagged = st.dictionaries(st.integers(0, 30), st.integers(0, 3), max_size=14)


@settings(max_examples=300)
@given(tagged, tagged, st.integers(0, 14), st.sampled_from([shared_features, contained_features]))
def test_features_are_shared_by_their_words(a, b, need, count):
    """A tag of 0 passes for any; what is below the need tells whether words were found to differ."""
    hashes = np.array([2**63 - 1, *sorted(a), *sorted(b), 0], np.uint64)
    tags = np.array([9, *(a[i] for i in sorted(a)), *(b[i] for i in sorted(b)), 9], np.uint32)
    same = {i for i in a.keys() & b.keys() if a[i] == b[i] or 0 in (a[i], b[i])}
    middle = 1 + len(a)
    found = count(hashes, 1, middle, middle, middle + len(b), need, tags)
    assert found == len(same) if len(same) >= need else found in (BELOW, COLLIDED)
    if found == COLLIDED:
        assert same < a.keys() & b.keys()
    if len(same) < need <= len(a.keys() & b.keys()):
        assert found == COLLIDED


@pytest.mark.parametrize("measure", ["jaccard", "cosine", "containment"])
def test_pairs_are_measured_by_words(measure):
    hashes = np.array([1, 2, 3, 4, 1, 2, 3, 4], np.uint64)
    tags = np.array([5, 5, 5, 5, 5, 5, 5, 6], np.uint32)
    rows, a, b = rows_of(hashes, np.array([0, 4]), np.array([4, 8])), np.array([0]), np.array([1])
    weights = [None, np.ones(8)] if measure == "cosine" else [None]
    for similarity in (Similarity(measure, each, tags) for each in weights):
        kind = ["jaccard", "cosine", "containment"].index(measure)
        value, shared = measure_pairs(weighed_sets(rows, similarity), Criterion(kind, 1, 2, 0), a, b)
        assert (value[0], shared[0]) == (3 / 5 if measure == "jaccard" else 3 / 4, 3)
        assert measure_pairs(weighed_sets(rows, similarity), Criterion(kind, 4, 5, 0), a, b)[1].tolist() == [COLLIDED]


def test_contained_features_of_a_span_a_thousand_times_as_long():
    longer = np.arange(0, 90_000, 3, dtype=np.uint64)
    for shorter in ([0], [89_997], [1, 2, 4], [0, 300, 44_444, 45_000, 89_997, 90_001], [5, 2**64 - 1]):
        hashes = np.concatenate([np.array(shorter, np.uint64), longer])
        expected = len(set(shorter) & set(longer.tolist()))
        assert contained_features(hashes, 0, len(shorter), len(shorter), len(hashes), 0) == expected


def test_the_largest_hashes_are_compared_without_sign():
    hashes = np.array([1, 2**63, 2**64 - 1, 0, 2**63, 2**64 - 2, 2**64 - 1], np.uint64)
    starts, stops = np.array([0, 3]), np.array([3, 7])
    sets = weighed_sets(rows_of(hashes, starts, stops), Similarity())
    assert measure_pairs(sets, Criterion(JACCARD, 1, 10, 0), np.array([0]), np.array([1]))[1].tolist() == [2]
    weights = np.array([1, 2, 3, 4, 5, 6, 7])
    assert dot_products(hashes, weights, starts, stops, np.array([0]), np.array([1])).tolist() == [2 * 5 + 3 * 7]


@pytest.mark.parametrize("kernel", [required_overlap, shared_features, contained_features])
def test_plain_python_says_the_same(kernel):
    arguments = {
        "required_overlap": (11, 19, 4, 5),
        "contained_features": (np.array([1, 2, 3, 2, 3, 4, 9], np.uint64), 0, 3, 3, 7, 2),
        "shared_features": (np.array([1, 2, 3, 2, 3, 4], np.uint64), 0, 3, 3, 6, 2),
    }[kernel.__name__]
    assert kernel(*arguments) == getattr(kernel, "py_func", kernel)(*arguments)
