"""Many numbers at a time: the same as one after the other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import NUMBERS, count_below, near_any

words = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=80)


@kernel
def any_near(span, begin, end, word, bound):
    return near_any(span, begin, end, word, bound)


@settings(deadline=None)
@given(words.filter(len), st.data(), st.integers(0, 2**64 - 1), st.integers(0, 64))
def test_near_any_is_right_up_to_the_words_beyond(values, data, word, bound):
    begin = data.draw(st.integers(0, len(values) - 1))
    end = data.draw(st.integers(begin + 1, len(values)))
    far = [~word & (2**64 - 1)] * 8  # beyond the end, and at the largest distance
    span = np.array(values[:end] + far, np.uint64)
    expected = any((value ^ word).bit_count() < bound for value in values[begin:end])
    assert any_near(span, begin, end, np.uint64(word), bound) == expected


@kernel
def below(numbers, count, bound):
    return count_below(numbers, count, bound)


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=70), st.integers(-(2**31), 2**31 - 1))
@settings(deadline=None, max_examples=60)
def test_counting_what_is_below(numbers, bound):
    padded = np.full(-(-len(numbers) // NUMBERS) * NUMBERS, 2**31 - 1, np.int32)
    padded[: len(numbers)] = numbers
    assert below(padded, len(numbers), np.int32(bound)) == sum(number < bound for number in numbers)
