"""Spaces: what different signers made for one comparison may meet, anything else may not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.artefacts import rewritten

import sosie
from sosie import FuzzyFingerprint, Minhash, MismatchError, Simhash, Source, StorageError, TopSig, UsageError
from sosie.signatures.stream import stream

GERMAN = ["die Katze sitzt auf der Matte", "der Hund sitzt auf der Matte", "ein Vogel singt im Baum"]
ENGLISH = ["the cat sits on the mat", "the dog sits on the mat", "a bird sings in the tree"]
FITTED = [  # the spec, and how what it makes is joined
    (Simhash(weighting="tf-idf"), {"radius": 64}),
    (TopSig(bits=128), {"radius": 128}),
    (FuzzyFingerprint(code_length=4), {}),
]


def signed_by(signer, texts):
    return (signer.sign if "signatures" in signer.spec.makes else signer.keys)(texts)


def values(signed):
    return signed.values if isinstance(signed, sosie.Keys) else signed.words


@pytest.mark.parametrize(("spec", "how"), FITTED, ids=lambda value: getattr(value, "method", ""))
def test_signers_of_other_statistics_meet_within_one_space(spec, how):
    german, english = spec.fit(GERMAN), spec.fit(ENGLISH)
    a, b = signed_by(german.within("de-en"), GERMAN), signed_by(english.within("de-en"), ENGLISH)
    assert a.digest == german.digest != b.digest == english.digest and a.space == b.space == "de-en"
    pairs = sosie.join(a, b, **how)
    assert len(pairs) == 9 or not how  # keys need not agree
    plain = signed_by(german, GERMAN)
    assert plain.space == plain.digest and np.array_equal(values(plain), values(a))  # a space changes no bit
    for other in (signed_by(english, ENGLISH), signed_by(english.within("de-fr"), ENGLISH)):
        for left in (a, plain):
            with pytest.raises(
                MismatchError, match=f"of {left.space} and {other.space} cannot be joined: .* one space"
            ):
                sosie.join(left, other, **how)


def test_raw_bits_meet_any_space():
    raw = sosie.Signatures(np.zeros((2, 1), np.uint64))
    assert len(sosie.join(raw, Simhash().fit().within("any").sign(ENGLISH), radius=64)) == 6


@pytest.mark.parametrize("keys", [False, True])
def test_a_space_is_kept_by_streams_slices_and_files(keys, tmp_path):
    signer = Minhash().fit().within("de-en")
    signed = stream(Source(pa.table({"text": ENGLISH}), batch_size=2).batches(), signer, keys=keys)
    signer.save(tmp_path / "signer")
    sosie.save_signatures(tmp_path / "signed", signed, signer)
    sosie.save_signatures(tmp_path / "by spec", signed, Minhash())
    for name in ("signer", "signed", "by spec"):
        again = sosie.load_signer(tmp_path / name)
        assert again == signer and again.space == "de-en"
        assert (again.keys if keys else again.sign)(ENGLISH).space == "de-en"
        if name != "signer":
            assert sosie.load_signatures(tmp_path / name).space == "de-en"
    if not keys:
        assert signed.take(np.array([1])).space == "de-en"


def test_without_a_space_nothing_is_written_of_it(tmp_path):
    signer = Simhash().fit()
    for name, each in (("plain", signer), ("own", signer.within(signer.digest))):
        each.save(tmp_path / f"{name} signer")
        sosie.save_signatures(tmp_path / name, each.sign(ENGLISH), each)
        for directory in (tmp_path / name, tmp_path / f"{name} signer"):
            assert "space" not in json.loads((directory / "manifest.json").read_text())


def test_signatures_are_not_saved_with_a_signer_of_another_space(tmp_path):
    signer = Simhash().fit()
    for made_by, saved_with in ((signer.within("a"), signer), (signer.within("a"), signer.within("b"))):
        with pytest.raises(MismatchError, match="for comparison with a, and the signer for"):
            sosie.save_signatures(tmp_path / "saved", made_by.sign(ENGLISH), saved_with)
    with pytest.raises(MismatchError, match=f"for comparison with {signer.digest}, and the signer for a"):
        sosie.save_signatures(tmp_path / "saved", signer.sign(ENGLISH), signer.within("a"))


@pytest.mark.parametrize("wrong", ["", 7])
def test_a_space_has_a_name(wrong, tmp_path):
    with pytest.raises(UsageError, match="space is named by a text"):
        Simhash().fit().within(wrong)
    with pytest.raises(UsageError, match="space is named by a text"):
        replace(Simhash().fit(), space=wrong)
    sosie.save_signatures(tmp_path / "saved", Simhash().fit().sign(ENGLISH), Simhash())
    rewritten(tmp_path / "saved", lambda manifest: manifest.update(space=wrong))
    for load in (sosie.load_signer, sosie.load_signatures):
        with pytest.raises(StorageError, match=r"saved: the space is no name"):
            load(tmp_path / "saved")
