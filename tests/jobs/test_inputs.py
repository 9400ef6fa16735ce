"""What inputs are: signatures, other artefacts of Sosie's, or documents with a manifest.json of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, refused, write_jsonl

from sosie import FlatIndex, Minhash, Signatures, Simhash, StorageError, UsageError
from sosie.jobs.inputs import are_signatures, is_signatures
from sosie.signatures.files import save_signatures
from sosie.storage.manifest import MANIFEST, artefact_kind, write_artefact

TEXTS = ["the quick brown fox jumps over the lazy dog"] * 2 + ["something else entirely, not a fox"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Signatures, keys, an index, a signer, another artefact, and documents beside somebody's manifest.json."""
    monkeypatch.chdir(tmp_path)
    signer = Simhash().fit()
    save_signatures("signatures", signer.sign(TEXTS), signer)
    save_signatures("keys", Minhash().fit().keys(TEXTS), Minhash())
    FlatIndex(Signatures(np.arange(3, dtype=np.uint64))).save("index")
    signer.save("signer")
    write_artefact("texts", "texts", {})
    for name, manifest in (
        ("documents", '{"id": "m", "format": "x", "text": "a document"}'),
        ("list", "[1]"),
        ("broken", "{"),
    ):
        Path(name).mkdir()
        Path(name, MANIFEST).write_text(manifest)
        write_jsonl(f"{name}/documents.jsonl", {f"d{i}": text for i, text in enumerate(TEXTS)})
    return tmp_path


def test_signatures_and_documents_are_told_apart(folder):
    assert is_signatures("signatures") and is_signatures("keys") and are_signatures(["keys"])
    for documents in ("documents", "list", "broken", "documents/documents.jsonl", "nowhere", "-", "*.jsonl"):
        assert not is_signatures(documents) and not are_signatures([documents, "documents"])
    with pytest.raises(UsageError, match=r"signatures: give one directory of signatures, or documents, and not both"):
        are_signatures(["documents", "signatures"])


@pytest.mark.parametrize(
    ("name", "said"), [("index", "an index: `sosie search`"), ("signer", "a signer: `sosie sign"), ("texts", "'texts'")]
)
def test_another_artefact_is_refused_with_what_it_is(folder, name, said):
    with pytest.raises(UsageError, match=rf"{name}: holds .*{said}.*Give documents, or a directory of signatures"):
        is_signatures(name)
    for command in (["join", name, "-o", "out"], ["join", "documents", "--with", name, "-o", "out"]):
        code, err = refused(*command)
        assert code == 2 and said in err
    assert said in refused("index", "build", name, "-o", "out")[1]
    done("index", "build", "documents", "-o", "mine")
    assert said in refused("index", "add", "mine", name)[1]
    assert said in refused("search", "mine", name)[1]
    assert not Path("out").exists()


@pytest.mark.parametrize("name", ["documents", "list", "broken"])
def test_a_folder_of_documents_may_have_a_manifest_of_its_own(folder, name):
    """It is read like any other file there, and may be a document or not."""
    skip = [name, "--on-error", "skip"]
    done("join", *skip, "-o", "joined")
    assert pq.read_table("joined/pairs.parquet").select(["a", "b"]).to_pylist() == [{"a": "d0", "b": "d1"}]
    assert done("join", *skip, "--with", name, "-o", "across")["pairs"] == (6 if name == "documents" else 5)
    assert done("index", "build", *skip, "-o", "mine")["rows"] == (4 if name == "documents" else 3)


def test_a_damaged_manifest_of_sosie_is_not_taken_for_that_of_documents(folder):
    whole = Path("signatures", MANIFEST).read_text()
    Path("signatures", MANIFEST).write_text(whole[: len(whole) // 2])
    with pytest.raises(StorageError, match=r"manifest.json: is damaged"):
        is_signatures("signatures")
    Path("signatures", MANIFEST).write_text(whole)
    assert artefact_kind("signatures") == "signatures" and artefact_kind("signer") == "signer"
