"""The chance of being beside each other in an order, against orders that were drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.planner.models.permuted import chance_beside, found_in_any, recall_of_orders


def apart_by(rng, bits, far, pairs):
    """Pairs of rows of 0 and 1 that differ in just so many bits."""
    first = rng.integers(0, 2, (pairs, bits), dtype=np.uint8)
    other = first.copy()
    for row in other:
        row[rng.choice(bits, far, replace=False)] ^= 1
    return first, other


def places(rows, order):
    """Where each row stands, by its bits in some order; the first is the most significant."""
    ranked = np.lexsort(rows[:, order[::-1]].T)
    where = np.empty(len(rows), np.int64)
    where[ranked] = np.arange(len(rows))
    return where


@pytest.mark.parametrize(
    ("bits", "far", "window", "rows"),
    ((64, 3, 10, 3000), (64, 16, 100, 3000), (256, 90, 40, 3000), (40, 8, 7, 1500), (200, 60, 600, 2000)),
)
def test_rows_are_beside_each_other_as_often_as_the_model_says(bits, far, window, rows):
    rng = np.random.default_rng(bits + far)
    pairs = rows // 10
    first, other = apart_by(rng, bits, far, pairs)
    everything = np.concatenate([first, other, rng.integers(0, 2, (rows - 2 * pairs, bits), dtype=np.uint8)])
    beside, tries = 0, 24
    for _ in range(tries):
        where = places(everything, rng.permutation(bits))
        beside += (np.abs(where[:pairs] - where[pairs : 2 * pairs]) <= window).sum()
    expected = float(chance_beside(np.array([float(far)]), bits, rows, window)[0])
    assert beside / (tries * pairs) == pytest.approx(expected, abs=0.02)


@settings(deadline=None, max_examples=50)
@given(
    bits=st.integers(1, 300),
    rows=st.floats(2, 1e12),
    window=st.integers(1, 5000),
    tables=st.integers(1, 500),
)
def test_it_is_a_chance_and_falls_with_distance_and_rows(bits, rows, window, tables):
    distances = np.arange(bits + 1, dtype=float)
    chance = chance_beside(distances, bits, rows, window)
    assert ((chance >= -1e-12) & (chance <= 1 + 1e-9)).all()
    nearer = distances <= bits / 2  # beyond that, rows are nearer to being opposite than to being apart
    assert (np.diff(chance[nearer]) <= 1e-9).all()
    assert (chance_beside(distances, bits, 3 * rows, window)[nearer] <= chance[nearer] + 1e-6).all()
    more = recall_of_orders(distances, bits, rows, tables + 1, window)
    assert (more >= recall_of_orders(distances, bits, rows, tables, window) - 1e-12).all()


def test_who_is_within_a_window_of_all_rows_is_beside_everyone():
    assert chance_beside(np.array([0.0, 30.0]), 60, 100, 99).tolist() == [1, 1]
    assert found_in_any(np.array([0.0, 0.25, 1.0]), 2).tolist() == pytest.approx([0, 0.4375, 1])
