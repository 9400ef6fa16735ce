"""How many features a threshold needs, in integers; similarities of sets and of weights."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.measures import CONTAINMENT, COSINE, Criterion, required_cosine, required_shared, squared_norms

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
