import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import StorageError
from sosie.storage import Spill, checkpoint
from sosie.storage.checkpoint import Checkpoints, key_of

ARRAYS = {"sizes": np.arange(5), "empty": np.empty(0, np.uint64), "similarity": np.array([0.5, 1.0])}


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "working" / "checkpoints"


def equal(found, arrays, meta) -> bool:
    return found[1] == meta and {name: array.tolist() for name, array in found[0].items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def test_what_is_saved_is_loaded_and_replaced(folder):
    checkpoints = Checkpoints(folder, "key", forced=True)
    assert not checkpoints.held and checkpoints.load("read") is None
    checkpoints.save("read", ARRAYS, {"recall": 0.1})
    assert checkpoints.held and equal(checkpoints.load("read"), ARRAYS, {"recall": 0.1})
    checkpoints.save("read", {"other": np.arange(2)})
    assert equal(Checkpoints(folder, "key").load("read"), {"other": np.arange(2)}, {})
    assert os.listdir(folder) == ["read"]


def test_the_checkpoints_of_another_run_are_not_seen(folder):
    checkpoints = Checkpoints(folder, "key", forced=True)
    checkpoints.given("exact").save("verify", ARRAYS)
    assert checkpoints.given("exact").load("verify") is not None
    for other in (checkpoints, checkpoints.given("minhash"), Checkpoints(folder, "yek").given("exact")):
        assert other.load("verify") is None
    without = Checkpoints(folder, None, forced=True)
    assert not without.due() and without.given("exact").key is None and without.load("verify") is None


def test_when_a_checkpoint_is_due(folder, monkeypatch):
    now = 100.0
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now)
    patient, forced = Checkpoints(folder, "key"), Checkpoints(folder, "key", forced=True)
    due = []
    for now in (100.0, 104.9, 105.1, 105.2, 110.1, 110.2):  # noqa: B007
        due.append((patient.due(), forced.due()))
    assert due == [(False, True), (False, True), (True, True), (False, True), (False, True), (True, True)]


def test_a_map_of_a_file_in_the_working_folder_is_moved(folder):
    scratch = folder.parent / "scratch"
    scratch.mkdir(parents=True)
    with Spill(scratch, np.uint64, 0, keep=True) as spill:
        spill.append(np.arange(1000, dtype=np.uint64))
        mapped = spill.array()
    (file,) = scratch.iterdir()
    number = file.stat().st_ino
    view = np.asarray(mapped)[:]
    Checkpoints(folder, "key", forced=True).save("read", {"hashes": view, "part": view[:10]})
    assert not list(scratch.iterdir()) and (folder / "read" / "hashes").stat().st_ino == number
    assert mapped.sum() == view.sum() == 499500
    assert equal(Checkpoints(folder, "key").load("read"), {"hashes": view, "part": view[:10]}, {})


def test_a_map_of_a_file_elsewhere_is_copied(folder, tmp_path):
    np.arange(100).tofile(tmp_path / "precious")
    elsewhere = np.memmap(tmp_path / "precious", np.int64, "r")
    Checkpoints(folder, "key", forced=True).save("read", {"hashes": elsewhere})
    assert (tmp_path / "precious").stat().st_size == 800 and (folder / "read" / "hashes").stat().st_size == 800


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to know the names of open files")
def test_files_and_folder_are_flushed_around_the_rename(folder, monkeypatch):
    events = []
    fsync, rename = os.fsync, os.rename
    monkeypatch.setattr(
        os, "fsync", lambda fd: (events.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name), fsync(fd))
    )
    monkeypatch.setattr(os, "rename", lambda old, new: (events.append("rename"), rename(old, new)))
    Checkpoints(folder, "key", forced=True).save("read", ARRAYS)
    assert events == [*ARRAYS, "manifest.json", "read.partial", "rename", "checkpoints"]


@pytest.mark.parametrize("forced", [True, False])
def test_one_that_cannot_be_written_is_an_error_where_it_is_wanted(folder, forced, monkeypatch, caplog):
    def full(old, new):
        raise OSError(28, "No space left on device")

    checkpoints = Checkpoints(folder, "key", forced)
    monkeypatch.setattr(os, "rename", full)
    if forced:
        with pytest.raises(StorageError, match=r"checkpoints: .*No space left"):
            checkpoints.save("read", ARRAYS)
    else:
        checkpoints.save("read", ARRAYS)
        assert "No checkpoint" in caplog.text
    assert not checkpoints.held and not os.listdir(folder)


def test_a_half_written_one_is_absent_and_no_obstacle(folder):
    checkpoints = Checkpoints(folder, "key", forced=True)
    (folder / "read.partial").mkdir(parents=True)
    (folder / "read.partial" / "sizes").write_bytes(b"half")
    assert not checkpoints.held and checkpoints.load("read") is None
    checkpoints.save("read", ARRAYS)
    assert equal(checkpoints.load("read"), ARRAYS, {})


@given(bits=st.integers(0, 10**6), name=st.sampled_from([*ARRAYS, "manifest.json"]))
def test_damage_counts_as_absence(tmp_path_factory, bits, name):
    folder = tmp_path_factory.mktemp("working") / "checkpoints"
    checkpoints = Checkpoints(folder, "key", forced=True)
    checkpoints.save("read", ARRAYS, {"text": "a rose"})
    file = folder / "read" / name
    content = bytearray(file.read_bytes()) or bytearray(1)
    content[bits // 8 % len(content)] ^= 1 << bits % 8
    file.write_bytes(content)
    found = checkpoints.load("read")
    # A manifest may be spelt in another way and say the same: a space is a tab, and a name may be in either case.
    same = name == "manifest.json" and found is not None and equal(found, ARRAYS, {"text": "a rose"})
    assert found is None or same


@dataclass(frozen=True)
class Spec:
    width: int = 3
    secret: str = "x"

    def __repr__(self) -> str:
        return "Spec()"


@dataclass(frozen=True)
class Other:
    width: int = 3
    secret: str = "x"


def test_a_key_covers_every_field_and_the_order():
    parts = [
        [Spec()],
        [Other()],
        [Spec(4)],
        [Spec(secret="y")],
        [Spec(), Spec()],
        [[Spec(), Spec()]],
        [Fraction(1, 2)],
        [0.5],
        ["1", "2"],
        ["12"],
        ["2", "1"],
        [{"a": 1, "b": 2}],
        [Path("a")],
        [None],
        ["caf\udce9"],
    ]
    keys = [key_of(*part) for part in parts]
    assert len(set(keys)) == len(keys) and keys == [key_of(*part) for part in parts]
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert all(len(key) == 64 and int(key, 16) for key in keys)


@pytest.mark.parametrize("value", [lambda: 0, np.arange(3), object()])
def test_what_is_no_data_has_no_key(value):
    with pytest.raises(TypeError, match="cannot be part of a key"):
        key_of([value])


def test_the_manifest_names_the_run(folder):
    Checkpoints(folder, "key", forced=True).save("read", ARRAYS, {"rejected": 1})
    manifest = json.loads((folder / "read" / "manifest.json").read_text("utf-8"))
    assert (manifest["kind"], manifest["digest"], manifest["state"]) == ("checkpoint", "key", {"rejected": 1})


def test_a_key_takes_what_says_itself_what_it_is():
    class Words:
        def __init__(self, digest):
            self.digest = digest

        def to_dict(self):
            return {"digest": self.digest}

    assert key_of(Words("a")) == key_of(Words("a")) != key_of(Words("b"))
