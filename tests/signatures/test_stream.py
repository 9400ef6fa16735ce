"""Streams of documents, and what is kept while they are signed: features or texts of the signed documents alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.artefacts import is_mapped

import sosie
from sosie import Minhash, MismatchError, PStable, RandomProjection, Shingles, Simhash, StorageError, UsageError
from sosie.signatures.files import load_features
from sosie.signatures.stream import FeatureKeep, TextKeep, stream
from sosie.storage.room import Room

TEXTS = ["one two three four one two three", "", "five six seven", "...", "eight nine ten eleven twelve"]
IDS = ["a", "b", "c", "d", "e"]
SIGNED = [0, 2, 4]


@pytest.mark.parametrize("batch_size", [1, 2, 100])
@pytest.mark.parametrize("memory", [1, 1 << 20])
@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (Simhash(bits=70, shingles=Shingles(2)), {"volatility": True}),
        (RandomProjection(bits=70, weighting="bm25"), {"volatility": True}),
        (Simhash(weighting="binary"), {}),
        (Simhash(weighting="tf-idf"), {}),
        (Minhash(minima=65), {"keys": True}),
        (Minhash(minima=65), {}),
    ],
)
def test_features_are_stored_with_the_same_signatures(spec, form, batch_size, memory, tmp_path):
    source = sosie.Source(pa.table({"id": IDS, "text": TEXTS}), batch_size=batch_size)
    signer = spec.fit(TEXTS)
    plain = stream(source.batches(), signer, **form)
    with FeatureKeep(spec.shingles, Room(tmp_path, memory)) as keep:
        signed = stream(source.batches(), signer, keep=keep, **form)
        sosie.save_signatures(tmp_path / "signed", signed, signer, keep.features())
    assert [file.name for file in tmp_path.iterdir()] == ["signed"]
    for found in (signed, sosie.load_signatures(tmp_path / "signed")):
        assert found.digest == plain.digest and found.ids == plain.ids
        assert found.unsigned.tolist() == plain.unsigned.tolist() == [1, 3]
        for name in ("words", "values", "volatility"):
            assert np.array_equal(getattr(found, name, None), getattr(plain, name, None))
    features, ids, shingles = load_features(tmp_path / "signed")
    expected = spec.shingles.extract([TEXTS[row] for row in SIGNED])
    assert np.array_equal(features.hashes, expected.hashes) and np.array_equal(features.offsets, expected.offsets)
    assert ids.to_pylist() == ["a", "c", "e"] and shingles == spec.shingles


@pytest.mark.parametrize("batch_size", [1, 2, 100])
@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_texts_of_the_signed_documents_are_kept(batch_size, memory, tmp_path):
    source = sosie.Source(pa.table({"id": IDS, "text": TEXTS}), batch_size=batch_size)
    with TextKeep(Room(tmp_path, memory)) as keep:
        signed = stream(source.batches(), Simhash(), keep=keep)
        texts = keep.texts()
    assert not list(tmp_path.iterdir()) and signed.ids.to_pylist() == ["a", "c", "e"]
    assert [texts.text(row) for row in range(len(texts))] == [TEXTS[row] for row in SIGNED]


@pytest.mark.parametrize(
    ("spec", "form", "message"),
    [
        (Minhash(), {"volatility": True}, "minhash has no volatility"),
        (Simhash(), {"keys": True}, "simhash makes signatures, not keys"),
        (PStable(), {}, "p-stable makes keys, not signatures"),
    ],
)
def test_what_a_method_does_not_make_is_refused(spec, form, message):
    with pytest.raises(UsageError, match=message):
        stream(sosie.Source(pa.table({"text": TEXTS})).batches(), spec, **form)


@pytest.fixture
def saved(tmp_path):
    signer, texts = Simhash().fit(), [TEXTS[row] for row in SIGNED]
    sosie.save_signatures(tmp_path / "saved", signer.sign(texts), signer, Shingles().extract(texts))
    return tmp_path / "saved"


def test_features_are_mapped(saved):
    features, _, _ = load_features(saved)
    assert is_mapped(features.hashes)


def test_a_set_without_features_says_how_to_get_them(tmp_path):
    sosie.save_signatures(tmp_path / "saved", Simhash().fit().sign(TEXTS), Simhash())
    with pytest.raises(StorageError, match=r"saved: .* Sign again with --features"):
        load_features(tmp_path / "saved")


@pytest.mark.parametrize("name", ["features", "feature_offsets", "ids"])
def test_a_damaged_file_is_named(saved, name):
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(StorageError, match=name):
        load_features(saved)
    if name != "ids":
        assert len(sosie.load_signatures(saved)) == 3  # does not read them


@pytest.mark.parametrize("offsets", [[0, 5, 2, 6], [1, 2, 3, 6], [0, 2, 3, 5], [0, 6]])
def test_features_of_other_rows_are_refused(tmp_path, offsets):
    signed = Simhash().fit().sign(["a", "b", "c"])
    wrong = sosie.Features(np.arange(6, dtype=np.uint64), np.sort(offsets))
    object.__setattr__(wrong, "offsets", np.array(offsets))  # which are refused when features are made
    if len(wrong) != 3:
        with pytest.raises(MismatchError, match="1 documents for 3"):
            sosie.save_signatures(tmp_path / "saved", signed, Simhash(), wrong)
        return
    sosie.save_signatures(tmp_path / "saved", signed, Simhash(), wrong)
    with pytest.raises(StorageError, match=r"saved: .* Sign again"):
        load_features(tmp_path / "saved")
