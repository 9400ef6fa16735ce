from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.kernels.slices.lists import slice_edges
from sosie.planner.models.slices import (
    chance_seen,
    lists_of_slice,
    lists_read,
    postings_read,
    score_chances,
    slice_collision,
    slice_widths,
    width_for,
)


@given(st.integers(1, 300), st.integers(2, 28))
def test_slices_are_those_of_the_index(bits, width):
    assert slice_widths(bits, width) == np.diff(slice_edges(bits, width)).tolist()


def apart(bits, width, flipped):
    """Return in how many bits each slice differs."""
    edges = np.cumsum([0, *slice_widths(bits, width)])
    return np.stack([flipped[:, low:high].sum(axis=1) for low, high in pairwise(edges)], 1)


def with_flips(bits, distance, count):
    flipped = np.zeros((count, bits), np.int64)
    places = np.argsort(np.random.default_rng(0).random(flipped.shape), axis=1)[:, :distance]
    np.put_along_axis(flipped, places, 1, axis=1)
    return flipped


@pytest.mark.parametrize(("bits", "width", "breadth"), ((64, 16, 0), (64, 11, 1), (128, 16, 2), (30, 30, 3)))
@pytest.mark.parametrize("distance", (0, 1, 4, 9, 20))
def test_a_row_is_seen_as_often_as_predicted(bits, width, breadth, distance):
    seen = np.any(apart(bits, width, with_flips(bits, distance, 8000)) <= breadth, axis=1)
    assert chance_seen(bits, width, breadth, distance) == pytest.approx(seen.mean(), abs=0.02)


@pytest.mark.parametrize(("bits", "width", "breadth"), ((64, 8, 0), (64, 8, 1), (60, 7, 2)))
def test_lists_and_postings_are_as_many_as_predicted(bits, width, breadth):
    rng = np.random.default_rng(0)
    rows, query = rng.integers(0, 2, (20_000, bits)), rng.integers(0, 2, (1, bits))
    read = np.count_nonzero(apart(bits, width, rows ^ query) <= breadth)
    assert read == pytest.approx(postings_read(len(rows), bits, width, breadth), rel=0.05)
    values = sum(
        sum(1 for value in range(2**each) if value.bit_count() <= breadth) for each in slice_widths(bits, width)
    )
    assert values == lists_read(bits, width, breadth)
    assert lists_of_slice(width, width) == 2**width


@pytest.mark.parametrize("flipped", (0.05, 0.3, 0.5))
def test_scores_are_as_frequent_as_predicted(flipped):
    bits, width, breadth = 60, 8, 2
    flips = np.random.default_rng(0).random((40_000, bits)) < flipped
    sizes, differ = np.array(slice_widths(bits, width)), apart(bits, width, flips.astype(np.int64))
    scores = np.where(differ <= breadth, sizes - differ, 0).sum(axis=1)
    predicted = score_chances(bits, width, breadth, flipped)
    assert np.allclose(predicted, np.bincount(scores, minlength=len(predicted)) / len(scores), atol=0.01)
    agree = np.mean(differ[:, 0] == 0)
    assert slice_collision(flipped, sizes[0]) == pytest.approx(agree, abs=0.01)


def test_the_width_grows_by_a_bit_for_each_doubling():
    assert [width_for(2**log) for log in (18, 20, 25)] == [14, 16, 21]
    assert width_for(1) == 2 and width_for(10**12) == 28
