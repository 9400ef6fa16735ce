"""The error of the cosine: by hand, and over all pairs of rows with a signature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie import Features, Minhash, MismatchError, RandomProjection, Shingles, Signatures, Simhash, TopSig
from sosie.evaluation.cosine_error import cosine_error, signer_error
from sosie.evaluation.cosines import cosines

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
