import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.planner.models.distances import at_most, binomial, drawn, random_kth, random_nearest, random_within


@pytest.mark.parametrize(("trials", "chance"), ((1, 0.3), (64, 0.5), (20, 0.01), (5, 0.0), (5, 1.0)))
def test_successes_are_as_often_as_drawn(trials, chance):
    found = np.random.default_rng(0).binomial(trials, chance, 200_000)
    observed = np.bincount(found, minlength=trials + 1) / len(found)
    assert np.allclose(binomial(trials, chance), observed, atol=0.005)
    assert at_most(trials, chance, trials // 2) == pytest.approx(np.mean(found <= trials // 2), abs=0.005)


@given(st.integers(0, 40), st.integers(0, 40), st.data())
def test_what_is_drawn_adds_up(marked, others, data):
    draws = data.draw(st.integers(0, marked + others))
    chances = drawn(marked, others, draws)
    assert chances.sum() == pytest.approx(1)
    assert chances @ np.arange(marked + 1) == pytest.approx(draws * marked / max(marked + others, 1))


def test_drawn_is_as_often_as_drawn():
    found = np.random.default_rng(1).hypergeometric(20, 44, 9, 200_000)
    assert np.allclose(drawn(20, 44, 9), np.bincount(found, minlength=21) / len(found), atol=0.005)


@pytest.mark.parametrize(("rows", "bits", "k"), ((2000, 64, 1), (2000, 64, 10), (5000, 32, 3), (3000, 256, 20)))
def test_the_nearest_of_random_rows_are_as_far_as_predicted(rows, bits, k):
    rng = np.random.default_rng(2)
    distances = np.sort(rng.binomial(bits, 0.5, (400, rows)), axis=1)[:, :k]
    last = random_kth(rows, bits, k)
    assert last.mean(lambda distance: distance) == pytest.approx(distances[:, -1].mean(), abs=0.15)
    every = random_nearest(rows, bits, k)
    assert every.mean(lambda distance: distance) == pytest.approx(distances.mean(), abs=0.15)
    for quantile in (0.1, 0.9):
        at = np.searchsorted(np.cumsum(last.weights) / last.total, quantile)
        assert abs(last.values[at] - np.quantile(distances[:, -1], quantile)) <= 1


def test_rows_within_a_radius_are_a_ball():
    rng = np.random.default_rng(3)
    assert random_within(20, 6) == pytest.approx(np.mean(rng.binomial(20, 0.5, 200_000) <= 6), abs=0.003)
    assert random_within(1024, 0) == 2.0**-1024 or random_within(1024, 0) == 0.0
    assert random_within(8, 8) == random_within(8, 9) == 1.0
