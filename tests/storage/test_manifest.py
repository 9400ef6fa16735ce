import json
import os
import zlib

import numpy as np
import pytest

from sosie.errors import StorageError, UsageError
from sosie.storage import read_artefact, write_artefact
from sosie.storage.manifest import _checksum

ARRAYS = {
    "words": np.arange(6, dtype=np.uint64).reshape(3, 2),
    "flags": np.array([True, False]),
    "none": np.empty((0, 4), np.float32),
    "scalar": np.array(7, np.int32),
}
META = {"spec": {"method": "simhash", "bits": 64}, "rows": 3}


@pytest.fixture
def artefact(tmp_path):
    folder = tmp_path / "artefact"
    write_artefact(folder, "signatures", ARRAYS, digest="ab12", meta=META)
    return folder


def test_what_is_written_is_read_back_mapped_and_read_only(artefact):
    meta, arrays = read_artefact(artefact, "signatures")
    assert meta == {"digest": "ab12", **META}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert not arrays[name].flags.writeable
    assert isinstance(arrays["words"], np.memmap)


def test_the_manifest_has_the_promised_fields_and_files_are_little_endian(artefact):
    manifest = json.loads((artefact / "manifest.json").read_text())
    assert {"format", "version", "kind", "digest", "spec", "rows", "files"} <= manifest.keys()
    assert set(manifest["files"]["words"]) == {"dtype", "shape", "bytes", "crc32"}
    assert (artefact / "words").read_bytes() == ARRAYS["words"].astype("<u8").tobytes()


def test_big_endian_and_strided_arrays_are_stored_plainly(tmp_path):
    array = np.arange(10, dtype=">i8")[::2]
    write_artefact(tmp_path / "a", "x", {"n": array})
    assert read_artefact(tmp_path / "a", "x")[1]["n"].tolist() == [0, 2, 4, 6, 8]


def test_every_flipped_byte_gives_the_same_answer_or_a_named_error(artefact):
    errors = 0
    for path in sorted(artefact.iterdir()):
        whole = path.read_bytes()
        for position in range(len(whole)):
            for mask in (0x01, 0x20, 0xFF):
                damaged = bytearray(whole)
                damaged[position] ^= mask
                path.write_bytes(damaged)
                try:
                    meta, arrays = read_artefact(artefact, "signatures")
                except StorageError as error:
                    assert str(artefact) in str(error)
                    errors += 1
                    continue
                assert meta == {"digest": "ab12", **META}
                assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
        path.write_bytes(whole)
    assert errors > 1000


def test_every_truncation_and_an_extra_byte_raise(artefact):
    for path in sorted(artefact.iterdir()):
        whole = path.read_bytes()
        # The manifest's last byte is its newline, which says nothing.
        for size in range(len(whole) - (path.name == "manifest.json")):
            path.write_bytes(whole[:size])
            with pytest.raises(StorageError, match=path.name):
                read_artefact(artefact, "signatures")
        if path.name != "manifest.json":
            path.write_bytes(whole + b"\0")
            with pytest.raises(StorageError, match=rf"{path.name}: .* bytes instead of"):
                read_artefact(artefact, "signatures")
        path.write_bytes(whole)
    read_artefact(artefact, "signatures")


def rewrite(artefact, **changes):
    path = artefact / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.update(changes)
    del manifest["crc32"]
    manifest["crc32"] = _checksum(manifest)
    path.write_text(json.dumps(manifest))


ENTRY = {"dtype": "<u8", "shape": [1], "bytes": 8, "crc32": zlib.crc32(bytes(8))}


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": True},
        {"version": "1"},
        {"version": 0},
        {"format": "other"},
        {"kind": "index"},
        {"files": None},
        {"files": ["words"]},
        {"files": {"../secret": ENTRY}},
        {"files": {"SECRET": ENTRY}},
        {"files": {"": ENTRY}},
        {"files": {".": ENTRY}},
        {"files": {"manifest.json": ENTRY}},
        {"files": {"words\n": ENTRY}},
        {"files": {"missing": ENTRY}},
        {"files": {"folder": ENTRY}},
        {"files": {"words": None}},
        {"files": {"words": {**ENTRY, "dtype": "O"}}},
        {"files": {"words": {**ENTRY, "dtype": ">u8"}}},
        {"files": {"words": {**ENTRY, "dtype": 8}}},
        {"files": {"words": {**ENTRY, "shape": [-1]}}},
        {"files": {"words": {**ENTRY, "shape": [1.0]}}},
        {"files": {"words": {**ENTRY, "shape": [True]}}},
        {"files": {"words": {**ENTRY, "shape": "1"}}},
        {"files": {"words": {**ENTRY, "shape": [2**39, 2**39, 2**39, 0], "bytes": 0}}},
        {"files": {"none": {**ENTRY, "shape": [2**39, 2**39, 2**39, 0], "bytes": 0}}},
        {"files": {"words": {**ENTRY, "bytes": 8.0}}},
        {"files": {"words": {**ENTRY, "shape": [6], "bytes": 48, "crc32": None}}},
    ],
)
def test_a_wrong_manifest_with_a_right_checksum_raises(artefact, tmp_path, changes):
    (tmp_path / "secret").write_bytes(b"\0" * 8)
    (artefact / "folder").mkdir()
    if "SECRET" in (changes.get("files") or {}):
        changes = {"files": {str(tmp_path / "secret"): ENTRY}}
    rewrite(artefact, **changes)
    with pytest.raises(StorageError, match="artefact"):
        read_artefact(artefact, "signatures")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"format": 1}'])
def test_garbage_manifests_raise(artefact, content):
    (artefact / "manifest.json").write_bytes(content)
    with pytest.raises(StorageError, match=r"manifest\.json"):
        read_artefact(artefact, "signatures")


def test_missing_directory_or_manifest_raises(artefact):
    with pytest.raises(StorageError, match="nowhere"):
        read_artefact(artefact / "nowhere", "signatures")
    os.unlink(artefact / "manifest.json")
    with pytest.raises(StorageError, match=r"manifest\.json"):
        read_artefact(artefact, "signatures")


def test_only_the_wanted_arrays_are_read(artefact):
    (artefact / "words").unlink()
    _, arrays = read_artefact(artefact, "signatures", ("flags", "unheard of"))
    assert list(arrays) == ["flags"]
    with pytest.raises(StorageError, match="words"):
        read_artefact(artefact, "signatures", ("flags", "words"))


def test_one_of_several_kinds(artefact):
    assert read_artefact(artefact, ("index", "signatures"))[0] == {"digest": "ab12", **META}
    with pytest.raises(StorageError, match="holds 'signatures', not 'index' or 'signer'"):
        read_artefact(artefact, ("index", "signer"))


def test_an_artefact_is_never_written_over_another(artefact):
    with pytest.raises(UsageError, match="already"):
        write_artefact(artefact, "signatures", {})


@pytest.mark.parametrize("name", ["../x", "/x", ".hidden", "manifest.json", "", "a/b"])
def test_names_are_plain(tmp_path, name):
    with pytest.raises(UsageError):
        write_artefact(tmp_path / "a", "x", {name: np.arange(3)})
    assert not (tmp_path / "x").exists()


def test_objects_and_reserved_fields_are_refused(tmp_path):
    with pytest.raises(UsageError, match="object"):
        write_artefact(tmp_path / "a", "x", {"n": np.array([None])})
    with pytest.raises(UsageError, match="kind"):
        write_artefact(tmp_path / "b", "x", {}, meta={"kind": "y"})
