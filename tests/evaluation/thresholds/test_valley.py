"""The valley: found between two modes, not found where there is one, and never by chance in more than one of twenty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.evaluation.thresholds.valley import BINS, LEAST, find_valley, histogram

ONE_MODE = {
    "flat": lambda random, count: random.random(count),
    "low": lambda random, count: random.beta(2, 6, count),
    "middle": lambda random, count: random.beta(6, 5, count),
    "high": lambda random, count: random.beta(9, 2, count),
    "falling": lambda random, count: np.minimum(random.exponential(0.2, count), 0.999),
    "all the same": lambda random, count: np.full(count, 1.0),
}


def two_modes(random, count, copies):
    near = round(copies * count)
    return np.concatenate([random.beta(2, 8, count - near), random.beta(14, 1.2, near)])


@pytest.mark.parametrize("shape", ONE_MODE)
def test_one_mode_has_no_valley(shape):
    for count in (1, 10, 100, 1000, 5000):
        random = np.random.default_rng(count)
        found = [find_valley(histogram(ONE_MODE[shape](random, count))) for _ in range(40)]
        assert sum(valley is not None for valley in found) <= 2


@pytest.mark.parametrize("copies", [0.05, 0.2, 0.6])
def test_two_modes_have_one(copies):
    for seed in range(20):
        similarity = two_modes(np.random.default_rng(seed), 1000, copies)
        valley = find_valley(histogram(similarity))
        assert valley is not None and 0.4 <= valley.threshold <= 0.85
        assert valley.low < valley.threshold < valley.high
        # what it says are counts of the very similarities
        inside = (similarity >= valley.low) & (similarity < valley.high)
        assert valley.inside == inside.sum() and valley.below == (similarity < valley.low).sum()
        assert valley.above == (similarity >= valley.high).sum()
        per_bin = valley.inside / ((valley.high - valley.low) * BINS)
        assert per_bin < valley.above / ((1 - valley.high) * BINS)


def test_a_few_documents_show_none_and_more_of_the_same_do():
    shape = np.array([700, 9, 6, 4, 2, 1, 1, 1, 1, 1, 2, 5, 9, 14, 20])
    assert find_valley(shape // 10) is None
    assert find_valley(shape) is not None and find_valley(10 * shape) is not None


def test_a_dent_is_none_until_the_counts_say_so():
    dent = np.array([60, 10, 10, 10, 10, 10, 10, 7, 7, 10, 10, 10, 10, 10, 10])
    assert find_valley(dent) is None
    assert find_valley(100 * dent).threshold == pytest.approx(0.65)


def test_nothing_below_is_looked_at():
    low_and_high = np.array([900, 10, 10, 200, 200, 200, 150, 150, 2, 2, 2, 2, 150, 150, 150])
    assert find_valley(low_and_high).threshold == 0.75
    only_low = np.array([3000, 10, 10, 60, 70, 80, 90, 100, 100, 100, 110, 120, 130, 140, 150])
    valley = find_valley(only_low)
    assert valley.threshold == 0.35
    assert find_valley(only_low, after=valley.high) is None
    assert find_valley(low_and_high, after=0.4).threshold == 0.75


@given(st.lists(st.integers(0, 60), min_size=15, max_size=15))
def test_what_it_says_fits_the_counts(counts):
    counts = np.array(counts)
    valley = find_valley(counts)
    if valley is not None:
        assert valley.inside + valley.below + valley.above == counts.sum()
        edges = [0.0, *(step / BINS for step in range(LEAST, BINS))]
        inside = [n for edge, n in zip(edges, counts, strict=True) if valley.low - 1e-9 < edge < valley.high - 1e-9]
        assert sum(inside) == valley.inside


@given(st.lists(st.fractions(0, 1, max_denominator=200), max_size=50))
def test_each_similarity_is_in_the_bin_that_begins_at_or_below_it(fractions):
    counts = histogram(np.array([float(each) for each in fractions], np.float64))
    for place in range(1, BINS - LEAST + 1):
        low, high = LEAST + place - 1, LEAST + place
        last = place == BINS - LEAST
        assert counts[place] == sum(low <= each * BINS and (last or each * BINS < high) for each in fractions)
    assert counts.sum() == len(fractions)
