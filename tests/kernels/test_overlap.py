"""Shared features of two sorted spans, and how many a threshold needs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.overlap import contained_features, dot_products, overlaps, required_overlap, shared_features

sizes = st.one_of(st.integers(0, 40), st.integers(0, 10**7))
fractions = st.one_of(
    st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6),
    st.sampled_from([Fraction(4, 5), Fraction(1, 2), Fraction(1), Fraction(999_999, 10**6)]),
)


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


def test_contained_features_of_a_span_a_thousand_times_as_long():
    longer = np.arange(0, 90_000, 3, dtype=np.uint64)
    for shorter in ([0], [89_997], [1, 2, 4], [0, 300, 44_444, 45_000, 89_997, 90_001], [5, 2**64 - 1]):
        hashes = np.concatenate([np.array(shorter, np.uint64), longer])
        expected = len(set(shorter) & set(longer.tolist()))
        assert contained_features(hashes, 0, len(shorter), len(shorter), len(hashes), 0) == expected


def test_the_largest_hashes_are_compared_without_sign():
    hashes = np.array([1, 2**63, 2**64 - 1, 0, 2**63, 2**64 - 2, 2**64 - 1], np.uint64)
    starts, stops = np.array([0, 3]), np.array([3, 7])
    assert overlaps(hashes, starts, stops, np.array([0]), np.array([1]), (1, 10)).tolist() == [2]
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
