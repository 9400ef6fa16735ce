"""The chances of bands and of radii: drawn minima and drawn planes against the formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import UsageError
from sosie.planner.models.bands import (
    band_chance,
    bands_for,
    cosine_of,
    flip_chance,
    radius_chance,
    radius_for,
    rows_for,
)

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("shared", "total", "rows", "bands"), [(8, 10, 5, 4), (5, 10, 2, 3), (1, 4, 1, 6)])
def test_bands_of_minima_are_shared_as_often_as_the_formula_says(shared, total, rows, bands):
    """Two sets with so many common elements: of a random order, the first element of the union decides a minimum."""
    draws = 40_000
    first = RNG.integers(0, total, (draws, bands, rows))  # the place of the least of the union; common ones come first
    found = (first < shared).all(axis=2).any(axis=1).mean()
    assert found == pytest.approx(float(band_chance(shared / total, rows, bands)), abs=0.012)


@pytest.mark.parametrize(("cosine", "bits", "radius"), [(0.9, 64, 10), (0.6, 32, 9), (0.0, 16, 8), (1.0, 16, 0)])
def test_signs_of_random_planes_are_as_far_apart_as_the_formula_says(cosine, bits, radius):
    a = np.array([1.0, 0.0])
    b = np.array([cosine, np.sqrt(1 - cosine**2)])
    planes = RNG.normal(size=(20_000, bits, 2))
    apart = ((planes @ a > 0) != (planes @ b > 0)).sum(axis=1)
    assert (apart <= radius).mean() == pytest.approx(float(radius_chance(cosine, bits, radius)), abs=0.015)
    assert apart.mean() / bits == pytest.approx(float(flip_chance(cosine)), abs=0.005)


@given(st.sets(st.integers(0, 30), min_size=1), st.sets(st.integers(0, 30), min_size=1))
def test_no_two_sets_have_a_smaller_cosine_than_their_jaccard_similarity_allows(a, b):
    shared = len(a & b)
    cosine = shared / np.sqrt(len(a) * len(b))
    least = float(cosine_of(shared / len(a | b)))
    assert cosine >= least - 1e-12
    if len(a) == len(b):
        assert cosine == pytest.approx(least)


@given(st.floats(0.05, 1.0), st.floats(0.5, 0.999), st.integers(8, 256))
def test_rows_are_the_most_that_reach_the_recall(threshold, recall, minima):
    rows = rows_for(threshold, recall, minima)
    if rows > 1:
        assert band_chance(threshold, rows, minima // rows) >= recall
    if rows < min(minima, 32):
        more = rows + 1
        beyond = [band_chance(threshold, each, minima // each) for each in range(more, min(minima, 32) + 1)]
        assert max(beyond) < recall


@given(st.floats(0.3, 1.0), st.floats(0.5, 0.999), st.integers(1, 12))
def test_bands_are_the_fewest_that_reach_the_recall(threshold, recall, rows):
    bands = bands_for(threshold, recall, rows)
    assert band_chance(threshold, rows, bands) >= recall - 1e-9
    assert bands == 1 or band_chance(threshold, rows, bands - 1) < recall + 1e-9


@given(st.floats(0.0, 0.999), st.integers(1, 300), st.floats(0.01, 0.999))
def test_a_radius_is_the_smallest_that_reaches_the_recall(cosine, bits, recall):
    radius = radius_for(cosine, bits, recall)
    assert 0 <= radius <= bits
    assert radius == bits or float(radius_chance(cosine, bits, radius)) >= recall - 1e-9
    assert radius == 0 or float(radius_chance(cosine, bits, radius - 1)) < recall + 1e-9


@pytest.mark.parametrize("wrong", [(0.0, 0.9), (1.1, 0.9), (0.5, 0.0), (0.5, 1.0)])
def test_what_no_band_can_have_is_refused(wrong):
    with pytest.raises(UsageError):
        rows_for(*wrong)


@pytest.mark.parametrize("wrong", [(-0.1, 0.9), (1.1, 0.9), (0.5, 0.0), (0.5, 1.0)])
def test_what_no_radius_can_have_is_refused(wrong):
    with pytest.raises(UsageError):
        radius_for(wrong[0], 64, wrong[1])
