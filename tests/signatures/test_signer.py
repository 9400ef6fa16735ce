"""Saved signers: the statistics come back with the bits they make, and nothing else is accepted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.artefacts import damages, is_mapped, rewritten

import sosie
from sosie import Minhash, MismatchError, Simhash, StorageError, UsageError

TEXTS = ["the cat sat on the mat", "the dog sat on the mat", "", "a bird sat on the roof"]
NEW = ["the cat sat on the roof", "nothing of this is known"]


@pytest.fixture(params=["signer", "signatures"])
def saved(request, tmp_path):
    """A directory that holds a fitted signer, by itself or with what it signed."""
    signer = Simhash(bits=70, weighting="bm25").fit(TEXTS)
    if request.param == "signer":
        signer.save(tmp_path / "saved")
    else:
        sosie.save_signatures(tmp_path / "saved", signer.sign(TEXTS), signer)
    return tmp_path / "saved"


def test_a_loaded_signer_is_mapped_and_signs_alike(saved):
    before, after = Simhash(bits=70, weighting="bm25").fit(TEXTS), sosie.load_signer(saved)
    assert after.spec == before.spec and after.digest == before.digest
    assert after.frequencies.documents == 4 and not after.frequencies.features.flags.writeable
    assert is_mapped(after.frequencies.features)
    assert np.array_equal(after.sign(NEW).words, before.sign(NEW).words)


def test_a_signer_without_statistics_is_its_spec(tmp_path):
    for name, spec in (("simhash", Simhash(seed=4)), ("minhash", Minhash(minima=10))):
        spec.fit().save(tmp_path / name)
        assert sosie.load_signer(tmp_path / name).spec == spec
        assert [file.name for file in (tmp_path / name).iterdir()] == ["manifest.json"]


def test_a_signer_of_nothing_comes_back(tmp_path):
    signer = Simhash(weighting="tf-idf").fit([])
    signer.save(tmp_path / "saved")
    assert sosie.load_signer(tmp_path / "saved").digest == signer.digest


def test_what_was_signed_by_a_loaded_signer_can_be_joined(saved, tmp_path):
    signer = sosie.load_signer(saved)
    sosie.save_signatures(tmp_path / "new", signer.sign(NEW), signer)
    sosie.save_signatures(tmp_path / "old", signer.sign(TEXTS), signer)
    old, new = sosie.load_signatures(tmp_path / "old"), sosie.load_signatures(tmp_path / "new")
    assert len(sosie.join(old, new, radius=70)) == 6
    other = Simhash(bits=70, weighting="bm25").fit(NEW)
    with pytest.raises(MismatchError, match=other.digest):
        sosie.join(old, other.sign(NEW), radius=70)


@pytest.mark.parametrize("name", ["frequency_features", "frequency_counts", "manifest.json"])
def test_a_damaged_file_is_named(saved, name):
    for damage in damages(saved / name):
        damage()
        with pytest.raises(StorageError, match=name):
            sosie.load_signer(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(digest="0" * 32),
        lambda m: m["spec"].update(seed=1),
        lambda m: m["spec"].update(weighting="tf-idf"),
        lambda m: m["spec"].update(weighting="tf"),
        lambda m: m.pop("spec"),
        lambda m: m.pop("frequencies"),
        lambda m: m.update(frequencies=7),
        lambda m: m["frequencies"].update(documents=5),
        lambda m: m["frequencies"].update(documents="many"),
        lambda m: m["frequencies"].pop("length"),
        lambda m: m["files"].pop("frequency_counts"),
        lambda m: m["files"].update(frequency_counts=m["files"]["frequency_features"]),
        lambda m: m.update(kind="index"),
    ],
)
def test_a_signer_that_does_not_fit_together_is_refused(saved, change):
    rewritten(saved, change)
    with pytest.raises(StorageError, match=str(saved)):
        sosie.load_signer(saved)


def test_a_foreign_directory_is_refused(tmp_path):
    with pytest.raises(StorageError, match="there is no such file"):
        sosie.load_signer(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "another"}')
    with pytest.raises(StorageError, match="not a Sosie artefact"):
        sosie.load_signer(tmp_path)


def test_signatures_are_not_saved_with_another_signer(tmp_path):
    spec = Simhash(weighting="tf-idf")
    signer = spec.fit(TEXTS)
    for wrong in (spec, spec.fit(NEW), Simhash()):
        with pytest.raises(MismatchError, match=signer.digest):
            sosie.save_signatures(tmp_path / "saved", signer.sign(TEXTS), wrong)
    assert not (tmp_path / "saved").exists()
    signer.save(tmp_path / "saved")
    with pytest.raises(UsageError, match="already holds"):
        signer.save(tmp_path / "saved")
