"""Whatever happens to the files of a store: a named error or the same answer, and the process goes on."""

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from tests.artefacts import rewritten

from sosie import Signatures, SignatureStore, Simhash, StorageError

STEP = os.environ.get("SOSIE_TEST_STEP", "7")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the directories of two small stores, each of several runs."""
    folder, signer = tmp_path_factory.mktemp("stores"), Simhash().fit()
    for name in ("numbered", "named"):
        store = SignatureStore(folder / name, signer=signer)
        for begin, end in ((0, 9), (9, 13)):
            texts = [f"a rose of {i % 7} thorns is a rose of {i} thorns" for i in range(begin, end)]
            store.append(signer.sign(texts, ids=None if name == "numbered" else [f"d{i}" for i in range(begin, end)]))
        assert len(store._state.runs) == 2
    return folder


@pytest.fixture
def copied(saved, tmp_path):
    return Path(shutil.copytree(saved / "named", tmp_path / "store"))


def test_every_flip_and_every_end(saved, tmp_path):
    stores = [shutil.copytree(each, tmp_path / each.name) for each in sorted(saved.iterdir())]
    script = Path(__file__).with_name("damage.py")
    done = subprocess.run([sys.executable, script, STEP, *stores], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        same, named = map(int, line.split())
        assert same < named / 20 and named > 300  # what a manifest is indented by says nothing


def opened(path):
    """Open a store, and let it be asked."""
    store = SignatureStore(path)
    return store.match(Signatures(np.arange(3, dtype=np.uint64)), 20)


def forged(path, name, change):
    """Change an array of the first run of a store, and make all checksums right."""
    entry = SignatureStore(path)._state.runs.runs[0]
    folder, words, rows = path / entry.folder, entry.words.copy(), entry.sorted.rows.copy()
    arrays = {"words": words, "rows": rows, **{k: v.copy() for k, v in entry.ids.arrays().items()}}
    change(arrays)
    content = arrays[name].tobytes()
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    rewritten(folder, lambda made: made["files"][name].update(crc32=zlib.crc32(content), bytes=len(content)))
    crc = json.loads((folder / "manifest.json").read_text())["crc32"]
    rewritten(path, lambda made: made["runs"][0].update(crc32=crc))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("words", lambda made: made["words"].__setitem__(0, 2**64 - 1), "not in order"),
        ("rows", lambda made: made["rows"].__setitem__(0, 99), "names a row twice"),
        ("rows", lambda made: made["rows"].__setitem__(0, made["rows"][1]), "names a row twice"),
        ("id_rows", lambda made: made["id_rows"].__setitem__(0, made["id_rows"][1]), "names a row twice"),
        ("id_hashes", lambda made: made["id_hashes"].__setitem__(0, 2**64 - 1), "hashes of ids are not in order"),
        ("id_offsets", lambda made: made["id_offsets"].__setitem__(1, 99), "offset"),
    ],
)
def test_what_a_kernel_relies_on_is_looked_at(copied, name, change, said):
    forged(copied, name, change)
    with pytest.raises(StorageError, match=f"{copied}.*{said}"):
        opened(copied)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made: made.update(version=99), "newer than 1. Update Sosie"),
        (lambda made: made.update(kind="index"), "holds 'index', not 'store'"),
        (lambda made: made.update(bits=65), "uint64"),
        (lambda made: made.update(bits=0), "bits"),
        (lambda made: made.update(id_type="int64"), "ids of type"),
        (lambda made: made.update(id_type=None), "described wrongly"),
        (lambda made: made.update(digest=7), "described wrongly"),
        (lambda made: made.update(signer=7), "signer is that of another"),
        (lambda made: made.update(runs=None), "not a store"),
        (lambda made: made["runs"][0].update(name="../store"), "no name of a run"),
        (lambda made: made["runs"][0].update(count=8), "9 rows instead of 8"),
        (lambda made: made["runs"][0].update(crc32=8), "not the run"),
        (lambda made: made.pop("space"), "space"),
    ],
)
def test_a_manifest_of_another_version_or_of_something_else(copied, change, said):
    before = SignatureStore(copied)
    rewritten(copied, change)
    with pytest.raises(StorageError, match=said):
        opened(copied)
    with pytest.raises(StorageError, match=said):
        before.append(Signatures(np.arange(1, dtype=np.uint64), ids=["new"]))
