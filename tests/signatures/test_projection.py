"""Random projection: vectors, estimates, and that nothing depends on how rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from tests import oracle_projection

from sosie import Features, FlipModel, ProbeIndex, ProbeSearch, RandomProjection, Shingles, Simhash, UsageError
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.signatures.cosines import cosines
from sosie.evaluation.signatures.estimates import signer_error

hashes = st.integers(0, 2**64 - 1)
counts = st.one_of(st.integers(1, 50), st.sampled_from([32767, 32768, 2**31 - 1]))


def csr(rows) -> Features:
    """Features of rows of hashes with counts."""
    flat = [item for row in rows for item in sorted(row.items())]
    offsets = np.cumsum([0, *map(len, rows)])
    return Features(np.array([h for h, _ in flat], np.uint64), offsets, np.array([c for _, c in flat], np.int32))


def as_ints(signatures) -> list[int]:
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signatures.words]


def apart(a, b) -> np.ndarray:
    return np.bitwise_count(a.words ^ b.words).sum(axis=1)


@settings(max_examples=40)
@given(
    st.lists(st.dictionaries(hashes, counts, max_size=6), max_size=5),
    st.sampled_from([(1, 0, "gaussian"), (64, 3, "ternary"), (130, 1, "gaussian"), (67, 2**32 - 1, "ternary")]),
)
def test_any_rows(rows, form):
    bits, seed, vectors = form
    signed = RandomProjection(bits=bits, seed=seed, vectors=vectors).fit().sign(csr(rows))
    assert as_ints(signed) == [oracle_projection.projection(row.items(), bits, seed, vectors) for row in rows if row]
    assert signed.unsigned.tolist() == [i for i, row in enumerate(rows) if not row]


def test_gaussian_numbers_are_gaussian():
    """Over all 2^16 fields that they are made of."""
    numbers = np.sort([oracle_projection.gaussian(field) for field in range(1 << 16)]) / 2
    assert numbers.mean() == 0 and -128 <= numbers[0] and numbers[-1] <= 127
    values, sizes = np.unique(numbers, return_counts=True)
    between = norm.cdf((values[1:] + values[:-1]) / 2, scale=numbers.std())
    assert np.abs(np.cumsum(sizes)[:-1] / 65536 - between).max() < 0.0061
    assert np.mean((numbers / numbers.std()) ** 4) == pytest.approx(3, abs=0.17)


def test_ternary_numbers_are_rare_and_of_unit_kurtosis():
    numbers = np.array([oracle_projection.ternary(field) for field in range(1 << 16)])
    assert [np.mean(numbers == value) for value in (-1, 0, 1)] == pytest.approx([1 / 6, 2 / 3, 1 / 6], abs=1e-4)
    assert np.mean((numbers / numbers.std()) ** 4) == pytest.approx(3, abs=1e-3)


@pytest.mark.parametrize(("vectors", "within"), [("gaussian", 3), ("ternary", 9)])
@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.8, 0.95])
def test_the_share_of_bits_that_differ_is_the_angle(vectors, within, cosine):
    """Sets of 40 features; sums of ternary numbers with equal weights are often 0, which gives the bit 0."""
    rng = np.random.default_rng(5)
    shared = round(40 * cosine)
    drawn = rng.integers(0, 2**64, (400, 80 - shared), dtype=np.uint64)
    a, b = (np.sort(drawn[:, :40], axis=1), np.sort(drawn[:, 40 - shared :], axis=1))
    signer = RandomProjection(bits=1000, vectors=vectors, weighting="binary").fit()
    one, other = (signer.sign(Features(side.ravel(), 40 * np.arange(401))) for side in (a, b))
    assert apart(one, other).mean() == pytest.approx(1000 * np.arccos(shared / 40) / np.pi, abs=within)


def test_few_features_are_estimated_well_by_gaussian_vectors_only():
    """One feature beside another that weighs half as much: the cosine is 2 / sqrt 5, a sum of +-1 never turns."""
    drawn = np.random.default_rng(9).integers(0, 2**64, (300, 2), dtype=np.uint64)
    both = csr([{int(a): 2, int(b): 1} for a, b in drawn])
    alone = csr([{int(a): 1} for a, _ in drawn])
    estimates = {}
    for spec in (RandomProjection(bits=1024), Simhash(bits=1024)):
        signer = spec.fit()
        estimates[spec.method] = spec.similarity(apart(signer.sign(both), signer.sign(alone))).mean()
    assert estimates["projection"] == pytest.approx(2 / 5**0.5, abs=0.01)
    assert estimates["simhash"] == 1


def test_wider_signatures_begin_with_the_bits_of_narrower_ones():
    texts = ["one two three four five", "six seven eight"]
    wide = as_ints(RandomProjection(bits=1000).fit().sign(texts))
    assert as_ints(RandomProjection(bits=77).fit().sign(texts)) == [word & (1 << 77) - 1 for word in wide]


@pytest.mark.parametrize("weighting", ["tf", "bm25"])
def test_spans_never_matter(weighting, monkeypatch):
    rng = np.random.default_rng(6)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 90, rng.integers(0, 9))) for _ in range(200)]
    signer = RandomProjection(bits=130, weighting=weighting).fit(texts)
    features = signer.spec.shingles.extract(texts, counts=True)
    whole = signer.sign(texts, threads=1)
    monkeypatch.setattr("sosie.signatures.rows.SPAN", 8)
    for threads in (1, 3):
        for given_as in (texts, features):
            pieces = signer.sign(given_as, threads=threads)
            assert np.array_equal(whole.words, pieces.words) and np.array_equal(whole.unsigned, pieces.unsigned)


def test_what_the_signer_needs_is_said():
    with pytest.raises(UsageError, match=r"fit\(texts\)"):
        RandomProjection(weighting="bm25").fit()
    plain = Shingles().extract(["a b c d"])
    with pytest.raises(UsageError, match="counts=True"):
        RandomProjection().fit().sign(plain)
    assert len(RandomProjection(weighting="binary").fit().sign(plain)) == 1


def test_the_error_of_the_cosine_is_that_of_the_paper():
    """NFL Table 1: .040 over all pairs of 1,064 documents at 1000 bits, .124 at 100."""
    texts = next(PlantedCorpus(documents=1064, copies=0.3, seed=2).tables())["text"]
    features = Shingles(1).extract(texts, counts=True)
    true = cosines(features, features.counts.astype(np.float64))
    for bits, bound in ((1000, 0.040), (100, 0.126)):
        found = signer_error(RandomProjection(bits=bits, shingles=Shingles(1)).fit(), features, true)
        assert found.pairs[0] == 1064 * 1063 // 2
        assert bound * 0.85 < found.error[0] <= bound


@pytest.mark.parametrize("vectors", ["gaussian", "ternary"])
def test_sums_tell_which_bits_flip(vectors):
    """PSM Equation 4: probes by the sums of a projection find what those of equally likely flips do not."""
    rng = np.random.default_rng(8)
    originals = [[f"w{n}" for n in rng.integers(0, 10**6, 60)] for _ in range(1500)]
    edited = [" ".join([*words[:-1], f"x{i}"]) for i, words in enumerate(originals)]
    spec = RandomProjection(bits=64, vectors=vectors, shingles=Shingles(1))
    signer = spec.fit()
    index = ProbeIndex(signer.sign([" ".join(words) for words in originals]), ProbeSearch(12), header=16)
    volatile, plain = signer.sign(edited, volatility=True), signer.sign(edited)
    exact = len(index.within(plain, 6, effort=ProbeSearch(1 << 16)).rows)
    with_sums, without = (len(index.within(queries, 6).rows) for queries in (volatile, plain))
    assert exact > 900 and with_sums > 0.88 * exact and without < 0.8 * exact
    flips = FlipModel.of(signer.sign([" ".join(words) for words in originals], volatility=True))
    assert len(index.tuned(ProbeSearch(12), flips=flips).within(volatile, 6).rows) > 0.88 * exact
