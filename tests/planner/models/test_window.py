"""The model of the sliding window against what it says: simulated vectors, permutations and windows."""

import numpy as np
import pytest

import sosie
from sosie.matches.chunks import Window
from sosie.planner.facts import Spread
from sosie.planner.models.window import (
    Bits,
    agreement,
    chance_shared,
    chance_within,
    expected_recall,
    recall_of_similar,
    relative_cost,
    shared_bits,
    window_comparisons,
)


def with_cosine(cosine, count, dimensions, rng):
    """Pairs of unit vectors with just that cosine."""
    u, v = (rng.standard_normal((count, dimensions)) for _ in range(2))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v -= (u * v).sum(axis=1, keepdims=True) * u
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return u, cosine * u + np.sqrt(1 - cosine**2) * v


@pytest.mark.parametrize("cosine", (-0.2, 0.0, 0.3, 0.9))
def test_bits_of_random_projections_agree_as_often_as_equation_3_says(cosine):
    rng = np.random.default_rng(1)
    u, v = with_cosine(cosine, 40, 20, rng)
    planes = rng.standard_normal((20, 2000))
    same = np.mean((u @ planes >= 0) == (v @ planes >= 0))
    assert same == pytest.approx(float(agreement(cosine)), abs=0.01)


@pytest.mark.parametrize(("cosine", "leading", "tables"), ((0.3, 4, 5), (0.6, 6, 3), (0.3, 0, 1), (0.0, 3, 10)))
def test_leading_bits_are_shared_as_often_as_equation_4_says(cosine, leading, tables):
    rng = np.random.default_rng(2)
    trials = 4000
    u, v = with_cosine(cosine, trials, 8, rng)
    planes = rng.standard_normal((trials, 8, tables * leading))
    same = np.einsum("td,tdn->tn", u, planes) * np.einsum("td,tdn->tn", v, planes) >= 0
    shared = same.reshape(trials, tables, leading).all(axis=2).any(axis=1)
    assert shared.mean() == pytest.approx(float(chance_shared(cosine, leading, tables)), abs=0.025)


@pytest.mark.parametrize(("cosine", "bits", "leading"), ((0.3, Bits(100, 40), 7), (0.3, Bits(1000, 400), 12)))
def test_pairs_are_within_the_radius_as_often_as_equation_5_says(cosine, bits, leading):
    rng = np.random.default_rng(3)
    differ = rng.random((5000, bits.width)) < np.arccos(cosine) / np.pi
    differ[:, :leading] = False  # the leading bits are the same: that is given
    within = (differ.sum(axis=1) <= bits.radius).mean()
    assert within == pytest.approx(float(chance_within(cosine, bits, leading)), abs=0.025)


def test_the_product_is_how_often_permuted_signatures_are_found():
    """The variation that the paper analyses: pairs are compared in a table where their leading bits are the same."""
    rng = np.random.default_rng(4)
    cosine, bits, by, rows, trials = 0.35, Bits(1000, 400), Window(tables=30, window=100), 6400, 3000
    assert shared_bits(rows, by.window) == (6, 6)
    differ = rng.random((trials, bits.width)) < np.arccos(cosine) / np.pi
    shared = np.zeros(trials, bool)
    for _ in range(by.tables):
        shared |= ~differ[:, rng.permutation(bits.width)[:6]].any(axis=1)
    found = (shared & (differ.sum(axis=1) <= bits.radius)).mean()
    low, high = expected_recall(cosine, bits, rows, by)
    assert low == high == pytest.approx(found, abs=0.03)


def test_the_lower_bound_comes_first_and_both_rise():
    """More tables, wider windows and larger cosines find more."""
    cosines, bits = np.array([0.3, 0.5, 0.9]), Bits(1000, 400)
    low, high = expected_recall(cosines, bits, 10**6, Window(100, 1000))
    assert (low < high).all() and (np.diff(low) > 0).all()
    for more in (Window(200, 1000), Window(100, 4000)):
        assert (expected_recall(cosines, bits, 10**6, more)[0] > low).all()


@pytest.mark.parametrize("by", (Window(2, 3), Window(1, 1), Window(3, 500)))
def test_a_window_over_few_rows_holds_them_all(by):
    assert shared_bits(3, by.window) == (0, 0) or by.window < 3
    for rows in (0, 1, 2, 7, 300):
        pairs = sum(j - i <= by.window for i in range(rows) for j in range(i + 1, rows))
        assert window_comparisons(rows, by) == by.tables * pairs
        assert relative_cost(rows, by) == pytest.approx(by.tables * pairs / max(rows * (rows - 1) / 2, 1))


@pytest.mark.parametrize("across", (False, True))
def test_comparisons_and_cost_are_those_of_the_join(across):
    rng = np.random.default_rng(5)
    rows = sosie.Signatures(rng.integers(0, 2**64, (900, 4), dtype=np.uint64))
    a, b = (rows.take(np.arange(300)), rows.take(np.arange(300, 900))) if across else (rows, None)
    by = Window(tables=20, window=40)
    counters = sosie.join(a, b, radius=20, method=by).counters
    assert counters["window_comparisons"] == window_comparisons(900, by)
    cost = counters["comparisons"] / counters["brute_comparisons"]
    assert cost == pytest.approx(relative_cost(900, by), rel=0.02 if across else 1e-12)


def test_recall_of_a_mixture_is_the_mean_of_its_parts():
    bits, by = Bits(1000, 400), Window(tables=30, window=100)
    mixed = Spread(np.array([0.2, 0.4, 0.6]), np.array([5.0, 3.0, 2.0]))
    low, high = expected_recall(mixed.values, bits, 10**5, by)
    expected = [float(np.average(bound, weights=mixed.weights)) for bound in (low, high)]
    assert list(recall_of_similar(mixed, bits, 10**5, by)) == pytest.approx(expected)
