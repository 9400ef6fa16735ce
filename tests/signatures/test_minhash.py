"""Minhash: an estimator without bias, of the variance that independent permutations have, and bands of known recall."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from tests import oracle

from sosie import Features, Minhash, UsageError


def rows_of(drawn: np.ndarray) -> Features:
    """Each row of an array as a set of features."""
    return Features(np.sort(drawn, axis=1).ravel(), np.arange(len(drawn) + 1) * drawn.shape[1])


def pairs_of_sets(rng, trials: int, union: int, shared: int) -> tuple[Features, Features]:
    """Pairs of random sets of `union` features in all, `shared` of them in both."""
    drawn = rng.integers(0, 2**64, (trials, union), dtype=np.uint64)
    own = (union - shared) // 2
    return rows_of(drawn[:, : shared + own]), rows_of(np.delete(drawn, np.s_[shared : shared + own], axis=1))


@pytest.mark.parametrize(("union", "trials"), [(5, 20_000), (20, 20_000), (100, 10_000), (1000, 6000), (5000, 4000)])
def test_the_estimator_has_no_bias_and_the_least_variance(union, trials):
    count = 128
    signer, rng = Minhash(minima=count).fit(), np.random.default_rng(union)
    shared = union // 2
    truth = shared / union
    errors = []
    while trials:
        chunk = min(trials, max(1, 1_000_000 // union))
        trials -= chunk
        a, b = pairs_of_sets(rng, chunk, union, shared)
        errors.append((signer.minima(a).rows == signer.minima(b).rows).mean(axis=1) - truth)
    error = np.concatenate(errors)
    ideal = truth * (1 - truth) / count
    assert abs(error.mean()) < 4 * (ideal / len(error)) ** 0.5
    assert 0.9 * ideal < (error**2).mean() <= 1.05 * ideal


@pytest.mark.parametrize("b", [1, 2, 8])
def test_the_expected_distance_of_b_bit_signatures(b):
    """Minima that differ agree in each of their bits by chance: distance = bits * (1 - J) / 2."""
    trials, count = 3000, 256
    signer = Minhash(minima=count, rows=1, b=b).fit()
    for shared in (20, 32, 40):
        a, b_side = pairs_of_sets(np.random.default_rng(shared), trials, 40, shared)
        distances = np.bitwise_count(signer.sign(a).words ^ signer.sign(b_side).words).sum(axis=1)
        differ = 1 - shared / 40
        expected = count * b * differ / 2
        spread = (count * (b * b * differ * (1 - differ) / 4 + differ * b / 4) / trials) ** 0.5
        assert distances.mean() == pytest.approx(expected, abs=5 * spread + 1e-9)


@pytest.mark.parametrize(("minima", "rows"), [(128, 5), (128, 8), (126, 7), (64, 1), (100, 33), (6, 4)])
@pytest.mark.parametrize("shared", [16, 28, 36])
def test_the_recall_of_bands(minima, rows, shared):
    trials = 3000
    spec = Minhash(minima=minima, rows=rows)
    a, b = pairs_of_sets(np.random.default_rng(minima * shared), trials, 40, shared)
    met = (spec.fit().keys(a).values == spec.fit().keys(b).values).any(axis=1)
    predicted = spec.recall(shared / 40)
    assert met.mean() == pytest.approx(predicted, abs=5 * (predicted * (1 - predicted) / trials) ** 0.5 + 0.002)


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("recall", [0.9, 0.999])
def test_bands_for_a_threshold_are_the_most_selective_that_reach_the_recall(threshold, recall):
    spec = Minhash.for_threshold(threshold, recall=recall, minima=100)
    assert spec.minima == 100 and (spec.recall(threshold) >= recall or spec.rows == 1)
    assert all(Minhash(minima=100, rows=rows).recall(threshold) < recall for rows in range(spec.rows + 1, 33))


def test_impossible_thresholds_are_refused():
    for wrong in (
        {"threshold": 0},
        {"threshold": 1.1},
        {"threshold": 0.8, "recall": 1},
        {"threshold": 0.8, "recall": 0},
    ):
        with pytest.raises(UsageError):
            Minhash.for_threshold(**wrong)


def test_minima_keys_and_signatures_are_made_of_the_same_minima():
    rng = np.random.default_rng(2)
    rows = [sorted(rng.integers(0, 2**64, size, dtype=np.uint64).tolist()) for size in (1, 3, 4, 5, 9, 64, 257)]
    features = Features(np.array([*chain.from_iterable(rows)], np.uint64), np.cumsum([0, *map(len, rows)]))
    for count, b, seed in ((1, 32, 0), (63, 3, 1), (64, 1, 2), (65, 2, 2**32 - 1), (200, 5, 0)):
        signer = Minhash(minima=count, rows=1 + count // 9, b=b, seed=seed).fit()
        expected = [oracle.minima(row, count, seed) for row in rows]
        assert signer.minima(features).rows.tolist() == expected
        assert signer.keys(features).values.tolist() == [oracle.band_keys(low, 1 + count // 9) for low in expected]
        words = [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signer.sign(features).words]
        assert words == [oracle.packed(low, b) for low in expected]
