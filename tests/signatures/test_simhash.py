"""Simhash: weights, volatility and the radius that a cosine needs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from tests import oracle

from sosie import Features, FlatIndex, MismatchError, Shingles, Simhash, Source, UsageError, join
from sosie.features.spans import RowSpan

hashes = st.integers(0, 2**64 - 1)
weights = st.one_of(st.floats(-8, 8), st.sampled_from([0.0, 1.0, -1.0, 2**-16, 2**-17, 3 * 2**-17, 2.0**24]))


def csr(rows) -> Features:
    """Features of rows of hashes, as they are."""
    flat = [feature for row in rows for feature in row]
    return Features(np.array(flat, np.uint64), np.cumsum([0, *map(len, rows)]))


def as_ints(signatures) -> list[int]:
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signatures.words]


@settings(max_examples=60)
@given(
    st.lists(st.dictionaries(hashes, weights, max_size=12), max_size=6),
    st.sampled_from([(1, 0), (64, 0), (64, 3), (65, 0), (130, 1)]),
)
def test_weighted_signatures(rows, form):
    bits, seed = form
    signer = Simhash(bits=bits, seed=seed).fit()
    given_weights = [weight for row in rows for weight in row.values()]
    signed = signer.sign_weighted(csr(rows), given_weights, volatility=True)
    full = [row for row in rows if row]
    assert as_ints(signed) == [oracle.simhash(row.items(), bits, seed) for row in full]
    assert as_ints(signer.sign_weighted(csr(rows), given_weights)) == as_ints(signed)
    assert signed.unsigned.tolist() == [i for i, row in enumerate(rows) if not row]
    for row, found in zip(full, signed.volatility, strict=True):
        norm = max(sum(round(Fraction(weight) * 65536) ** 2 for weight in row.values()), 1) ** 0.5
        expected = [total / norm for total in oracle.simhash_sums(row.items(), bits, seed)]
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(st.lists(st.lists(hashes, min_size=1, max_size=40), min_size=1, max_size=5), st.sampled_from([64, 256]))
def test_equal_weights_and_repeats(rows, bits):
    """The carry-save counters count repeats; each occurrence weighs 1."""
    signed = Simhash(bits=bits, weighting="tf").fit()._sign_equal(RowSpan(csr(rows), 0, len(rows), Shingles())).rows
    expected = [oracle.simhash([(feature, 1) for feature in row], bits) for row in rows]
    assert [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signed] == expected


def test_a_tie_gives_zero():
    signer = Simhash().fit()
    word = 0x0123456789ABCDEF
    assert signer.sign_weighted(csr([[word, word ^ (2**64 - 1)]]), [1, 1]).words.tolist() == [[0]]
    assert signer.sign_weighted(csr([[word]]), [1]).words.tolist() == [[word]]
    assert signer.sign_weighted(csr([[word]]), [-1]).words.tolist() == [[word ^ (2**64 - 1)]]


def test_volatility_is_normalised_and_leaves_the_bits_alone():
    texts = ["a b c d e f g h", "a b", "", "to be or not to be or not to be"]
    for weighting in ("bm25", "tf-idf", "tf", "binary"):
        signer = Simhash(bits=100, weighting=weighting).fit(texts)
        plain, kept = signer.sign(texts), signer.sign(texts, volatility=True)
        assert np.array_equal(plain.words, kept.words) and plain.volatility is None
        assert kept.volatility.shape == (3, 100) and kept.volatility.dtype == np.float32
        positive = np.unpackbits(kept.words.view(np.uint8), axis=1, bitorder="little")[:, :100]
        assert np.array_equal(kept.volatility > 0, positive.astype(bool))
    assert np.abs(kept.volatility[1]).tolist() == pytest.approx([1] * 100)  # one feature: every sum is its weight
    texts = [" ".join(f"w{i * 100 + j}" for j in range(90)) for i in range(40)]
    squares = Simhash(bits=1024, weighting="binary").fit().sign(texts, volatility=True).volatility ** 2
    assert squares.mean() == pytest.approx(1, abs=0.03)  # unit vectors: Var W_j = 1


def test_spans_of_weighted_features_never_matter(monkeypatch):
    rng = np.random.default_rng(5)
    rows = [sorted(rng.integers(0, 2**64, rng.integers(0, 9), dtype=np.uint64).tolist()) for _ in range(200)]
    features, weights = csr(rows), rng.normal(size=sum(map(len, rows)))
    signer = Simhash(bits=130).fit()
    whole = signer.sign_weighted(features, weights, volatility=True, threads=1)
    monkeypatch.setattr("sosie.signatures.rows.SPAN", 8)
    for threads in (1, 2, 7):
        pieces = signer.sign_weighted(features, weights, volatility=True, threads=threads)
        assert np.array_equal(whole.words, pieces.words) and np.array_equal(whole.volatility, pieces.volatility)


def test_weights_that_cannot_be_used():
    signer, features = Simhash().fit(), csr([[1, 2]])
    for wrong in ([1.0], [1, np.inf], [1, np.nan], [1, 2.0**24 + 1], [[1, 2]]):
        with pytest.raises(UsageError, match="weights"):
            signer.sign_weighted(features, wrong)
    with pytest.raises(UsageError, match="counts=True"):
        Simhash(weighting="tf").fit().sign(features)


@pytest.mark.parametrize("bits", [1, 64, 256, 1000])
@pytest.mark.parametrize("cosine", [0.0, 0.3, 8 / 9, 0.99, 1.0])
def test_the_radius_is_the_least_that_reaches_the_recall(bits, cosine):
    flip = np.arccos(cosine) / np.pi
    for recall in (0.5, 0.9, 0.99, 0.999):
        radius = Simhash(bits=bits).radius(cosine, recall)
        assert binom.cdf(radius, bits, flip) >= recall - 1e-9
        assert radius == 0 or binom.cdf(radius - 1, bits, flip) < recall + 1e-9


def test_the_radius_refuses_what_is_no_probability():
    for wrong in ((-0.1, 0.9), (1.1, 0.9), (0.5, 0), (0.5, 1)):
        with pytest.raises(UsageError):
            Simhash().radius(*wrong)


@pytest.mark.parametrize("bits", [64, 256])
def test_pairs_at_the_cosine_are_within_the_radius(bits):
    """Sets of one size with Jaccard 4/5 have the cosine 8/9: the predicted share of them is within the radius."""
    trials, size = 3000, 90
    rng = np.random.default_rng(17)
    drawn = rng.integers(0, 2**64, (trials, 100), dtype=np.uint64)
    signer = Simhash(bits=bits, weighting="binary").fit()
    a, b = (
        signer.sign(Features(np.sort(part, axis=1).ravel(), np.arange(trials + 1) * size))
        for part in (drawn[:, :90], drawn[:, 10:])
    )
    distances = np.bitwise_count(a.words ^ b.words).sum(axis=1)
    assert distances.mean() == pytest.approx(bits * np.arccos(8 / 9) / np.pi, rel=0.03)
    for recall in (0.5, 0.9, 0.99):
        radius = Simhash(bits=bits).radius(8 / 9, recall)
        predicted = binom.cdf(radius, bits, np.arccos(8 / 9) / np.pi)
        assert (distances <= radius).mean() == pytest.approx(predicted, abs=5 * (recall * (1 - recall) / trials) ** 0.5)


FITTED = pytest.mark.parametrize("weighting", ["tf-idf", "bm25"])
COLLECTION = ["the cat sat on the mat", "the dog sat on the mat", "", "the bird sat on the roof of the house"]


@FITTED
def test_a_fit_is_the_same_from_texts_columns_features_and_sources(weighting):
    spec = Simhash(bits=128, weighting=weighting)
    source = Source(pa.table({"text": COLLECTION}), batch_size=1)
    features = spec.shingles.extract(COLLECTION, counts=True)
    expected = spec.fit(COLLECTION)
    for collection in (pa.chunked_array([COLLECTION[:1], COLLECTION[1:]]), features, source, source.batches()):
        assert spec.fit(collection, threads=2).digest == expected.digest
    halves = spec.fit(COLLECTION[:2]).frequencies + spec.fit(COLLECTION[2:]).frequencies
    assert spec.fit(halves).digest == expected.digest
    assert expected.frequencies.documents == 4


@FITTED
def test_signatures_of_different_fits_do_not_mix(weighting):
    spec = Simhash(weighting=weighting)
    a, b = spec.fit(COLLECTION), spec.fit(COLLECTION[:3])
    assert len({spec.digest, a.digest, b.digest, Simhash(weighting=weighting, seed=1).fit(COLLECTION).digest}) == 4
    with pytest.raises(MismatchError, match=b.digest):
        join(a.sign(COLLECTION), b.sign(COLLECTION), radius=3)
    with pytest.raises(MismatchError, match=b.digest):
        FlatIndex(a.sign(COLLECTION)).search(b.sign(COLLECTION), k=1)


@FITTED
def test_rare_features_weigh_more(weighting):
    """Every text has the same frame; only what is rare tells the texts apart."""
    frame = " ".join(f"frame{i}" for i in range(60))
    texts = [f"{frame} {' '.join(f'own{row}x{i}' for i in range(30))}" for row in range(40)]
    spec = Simhash(bits=256, shingles=Shingles(1), weighting=weighting)
    apart = []
    for signer in (Simhash(bits=256, shingles=Shingles(1)).fit(), spec.fit(texts)):
        words = signer.sign(texts).words
        apart.append(np.bitwise_count(words ^ np.roll(words, 1, axis=0)).sum(axis=1).mean())
    assert apart[1] > 1.3 * apart[0]


@FITTED
def test_a_signer_without_its_statistics_is_refused(weighting):
    with pytest.raises(UsageError, match=r"fit\(texts\)"):
        Simhash(weighting=weighting).fit()
    with pytest.raises(UsageError, match="counts=True"):
        Simhash(weighting=weighting).fit(csr([[1]]))
    with pytest.raises(UsageError, match="counts=True"):
        Simhash(weighting=weighting).fit(COLLECTION).sign(csr([[1]]))


@FITTED
def test_an_empty_collection_still_signs(weighting):
    for nothing in ([], ["", "."]):
        assert len(Simhash(weighting=weighting).fit(nothing).sign(COLLECTION)) == 3
