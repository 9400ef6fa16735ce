"""Embeddings that are fitted: the points are those of the definitions, and what cannot be fitted is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import polar
from tests.artefacts import rewritten

import sosie
from sosie import MismatchError, Shingles, Source, StorageError, SvdEmbedding, ThresholdEmbedding, UsageError
from sosie.evaluation.planted import PlantedCorpus
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import weights
from sosie.signatures import embedding, svd, threshold
from sosie.signatures.decompose import spectral_rows, unit_rows
from sosie.signatures.rows import UnknownVocabularyError
from sosie.signatures.stream import FeatureKeep, stream
from sosie.storage.room import Room

KINDS = [SvdEmbedding, ThresholdEmbedding]
every_kind = pytest.mark.parametrize("kind", KINDS)


def texts_of(count: int, seed: int = 0) -> list[str]:
    """Texts of which each third is an edited copy of the one before."""
    rng = np.random.default_rng(seed)
    texts: list[list[str]] = []
    for row in range(count):
        words = [f"w{n}" for n in (400 * rng.random(30) ** 2).astype(int)]
        if row % 3 == 2:
            words = [*texts[-1][:27], *words[:3]]
        texts.append(words)
    return [" ".join(words) for words in texts]


TEXTS = texts_of(90)


def cosines(texts: list[str], weighting: str = "tf-idf") -> np.ndarray:
    features = Shingles(1).extract(texts, counts=True)
    x = unit_rows(features, weights(features, weighting, count_frequencies([features]))).toarray()
    return x @ x.T


def nearest(matrix: np.ndarray, rank: int) -> np.ndarray:
    """The positive semi-definite matrix of this rank that is nearest to a symmetric one."""
    values, vectors = np.linalg.eigh(matrix)
    kept = np.maximum(values, 0) * (np.arange(len(values)) >= len(values) - rank)
    return vectors * kept @ vectors.T


@pytest.mark.parametrize("weighting", ["tf-idf", "tf", "bm25", "binary"])
@pytest.mark.parametrize("dimensions", [1, 7, 40])  # by ARPACK, and from whole matrices
def test_svd_is_the_nearest_approximation_of_all_cosines(dimensions, weighting):
    points = SvdEmbedding(dimensions=dimensions, weighting=weighting).fit(TEXTS).embed(TEXTS)
    assert points.shape == (90, dimensions)
    assert np.allclose(points @ points.T, nearest(cosines(TEXTS, weighting), dimensions), atol=1e-5)


@pytest.mark.parametrize("dimensions", [1, 7, 40])
def test_points_are_the_nearest_approximation_of_thresholded_cosines(dimensions):
    spec = ThresholdEmbedding(dimensions=dimensions, theta=0.6)
    points = spec.fit(TEXTS).embed(TEXTS)
    thresholded = spec.thresholded(cosines(TEXTS))
    # Documents that are like no other share one eigenvalue, so that several approximations are equally near.
    least = np.linalg.norm(thresholded - nearest(thresholded, dimensions))
    assert np.linalg.norm(thresholded - points @ points.T) == pytest.approx(least, rel=1e-4)


def test_clipped_eigenvalues_are_the_repair_of_higham():
    """STEIN Remark 6: (G + H) / 2 with the polar factor H is what remains without the negative eigenvalues."""
    thresholded = ThresholdEmbedding(theta=0.1, vartheta=0.05).thresholded(cosines(TEXTS))
    assert np.linalg.eigvalsh(thresholded)[0] < -0.01
    assert np.allclose((thresholded + polar(thresholded)[1]) / 2, nearest(thresholded, len(TEXTS)))


def test_equal_documents_have_equal_points():
    texts = [*TEXTS[:30], *TEXTS[:10]]
    for spec in (SvdEmbedding(dimensions=5), ThresholdEmbedding(dimensions=5, theta=0.6)):
        points = spec.fit(texts).embed(texts)
        assert np.array_equal(points[:10], points[30:])
    thresholded = ThresholdEmbedding(theta=0.6).thresholded(cosines(texts))
    least = np.linalg.norm(thresholded - nearest(thresholded, 5))
    assert np.linalg.norm(thresholded - points @ points.T) == pytest.approx(least, rel=1e-4)


def test_a_scalar_product_above_one_half_means_a_cosine_above_theta():
    spec = ThresholdEmbedding(dimensions=31, theta=0.6)  # one for each pair, and one for vartheta
    points = spec.fit(TEXTS).embed(TEXTS)
    above = np.triu(cosines(TEXTS) > 0.6, 1)
    said = np.triu(points @ points.T > 0.5, 1)
    assert above.sum() == 30 and np.array_equal(said, above)


@given(
    st.floats(0.05, 0.95),
    st.floats(0, 0.95),
    st.floats(1, 200),
    st.floats(1, 200),
    st.lists(st.floats(0, 1), min_size=2),
)
def test_the_threshold_function_ascends_through_its_three_points(theta, share, lower, upper, cosine):
    vartheta = share * min(theta, 0.5)
    spec = ThresholdEmbedding(theta=theta, vartheta=vartheta, lower_slope=lower, upper_slope=upper)
    assert np.allclose(spec.thresholded([0, theta, 1]), [vartheta, 0.5, 1])
    values = spec.thresholded(np.sort(cosine))
    assert (np.diff(values) >= -1e-12).all() and values[0] >= vartheta - 1e-12 and values[-1] <= 1 + 1e-12


def test_slopes_are_those_of_tanh():
    spec = ThresholdEmbedding(theta=0.5, vartheta=0.2, lower_slope=3.0, upper_slope=7.0)
    low, high = spec.thresholded([0.4, 0.6])
    assert low == pytest.approx(0.2 + 0.3 * (1 - math.tanh(0.3) / math.tanh(1.5)))
    assert high == pytest.approx(0.5 + 0.5 * math.tanh(0.7) / math.tanh(3.5))


@every_kind
@pytest.mark.parametrize("dimensions", [3, 20, 90])
def test_documents_that_share_nothing_are_no_obstacle(kind, dimensions):
    """All eigenvalues are equal, which stops a Lanczos iteration."""
    texts = [f"a{row} b{row}" for row in range(100)]
    points = kind(dimensions=dimensions).fit(texts).embed(texts)
    assert np.linalg.norm(points) == pytest.approx(
        math.sqrt(dimensions) if kind is SvdEmbedding else math.sqrt(0.9 * dimensions + 10), rel=1e-4
    )


def test_a_collection_of_more_documents_than_words(monkeypatch):
    texts = [" ".join(f"w{n}" for n in range(10) if row >> n & 1) for row in range(1, 1000)]
    expected = nearest(cosines(texts, "tf"), 9)
    points = SvdEmbedding(dimensions=9, weighting="tf").fit(texts).embed(texts)
    assert np.allclose(points @ points.T, expected, atol=1e-5)
    with pytest.raises(UsageError, match="rank of the collection, 10, got 11"):
        SvdEmbedding(dimensions=11).fit(texts)


@every_kind
def test_new_documents_land_near_their_like(kind):
    signer = kind(dimensions=30).fit(TEXTS)
    edited = [f"{text} w1 w2" for text in TEXTS]
    old, new = signer.embed(TEXTS), signer.embed(edited)
    described = (old**2).sum(axis=1) > 0.5
    own, others = (old * new).sum(axis=1), (old @ np.roll(new, 4, axis=0).T).diagonal()
    assert described.sum() > 10
    assert own[described].min() > 0.3 and np.median(others[described]) < 0.2


@every_kind
def test_hamming_distances_are_the_angles_of_points_with_what_is_left(kind):
    spec = kind(dimensions=10, bits=4096)
    signer = spec.fit(TEXTS)
    points, words = signer.embed(TEXTS), signer.sign(TEXTS).words
    left = np.sqrt(np.maximum(1 - (points**2).sum(axis=1), 0))
    z = points @ points.T + np.outer(left, left) * cosines(TEXTS)
    norms = np.sqrt(np.diag(z))
    angles = np.arccos(np.clip(z / np.outer(norms, norms), -1, 1)) / np.pi
    distances = np.bitwise_count(words[:, None] ^ words[None]).sum(axis=2) / 4096
    assert np.abs(distances - angles).max() < 0.06 and np.abs(distances - angles).mean() < 0.01


@every_kind
def test_a_fit_is_the_same_again_and_however_the_collection_is_cut(kind):
    spec = kind(dimensions=4)
    signer = spec.fit(TEXTS)
    table = pa.table({"text": TEXTS})
    features = spec.shingles.extract(TEXTS, counts=True)
    for again in (TEXTS, features, Source(table, batch_size=7), Source(table).batches(), signer.statistics):
        assert spec.fit(again).digest == signer.digest
    largest = np.abs(signer.basis.directions).argmax(axis=0)
    assert (signer.basis.directions[largest, np.arange(4)] > 0).all()


@every_kind
def test_a_sample_is_the_same_however_the_collection_is_cut(kind):
    spec = kind(dimensions=4, sample=50)
    signer = spec.fit(["", *TEXTS])
    assert signer.basis.frequencies.documents == 50
    for size in (1, 13, 1000):
        assert spec.fit(Source(pa.table({"text": ["", *TEXTS]}), batch_size=size)).digest == signer.digest
    assert kind(dimensions=4, sample=50, seed=1).fit(["", *TEXTS]).statistics.digest != signer.statistics.digest
    assert (
        kind(dimensions=4, sample=500).fit(TEXTS).statistics.digest == kind(dimensions=4).fit(TEXTS).statistics.digest
    )


def test_how_many_rows_are_signed_at_a_time_never_matters(monkeypatch):
    signer = ThresholdEmbedding(dimensions=4).fit(TEXTS)
    texts = [*TEXTS, "", "unheard of", TEXTS[3]]
    words, keys, points = signer.sign(texts).words, signer.keys(texts).values, signer.embed(texts)
    for size in (1, 2000, 9000):
        monkeypatch.setattr("sosie.signatures.rows.SPAN", size)
        assert np.array_equal(signer.sign(texts).words, words)
        assert np.array_equal(signer.keys(texts).values, keys) and np.array_equal(signer.embed(texts), points)


def test_texts_of_unknown_words_are_listed_and_not_signed():
    signer = SvdEmbedding(dimensions=4).fit(TEXTS)
    texts = ["unheard of", TEXTS[0], "", "w1 unheard"]
    assert signer.sign(texts).unsigned.tolist() == signer.keys(texts).unsigned.tolist() == [0, 2]
    assert signer.sign(texts, ids=list("abcd")).ids.to_pylist() == ["b", "d"]
    points = signer.embed(texts)
    assert points.shape == (4, 4) and not points[[0, 2]].any() and points[[1, 3]].any(axis=1).all()
    assert len(signer.sign([])) == 0 and signer.embed([]).shape == (0, 4)


def test_a_vocabulary_that_shares_nothing_is_refused():
    signer = SvdEmbedding(dimensions=4).fit(TEXTS)
    strange = ["", "z1 z2", "z3"]
    for make in (signer.sign, signer.keys):
        with pytest.raises(UnknownVocabularyError, match=r"of these 3 documents is known .* fit to texts like these"):
            make(strange)
        assert len(make([*strange, TEXTS[0]])) == 1 and len(make(["", "..."])) == 0
    assert not signer.embed(strange).any()


def test_features_of_unknown_words_are_not_kept(tmp_path):
    signer = SvdEmbedding(dimensions=4).fit(TEXTS)
    texts, expected = [TEXTS[0], "unheard of", "", TEXTS[1], "unheard of"], Shingles(1).extract(TEXTS[:2])
    with FeatureKeep(Shingles(1), Room(tmp_path)) as keep:
        signed = stream(Source(pa.table({"text": texts}), batch_size=4).batches(), signer, keep=keep)
        kept = keep.features()
    assert len(signed) == len(kept) == 2 and signed.unsigned.tolist() == [1, 2, 4]
    assert np.array_equal(kept.hashes, expected.hashes) and np.array_equal(kept.offsets, expected.offsets)


@every_kind
def test_more_dimensions_than_the_collection_has_are_refused(kind):
    for texts in (TEXTS[:4], [*TEXTS[:4], "", "..."], []):
        count = sum(bool(text.strip(".")) for text in texts)
        with pytest.raises(UsageError, match=f"documents with features, {count}, got 5"):
            kind(dimensions=5).fit(texts)
    kind(dimensions=4).fit(TEXTS[:4])
    with pytest.raises(UsageError, match="rank of the collection, 3, got 4"):
        kind(dimensions=4).fit([*TEXTS[:3], *TEXTS[:3], *TEXTS[:3]])


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        *((kind, {"dimensions": k}, "dimensions must be from 1 to 1024") for kind in KINDS for k in (0, 1025)),
        *((ThresholdEmbedding, {"theta": theta}, "theta must be between 0 and 1") for theta in (0.0, 1.0, -0.1, 8.0)),
        (ThresholdEmbedding, {"theta": 0.3, "vartheta": 0.3}, "vartheta must be"),
        *((ThresholdEmbedding, {"vartheta": v}, "vartheta must be") for v in (-0.1, 0.5, 0.8)),
        *((ThresholdEmbedding, {f"{side}_slope": 0.0}, f"{side}_slope must be") for side in ("lower", "upper")),
        *((ThresholdEmbedding, {f"{side}_slope": math.nan}, f"{side}_slope must be") for side in ("lower", "upper")),
        (SvdEmbedding, {"sample": 49}, "sample must be at least dimensions, 50"),
        (SvdEmbedding, {"weighting": "idf"}, "weighting must be one of"),
        *((SvdEmbedding, {"bits": bits}, "bits must be from 1 to 4096") for bits in (0, 4097)),
        *((SvdEmbedding, {name: 0}, f"{name}.* must be at least 1") for name in ("code_length", "multiplicity")),
        (SvdEmbedding, {"code_length": 100, "multiplicity": 100}, "at most 4096"),
        *((SvdEmbedding, {"interval": interval}, "interval must be") for interval in (0.0, math.nan, 1e6)),
    ],
)
def test_impossible_specs_are_refused(kind, wrong, message):
    with pytest.raises(UsageError, match=message):
        kind(**wrong)


def test_what_costs_too_much_is_refused_with_a_figure(monkeypatch):
    monkeypatch.setattr(threshold, "MOST_DOCUMENTS", 60)
    with pytest.raises(UsageError, match=r"more than 60 documents take more than .* GiB.*sample=2000"):
        ThresholdEmbedding(dimensions=4).fit(TEXTS)
    ThresholdEmbedding(dimensions=4, sample=60).fit(TEXTS)
    with pytest.raises(UsageError, match="more than 60 documents"):
        ThresholdEmbedding(dimensions=4, sample=61).fit(TEXTS)
    monkeypatch.setattr(svd, "MOST_FEATURES", 1000)
    with pytest.raises(UsageError, match=r"more than 1,000 features .* GiB.*sample"):
        SvdEmbedding(dimensions=4).fit(TEXTS)
    monkeypatch.setattr(embedding, "LARGEST_BASIS", 1000)
    with pytest.raises(UsageError, match=r"a projection of \d+ features on 4 dimensions takes .* GiB"):
        ThresholdEmbedding(dimensions=4, sample=60).fit(TEXTS)


def test_a_signer_is_fitted():
    with pytest.raises(UsageError, match="needs the statistics of a collection"):
        SvdEmbedding().fit()
    with pytest.raises(UsageError, match="counts=True"):
        SvdEmbedding(dimensions=2).fit(Shingles(1).extract(TEXTS))
    with pytest.raises(UsageError, match="counts=True"):
        SvdEmbedding(dimensions=2).fit(TEXTS).sign(Shingles(1).extract(TEXTS))
    with pytest.raises(MismatchError, match="a basis of 2 dimensions"):
        SvdEmbedding(dimensions=3).fit(SvdEmbedding(dimensions=2).fit(TEXTS).statistics)
    reading = Source(pa.table({"text": TEXTS})).batches()
    next(reading)
    with pytest.raises(UsageError, match="has begun"):
        SvdEmbedding(dimensions=2).fit(reading)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(digest="0" * 32),
        lambda m: m["spec"].update(dimensions=3),
        lambda m: m["spec"].update(theta=0.7),
        lambda m: m.pop("statistics"),
        lambda m: m["statistics"].update(exponent=5),
        lambda m: m["statistics"].update(exponent=-1),
        lambda m: m["statistics"].pop("documents"),
        lambda m: m["files"].pop("statistics_directions"),
        lambda m: m["files"].update(statistics_directions=m["files"]["statistics_counts"]),
    ],
)
def test_a_signer_that_does_not_fit_together_is_refused(tmp_path, change):
    ThresholdEmbedding(dimensions=4).fit(TEXTS).save(tmp_path / "saved")
    rewritten(tmp_path / "saved", change)
    with pytest.raises(StorageError, match=str(tmp_path)):
        sosie.load_signer(tmp_path / "saved")


def test_many_equal_eigenvalues_are_not_taken_for_a_low_rank():
    """Documents that are like no other give one eigenvalue many times, of which LAPACK may return too few."""
    texts = next(PlantedCorpus(400, copies=0.02, words=(80, 300)).tables())["text"].to_pylist()
    rows = np.sort(np.random.default_rng(1).choice(400, 200, replace=False))
    features = Shingles(1).extract([texts[row] for row in rows], counts=True)
    x = unit_rows(features, weights(features, "tf-idf", count_frequencies([features])))
    cosines = ThresholdEmbedding(theta=0.85).thresholded((x @ x.T).toarray())
    found = (spectral_rows(cosines, 50) ** 2).sum(axis=0)
    assert found.tolist() == pytest.approx(np.linalg.eigvalsh(cosines)[::-1][:50].tolist())
