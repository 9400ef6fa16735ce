"""The sorts of kernels against NumPy's, on numbers with and without repeats, in every order."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sosie.kernels.machine.sort import sort_values, sorted_distinct, stable_order

FEW, MANY = st.integers(0, 9), st.integers(0, 2**64 - 1)
NUMBERS = st.lists(FEW, max_size=300) | st.lists(MANY, max_size=300)


@given(NUMBERS)
@example(list(range(1000)))
@example(list(range(1000, 0, -1)))
@example([7] * 1000)
def test_sorted_in_place(numbers):
    values = np.array(numbers, np.uint64)
    sort_values(values)
    assert values.tolist() == sorted(numbers)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=100))
def test_signed_numbers(numbers):
    values = np.array(numbers, np.int64)
    sort_values(values)
    assert values.tolist() == sorted(numbers)


@given(NUMBERS)
@example([1, 0] * 500)
def test_equal_numbers_stay_as_they_stand(numbers):
    values = np.array(numbers, np.uint64)
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()


@given(st.lists(st.integers(-5, 40), max_size=200))
def test_each_once(numbers):
    assert sorted_distinct(np.array(numbers, np.int32)).tolist() == sorted(set(numbers))


def test_a_span_of_an_array_alone_is_sorted():
    values = np.arange(100)[::-1].copy()
    sort_values(values[10:60])
    assert values.tolist() == [*range(99, 89, -1), *range(40, 90), *range(39, -1, -1)]
