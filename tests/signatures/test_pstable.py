"""p-stable LSH: Gaussian vectors, the recall that theory predicts, and the same numbers on every CPU."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from tests.oracle_keys import gaussian

import sosie
from sosie import Features, PStable, UsageError
from sosie.signatures.pstable import DEVIATION, UNIT, normal_quantiles


def pair_at(cosine: float, rng, trials: int) -> tuple[Features, Features]:
    """Pairs of binary rows of 64 features, of which so many are shared that their cosine is about the one given."""
    shared = round(64 * cosine)
    drawn = rng.integers(0, 2**64, (trials, 128 - shared), dtype=np.uint64)
    sides = (drawn[:, :64], np.concatenate([drawn[:, :shared], drawn[:, 64:]], axis=1))
    first, second = (
        Features(np.sort(side, axis=1).ravel(), np.arange(trials + 1) * 64, np.ones(64 * trials, np.int32))
        for side in sides
    )
    return first, second


@pytest.mark.parametrize("cosine", [0.25, 0.75, 0.875, 0.953125])
@pytest.mark.parametrize(("code_length", "multiplicity", "interval"), [(1, 1, 1.0), (8, 4, 4.0), (20, 10, 4.0)])
def test_documents_share_a_key_as_often_as_predicted(cosine, code_length, multiplicity, interval):
    seeds, trials = 80, 40
    a, b = pair_at(cosine, np.random.default_rng(int(64 * cosine)), trials)
    met = np.empty(seeds)
    for seed in range(seeds):
        given = {"code_length": code_length, "multiplicity": multiplicity, "interval": interval}
        spec = PStable(**given, weighting="binary", seed=seed)
        signer = spec.fit()
        met[seed] = (signer.keys(a).values == signer.keys(b).values).any(axis=1).mean()
    assert met.mean() == pytest.approx(spec.recall(cosine), abs=4 * met.std() / math.sqrt(seeds) + 0.005)


def test_longer_codes_are_more_precise_and_more_codes_find_more():
    for cosine in (0.0, 0.5, 0.9):
        lengths = [PStable(code_length=length).recall(cosine) for length in (1, 5, 20, 100)]
        tables = [PStable(multiplicity=count).recall(cosine) for count in (1, 5, 20, 100)]
        assert all(a > b for a, b in pairwise(lengths)) and all(a < b for a, b in pairwise(tables))
    assert PStable().recall(1) == 1.0
    with pytest.raises(UsageError, match="cosine"):
        PStable().recall(1.5)


def test_sums_are_equal_wherever_tuples_are_and_by_chance(monkeypatch):
    a, b = pair_at(0.5, np.random.default_rng(1), 500)
    spec = PStable(code_length=12, multiplicity=4, weighting="binary", encoding="sum")
    signer = spec.fit()
    shifts = signer._shifts()
    assert len(set(shifts.tolist())) == 1
    sums = signer.keys(a).values == signer.keys(b).values
    monkeypatch.setattr("sosie.signatures.pstable.PStableSigner._shifts", lambda self: shifts)
    signer = replace(spec, encoding="tuple").fit()
    tuples = signer.keys(a).values == signer.keys(b).values
    assert not (tuples & ~sums).any() and sums.mean() > 2 * tuples.mean() > 0


def test_the_quantiles_do_not_depend_on_the_last_digits_of_a_logarithm():
    exact = np.array([NormalDist().inv_cdf((i + 0.5) / 4096) * DEVIATION for i in range(2048, 4096)])
    assert np.abs(exact - np.floor(exact) - 0.5).min() > 1e-6
    quantiles = normal_quantiles()
    assert quantiles[2048:].tolist() == np.rint(exact).tolist() and (quantiles == -quantiles[::-1]).all()


def test_the_vectors_are_gaussian():
    rng = np.random.default_rng(0)
    singles = Features(np.sort(rng.integers(0, 2**64, 4000, dtype=np.uint64)), np.arange(4001), np.ones(4000, np.int32))
    signer = PStable(code_length=10, multiplicity=2, seed=3).fit()
    drawn = signer._sums(singles) / (UNIT * DEVIATION)
    assert drawn.shape == (4000, 20)
    assert abs(drawn.mean()) < 0.02 and abs(drawn.std() - 1) < 0.02
    assert abs((drawn**4).mean() - 3) < 0.15
    correlation = np.corrcoef(drawn.T) - np.eye(20)
    assert np.abs(correlation).max() < 0.09


def test_a_document_and_the_same_one_twice_have_the_same_keys():
    text = "the cat sat on the mat and the dog ran off"
    keys = PStable().fit().keys([text, f"{text} {text} {text} {text}"]).values
    assert (keys[0] == keys[1]).all()


def test_more_tables_begin_with_the_same_keys():
    texts = ["one two three", "four five six seven"]
    few = PStable(code_length=7, multiplicity=2).fit().keys(texts).values
    many = PStable(code_length=7, multiplicity=5).fit().keys(texts).values
    assert np.array_equal(many[:, :2], few)


def test_keys_work_with_the_index_and_the_join():
    texts = ["the cat sat on the mat", "The cat sat on the mat!", "nothing of this is in the others at all"]
    keys = PStable(code_length=16).fit().keys(texts)
    assert sosie.KeyIndex(keys).candidates(keys).of(0)[0].tolist() == [0, 1]
    pairs = sosie.join(keys)
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([0], [1])


def test_rare_words_count_more_with_tf_idf():
    texts = [f"the of and to in {word}" for word in ("cat", "dog", "bird", "fish", "cow", "hen")]
    plain = PStable(code_length=8, weighting="tf").fit(texts).keys(texts).values
    rare = PStable(code_length=8, weighting="tf-idf").fit(texts).keys(texts).values
    assert (plain[0] == plain[1]).mean() > (rare[0] == rare[1]).mean()


def test_features_without_counts_are_refused():
    features = sosie.Shingles(1).extract(["a b c"])
    with pytest.raises(UsageError, match="counts=True"):
        PStable().fit().keys(features)
    assert len(PStable(weighting="binary").fit().keys(features)) == 1


def test_projections_are_those_that_plain_python_cuts_into_intervals():
    rows = [{7: 2, 11: 1, 2**63: 5}, {11: 3}]
    features = Features(
        np.array([feature for row in rows for feature in sorted(row)], np.uint64),
        np.array([0, 3, 4]),
        np.array([row[feature] for row in rows for feature in sorted(row)], np.int32),
    )
    spec = PStable(code_length=3, multiplicity=2, seed=4)
    points = spec.fit().embed(features)
    assert points.shape == (2, 6)
    for row, made in zip(rows, points, strict=True):
        norm = math.sqrt(sum(count**2 for count in row.values()))
        for function in range(6):
            exact = sum(count / norm * gaussian(feature, function, 4) / DEVIATION for feature, count in row.items())
            assert made[function] == pytest.approx(exact, abs=1e-5)
    assert len(spec.fit().embed(["", "two words"])) == 1
