"""Saved signatures: what was written comes back, and nothing else is accepted."""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa
import pytest
from tests.artefacts import damages, rewritten

import sosie
from sosie import Minhash, Signatures, Simhash, StorageError
from sosie.signatures.stream import stream

TEXTS = ["one two three four", "", "five six seven", "eight nine ten eleven"]


@pytest.fixture
def saved(tmp_path):
    spec = Simhash(bits=65)
    sosie.save_signatures(tmp_path / "saved", spec.fit().sign(TEXTS), spec)
    return tmp_path / "saved"


def test_volatility_is_saved(tmp_path):
    spec = Simhash(bits=70)
    signed = spec.fit().sign(TEXTS, volatility=True)
    sosie.save_signatures(tmp_path / "saved", signed, spec)
    assert np.array_equal(sosie.load_signatures(tmp_path / "saved").volatility, signed.volatility)


def test_what_is_loaded_is_read_only(saved):
    with pytest.raises(ValueError, match="read-only"):
        sosie.load_signatures(saved).words[0] = 0


def test_no_signatures_at_all(tmp_path):
    for name, signed, spec in (
        ("words", Simhash().fit().sign(["", "!"]), Simhash()),
        ("keys", Minhash().fit().keys([], ids=pa.array([], pa.string())), Minhash()),
    ):
        sosie.save_signatures(tmp_path / name, signed, spec)
        loaded = sosie.load_signatures(tmp_path / name)
        assert len(loaded) == 0 and loaded.unsigned.tolist() == signed.unsigned.tolist()


@pytest.mark.parametrize("name", ["words", "ids", "unsigned", "manifest.json"])
def test_a_damaged_file_is_named(saved, name):
    for damage in damages(saved / name):
        damage()
        with pytest.raises(StorageError, match=name):
            sosie.load_signatures(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(digest="0" * 32),
        lambda m: m["spec"].update(seed=1),
        lambda m: m["spec"].update(version=2),
        lambda m: m["spec"].update(unicode="1.0"),
        lambda m: m.update(spec=None),
        lambda m: m.pop("spec"),
        lambda m: m.update(bits=64),
        lambda m: m.update(bits="many"),
        lambda m: m["files"].pop("words"),
        lambda m: m["files"].pop("ids"),
        lambda m: m["files"].update(ids=m["files"]["unsigned"]),
        lambda m: m.update(kind="index"),
    ],
)
def test_a_set_that_does_not_fit_together_is_refused(saved, change):
    rewritten(saved, lambda manifest: None)
    assert len(sosie.load_signatures(saved)) == 3
    rewritten(saved, change)
    with pytest.raises(StorageError, match=str(saved)):
        sosie.load_signatures(saved)


def test_ids_that_are_not_texts_are_refused(tmp_path):
    spec = Simhash()
    sosie.save_signatures(tmp_path / "saved", spec.fit().sign(TEXTS, ids=list("abcd")), spec)
    offsets = tmp_path / "saved" / "id_offsets"
    wrong = np.array([0, 9, 1, 3], "<i8").tobytes()
    offsets.write_bytes(wrong)
    rewritten(offsets.parent, lambda m: m["files"]["id_offsets"].update(crc32=zlib.crc32(wrong)))
    with pytest.raises(StorageError, match="Sign again"):
        sosie.load_signatures(offsets.parent)


def test_ids_beyond_63_bits_are_not_changed(tmp_path):
    ids = pa.array([1, 2**64 - 1], pa.uint64())
    signed = Signatures(np.zeros((2, 1), np.uint64), ids=ids)
    sosie.save_signatures(tmp_path / "saved", signed, Simhash())
    assert sosie.load_signatures(tmp_path / "saved").ids.to_pylist() == ids.to_pylist()


@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
@pytest.mark.parametrize("spec", [Simhash(bits=70), Minhash(minima=65, rows=3)])
def test_a_stream_is_signed_like_the_texts(spec, batch_size):
    table = pa.table({"id": ["a", "b", "c", "d", "e"], "text": [*TEXTS, None]})
    for keys in (False, True)[: 1 + isinstance(spec, Minhash)]:
        reading = sosie.Source(table, on_error="skip", batch_size=batch_size).batches()
        seen = []
        signed = stream(reading, spec, keys=keys, after=seen.append)
        plain = (spec.fit().keys if keys else spec.fit().sign)(TEXTS)
        ours, theirs = (x.values if keys else x.words for x in (signed, plain))
        assert np.array_equal(ours, theirs)
        assert signed.ids.to_pylist() == ["a", "c", "d"]
        assert signed.unsigned.tolist() == [1] and signed.digest == spec.digest
        assert sum(len(batch) + len(batch.rejects) for batch in seen) == 5 and reading.rejected == 1


def test_an_empty_stream_gives_an_empty_set():
    table = pa.table({"text": pa.array([], pa.string())})
    assert len(stream(sosie.Source(table).batches(), Simhash(bits=65), volatility=True)) == 0
    assert stream(sosie.Source(table).batches(), Minhash(), keys=True).values.shape == (0, 25)


def test_ids_of_a_slice_are_its_own(tmp_path):
    ids = pa.array(["zero", "eins", "", "drei", "四"]).slice(1, 4)
    sosie.save_signatures(tmp_path / "saved", Signatures(np.zeros((4, 1), np.uint64), ids=ids), Simhash())
    assert sosie.load_signatures(tmp_path / "saved").ids.to_pylist() == ["eins", "", "drei", "四"]
    assert (tmp_path / "saved" / "id_bytes").read_bytes() == "einsdrei四".encode()
