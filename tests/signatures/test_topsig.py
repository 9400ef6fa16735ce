"""TopSig: weights, places, short texts, and the statistics it is fitted to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_projection
from tests.artefacts import damages, is_mapped, rewritten

import sosie
from sosie import (
    DocumentFrequencies,
    Features,
    MismatchError,
    Shingles,
    Source,
    StorageError,
    TermCounts,
    TopSig,
    UsageError,
)

COLLECTION = ["the cat sat on the mat", "the dog sat on the mat", "", "the bird sat on the roof of the house"]
terms = st.sampled_from([3, 2**40, 2**63, 2**64 - 1, 12345678901234567890])


def csr(rows) -> Features:
    flat = [item for row in rows for item in sorted(row.items())]
    offsets = np.cumsum([0, *map(len, rows)])
    return Features(np.array([h for h, _ in flat], np.uint64), offsets, np.array([c for _, c in flat], np.int32))


def as_ints(signatures) -> list[int]:
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in signatures.words]


def apart(a, b) -> np.ndarray:
    return np.bitwise_count(a.words ^ b.words).sum(axis=1)


def random_texts(count, length, rng) -> list[str]:
    return [" ".join(f"w{n}" for n in rng.integers(0, 5000, length)) for _ in range(count)]


@settings(max_examples=50)
@given(
    st.lists(st.dictionaries(terms, st.integers(1, 9), max_size=5), min_size=1, max_size=6),
    st.lists(st.dictionaries(st.integers(0, 2**64 - 1), st.integers(1, 2000), max_size=4), max_size=3),
    st.sampled_from([(2, 1, 0), (64, 4, 1), (130, 7, 2**32 - 1)]),
)
def test_any_rows(collection, others, form):
    """Of the collection, or with terms that it does not know; those that weigh nothing have no signature."""
    bits, density, seed = form
    if not any(collection):
        return
    signer = TopSig(bits=bits, density=density, seed=seed).fit(csr(collection))
    rows = [*collection, *others]
    weighted = [oracle_projection.term_weights(row, collection) for row in rows]
    signed = signer.sign(csr(rows))
    heavy = [row for row in weighted if any(round(weight * 65536) for weight in row.values())]
    assert as_ints(signed) == [oracle_projection.topsig(row.items(), bits, density, seed) for row in heavy]
    assert signed.unsigned.tolist() == [i for i, row in enumerate(weighted) if row not in heavy]
    flat = [row.get(term, 0) for given, row in zip(rows, weighted, strict=True) for term in sorted(given)]
    assert signer.weights(csr(rows)) == pytest.approx(flat, abs=2**-17)


def test_a_term_leaves_its_weight_at_so_many_places():
    assert TopSig().places == 24
    plus, minus = oracle_projection.places(99, 1024, 21, 0)
    assert len(plus) == len(minus) == 24 and len({*plus, *minus}) == 48
    signer = TopSig().fit(csr([{99: 1}, {7: 1}]))
    bits = as_ints(signer.sign(csr([{99: 1}])))[0]
    assert all(bits >> place & 1 for place in plus) and not any(bits >> place & 1 for place in minus)


def test_common_words_are_left_out():
    signer = TopSig().fit(["the the the the cat", "the dog", "a bird"])
    features = Shingles(1).extract(["the dog barks"], counts=True)
    weights = dict(zip(features.hashes.tolist(), signer.weights(features).tolist(), strict=True))
    the, dog, barks = (weights[Shingles(1).extract([word]).hashes[0].item()] for word in ("the", "dog", "barks"))
    assert the == 0 and dog == barks == round(0.5 * np.log(9 / 3) * 65536) / 65536


def test_short_texts_do_not_look_alike_for_want_of_terms():
    """Five terms touch a fifth of the places; the others would be 0 in all texts."""
    rng = np.random.default_rng(3)
    texts = random_texts(300, 5, rng)
    signer = TopSig().fit(texts)
    signed = signer.sign(texts)
    assert np.bitwise_count(signed.words).sum(axis=1).mean() == pytest.approx(512, abs=15)
    unrelated = apart(signed, signed.take(np.roll(np.arange(300), 1))).mean()
    assert unrelated == pytest.approx(512, abs=15)
    edited = signer.sign([text.rsplit(" ", 1)[0] + " x" for text in texts])
    assert apart(signed, edited).mean() < 0.5 * unrelated


def test_texts_of_too_few_terms_are_refused_on_request():
    texts = ["one two three", "one two", "one", "", "four four four"]
    for least, missing in ((1, [3]), (2, [2, 3, 4]), (3, [1, 2, 3, 4])):
        signed = TopSig(least_terms=least).fit(COLLECTION).sign(texts)
        assert signed.unsigned.tolist() == missing
        assert signed.ids.to_pylist() == [row for row in range(5) if row not in missing]


def test_similar_texts_are_close_as_the_cosine_of_their_weights_says():
    rng = np.random.default_rng(8)
    texts = random_texts(200, 120, rng)
    signer = TopSig().fit(texts)
    copies = [
        " ".join(f"x{rng.integers(10**6)}" if rng.random() < 0.2 else word for word in text.split()) for text in texts
    ]
    a, b = (Shingles(1).extract(side, counts=True) for side in (texts, copies))
    cosines = []
    for row in range(len(texts)):
        x, y = (
            dict(zip(side.hashes[slice(*side.offsets[row : row + 2])].tolist(), weights, strict=True))
            for side, whole in ((a, signer.weights(a)), (b, signer.weights(b)))
            for weights in [whole[slice(*side.offsets[row : row + 2])].tolist()]
        )
        dot = sum(weight * y.get(term, 0) for term, weight in x.items())
        cosines.append(dot / np.sqrt(sum(w * w for w in x.values()) * sum(w * w for w in y.values())))
    estimates = signer.spec.similarity(apart(signer.sign(texts), signer.sign(copies)))
    assert estimates.mean() == pytest.approx(np.mean(cosines), abs=0.02)


def test_a_fit_is_the_same_from_texts_columns_features_and_sources():
    spec = TopSig()
    source = Source(pa.table({"text": COLLECTION}), batch_size=1)
    features = spec.shingles.extract(COLLECTION, counts=True)
    expected = spec.fit(COLLECTION)
    for collection in (pa.chunked_array([COLLECTION[:1], COLLECTION[1:]]), features, source, source.batches()):
        assert spec.fit(collection, threads=2).digest == expected.digest
    halves = spec.fit(COLLECTION[:2]).statistics + spec.fit(COLLECTION[2:]).statistics
    assert spec.fit(halves).digest == expected.digest


def test_signatures_of_different_fits_do_not_mix():
    a, b = TopSig().fit(COLLECTION), TopSig().fit(COLLECTION[:3])
    with pytest.raises(MismatchError, match=b.digest):
        sosie.join(a.sign(COLLECTION), b.sign(COLLECTION), radius=3)


def test_what_it_cannot_be_fitted_to_is_refused():
    with pytest.raises(UsageError, match=r"fit\(texts\)"):
        TopSig().fit()
    for nothing in ([], ["", "..."]):
        with pytest.raises(UsageError, match="no terms"):
            TopSig().fit(nothing)
    with pytest.raises(UsageError, match="how often"):
        TopSig().fit(DocumentFrequencies(np.array([1], np.uint64), np.array([1]), 1, 1))
    with pytest.raises(UsageError, match="counts=True"):
        TopSig().fit(COLLECTION).sign(Shingles(1).extract(COLLECTION))


@pytest.fixture
def saved(tmp_path):
    TopSig(bits=70, density=7).fit(COLLECTION).save(tmp_path / "saved")
    return tmp_path / "saved"


def test_a_loaded_signer_is_mapped_and_signs_alike(saved):
    before, after = TopSig(bits=70, density=7).fit(COLLECTION), sosie.load_signer(saved)
    assert isinstance(after.statistics, TermCounts) and is_mapped(after.statistics.features)
    assert after.frequencies is None and after.statistics.total == before.statistics.total
    assert np.array_equal(after.sign(COLLECTION).words, before.sign(COLLECTION).words)


@pytest.mark.parametrize("name", ["statistics_features", "statistics_counts"])
def test_a_damaged_file_is_named(saved, name):
    for damage in damages(saved / name):
        damage()
        with pytest.raises(StorageError, match=name):
            sosie.load_signer(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["spec"].update(density=6),
        lambda m: m["spec"].update(least_terms=0),
        lambda m: m.pop("statistics"),
        lambda m: m["files"].pop("statistics_counts"),
        lambda m: m["files"].update(statistics_counts=m["files"]["statistics_features"]),
    ],
)
def test_a_signer_that_does_not_fit_together_is_refused(saved, change):
    rewritten(saved, change)
    with pytest.raises(StorageError, match=str(saved)):
        sosie.load_signer(saved)
