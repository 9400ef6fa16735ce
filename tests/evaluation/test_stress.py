"""Precision stress and recall stress, against the sums of Definition 1 in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import MismatchError, UsageError
from sosie.evaluation.stress import pairs_of, stress

SIMILARITIES = st.floats(0, 1).map(lambda value: round(value, 2))


def definition(pairs, threshold, side):
    """STEIN Definition 1; `side` 1 takes the pairs above the threshold as embedded, 0 in truth."""
    chosen = [pair for pair in pairs if pair[side] > threshold]
    below = sum(true**2 for true, _ in chosen)
    return sum((true - found) ** 2 for true, found in chosen) / below if below else math.nan


@given(st.lists(st.tuples(SIMILARITIES, SIMILARITIES), max_size=30), SIMILARITIES)
def test_stress_is_that_of_the_definition(pairs, threshold):
    (at,) = stress([true for true, _ in pairs], [found for _, found in pairs], [threshold])
    assert at.precision_stress == pytest.approx(definition(pairs, threshold, 1), nan_ok=True)
    assert at.recall_stress == pytest.approx(definition(pairs, threshold, 0), nan_ok=True)
    returned = {i for i, (_, found) in enumerate(pairs) if found > threshold}
    similar = {i for i, (true, _) in enumerate(pairs) if true > threshold}
    assert (at.returned, at.similar, at.both) == (len(returned), len(similar), len(returned & similar))
    assert at.precision == pytest.approx(at.both / at.returned if returned else math.nan, nan_ok=True)
    assert at.recall == pytest.approx(at.both / at.similar if similar else math.nan, nan_ok=True)


def test_a_perfect_embedding_has_no_stress():
    true = np.random.default_rng(0).random(100)
    for at in stress(true, true, [0, 0.5, 0.9]):
        assert at.precision_stress == at.recall_stress == 0 and at.precision == at.recall == 1


def test_the_threshold_itself_is_not_above():
    (at,) = stress([0.8, 0.9], [0.9, 0.8], [0.8])
    assert (at.returned, at.similar, at.both) == (1, 1, 0)


def test_pairs_are_those_above_the_diagonal():
    matrix = np.arange(16.0).reshape(4, 4)
    assert pairs_of(matrix).tolist() == [matrix[i, j] for i in range(4) for j in range(i + 1, 4)]


def test_what_does_not_fit_is_refused():
    with pytest.raises(MismatchError, match="of 2 pairs in truth, and of 1 as embedded"):
        stress([0.1, 0.2], [0.1], [0.5])
    with pytest.raises(UsageError, match=r"from 0 to 1, got 1\.5"):
        stress([0.1], [0.1], [1.5])
