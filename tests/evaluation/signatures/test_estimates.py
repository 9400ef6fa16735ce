"""What signatures say of pairs beside the truth: the error of cosines, and stress, against their definitions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie import Features, Minhash, MismatchError, RandomProjection, Shingles, Signatures, Simhash, TopSig
from sosie.errors import UsageError
from sosie.evaluation.signatures.cosines import cosines
from sosie.evaluation.signatures.estimates import cosine_error, pairs_of, signer_error, stress

numbers = st.floats(-1, 1)


@given(st.lists(st.tuples(numbers, numbers), max_size=20), st.lists(numbers, min_size=1, max_size=4))
def test_any_pairs(pairs, least):
    found = cosine_error(np.array([true for true, _ in pairs]), np.array([guess for _, guess in pairs]), least)
    for bound, count, error, bias in zip(least, found.pairs, found.error, found.bias, strict=True):
        apart = [guess - true for true, guess in pairs if true >= bound]
        assert count == len(apart)
        if apart:
            assert error == pytest.approx(sum(map(abs, apart)) / count) and bias == pytest.approx(sum(apart) / count)
        else:
            assert np.isnan(error) and np.isnan(bias)


@dataclass(frozen=True)
class Stub:
    """Signs row i with bit i set, unless it has no features; two rows are as similar as their distance says."""

    @property
    def spec(self):
        return self

    def similarity(self, distance):
        return np.asarray(distance) / 10

    def sign(self, texts):
        rows = np.flatnonzero(texts.sizes)
        return Signatures((np.uint64(1) << rows.astype(np.uint64))[:, None], unsigned=np.flatnonzero(texts.sizes == 0))


def test_rows_without_a_signature_do_not_count():
    features = Features(np.arange(3, dtype=np.uint64), np.array([0, 1, 1, 2, 3]))
    true = np.array([[1, 9, 0.1, 0.2], [9, 1, 9, 9], [0.1, 9, 1, 0.5], [0.2, 9, 0.5, 1]])
    found = signer_error(Stub(), features, true, least=(0, 0.15, 0.6))
    assert found.pairs.tolist() == [3, 2, 0]
    assert found.error[:2] == pytest.approx([(0.1 + 0 + 0.3) / 3, 0.15]) and np.isnan(found.error[2])


def test_every_method_with_a_similarity_can_be_judged():
    texts = ["a b c d e f", "a b c d e g", "h i j k", ""]
    features = Shingles(1).extract(texts, counts=True)
    true = cosines(features, features.counts.astype(np.float64))
    for spec in (RandomProjection(bits=2000), Simhash(bits=2000), Minhash(minima=2000, rows=1), TopSig(bits=2000)):
        found = signer_error(spec.fit(features), features, true)
        assert found.pairs.tolist() == [3, 1, 1] and found.error[0] < 0.2


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(MismatchError, match="2 estimates for 3 cosines"):
        cosine_error(np.zeros(3), np.zeros(2))
    with pytest.raises(MismatchError, match="every two of 2 rows"):
        signer_error(Stub(), Features(np.arange(2, dtype=np.uint64), np.arange(3)), np.zeros(3))


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
