"""Whatever happens while a store changes, it is whole, and the batch is in it or not.

The fault comes at one call after another; SOSIE_TEST_STEP=1 takes every call.
"""

import errno
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.jobs.killed import Forks
from tests.matches.store import faults
from tests.matches.store.faults import ACTIONS, BEFORE, BORNE, NAMED, NOT_MET, bounded, each_once, failing, killed

import sosie
from sosie import Signatures, SignatureStore, StorageError
from sosie.storage import claim
from sosie.storage.claim import claimed

STEP = int(os.environ.get("SOSIE_TEST_STEP", "4"))
every_action = pytest.mark.parametrize("name", ACTIONS)


@pytest.fixture(scope="module")
def place():
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def forked(place):
    forks = Forks(each_once, place / "after")
    yield forks
    forks.stop()


def ids_in(path):
    """Return the ids of a store in order, every file of it checked."""
    return [each for run in SignatureStore(path)._state.runs for each in run.ids.ids.to_pylist()]


class Tried:
    """One change after another on fresh copies of the same store."""

    def __init__(self, name, place):
        self.name, self.place = name, place / "tried"
        self.path = self.place / ("new" if name == "create" else "store")
        self.old = [] if name == "create" else [f"d{i}" for i in range(BEFORE)]
        self.new = ids_in(place / "after" / name / self.path.name)
        assert len(self.new) > len(self.old)

    def fresh(self):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        faults.prepared(self.place)
        return self.place

    def check(self, ended, at):
        left = ids_in(self.path)
        if ended == BORNE:
            assert left == self.new, f"{at}: it ended well, and the batch is not in the store"
        elif ended == NAMED:
            assert left == self.old, f"{at}: it failed, and the store has changed"
            listed = [each.name for each in self.path.iterdir()] if self.path.exists() else []
            assert not [each for each in listed if each.startswith(".")], f"{at}: something is left over"
        else:
            assert ended == -signal.SIGKILL, at
            assert left in (self.old, self.new), f"{at}: it was killed, and the store is neither old nor new"
        if self.name == "batch" and left == self.new:
            assert (self.place / "matches").stat().st_size > 100, f"{at}: the batch is in, and its matches are lost"
        if left == self.old:
            ACTIONS[self.name](self.place)
        SignatureStore(self.path).append(faults.SIGNER.sign(["a b c d"], ids=["last"]))
        assert ids_in(self.path) == [*self.new, "last"]
        runs = {run.folder for run in SignatureStore(self.path)._state.runs}
        assert {each.name for each in self.path.iterdir()} == {"manifest.json", "signer", *runs}, at


@pytest.fixture
def tried(name, place, forked):
    return Tried(name, place)


@every_action
def test_killed_at_any_change_of_the_file_system(name, tried, forked):
    for number in itertools.count(1, STEP):
        if (ended := forked(killed, number, name, tried.fresh())) == NOT_MET:
            break
        tried.check(ended, f"change {number}")
    assert number > 10


@every_action
@pytest.mark.parametrize(("code", "once"), [(errno.ENOSPC, False), (errno.EIO, True)])
def test_a_disk_that_is_full_from_any_call_on_or_fails_once(name, code, once, tried, forked):
    for number in itertools.count(1, STEP):
        if (ended := forked(failing, number, code, name, tried.fresh(), once)) == NOT_MET:
            break
        tried.check(ended, f"{errno.errorcode[code]} at call {number}")
    assert number > 5


@every_action
@pytest.mark.parametrize("limit", [0, 100])
def test_files_that_may_not_grow(name, limit, tried, forked):
    ended = forked(bounded, limit, name, tried.fresh())
    assert ended == NAMED
    tried.check(ended, f"{limit} bytes")


def test_a_second_writer_is_refused_by_name_and_readers_read_on(tmp_path, monkeypatch):
    faults.prepared(tmp_path)
    monkeypatch.setattr(claim, "WAIT", 0.05)
    store = SignatureStore(tmp_path / "store")
    with claimed(tmp_path / "store"), pytest.raises(StorageError, match="another process is changing this store"):
        store.append(faults.signed(BEFORE, BEFORE + 2))
    with claimed(tmp_path / "store"):
        assert len(SignatureStore(tmp_path / "store").match(faults.signed(0, 3), 3)) == 3
    store.append(faults.signed(BEFORE, BEFORE + 2))
    assert len(store) == BEFORE + 2


def test_writers_wait_for_each_other_and_nothing_is_lost(place):
    path = place / "shared"
    code = "import sys; from tests.matches.store.faults import several; several(int(sys.argv[1]), sys.argv[2], 6)"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(i), str(path)]) for i in range(2)]
    seen, done = [0], threading.Event()

    def read():
        while not done.is_set():
            seen.append(len(SignatureStore(path)))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert [writer.wait(120) for writer in writers] == [0, 0]
    finally:
        done.set()
        reader.join()
    assert seen == sorted(seen)
    assert sorted(ids_in(path)) == sorted(f"{i} {j}" for i in range(2) for j in range(6))


def test_an_object_that_is_behind_sees_what_others_appended_before_it_appends(tmp_path):
    faults.prepared(tmp_path)
    one, two = SignatureStore(tmp_path / "store"), SignatureStore(tmp_path / "store")
    one.append(faults.signed(BEFORE, BEFORE + 3))
    with pytest.raises(sosie.MismatchError, match=f"d{BEFORE}"):
        two.append(faults.signed(BEFORE, BEFORE + 1))
    found = two.match_and_append(faults.signed(BEFORE + 3, BEFORE + 5), 64)
    assert len(found.rows) == 2 * (BEFORE + 3) + 1 and len(two) == BEFORE + 5


def test_a_store_whose_rows_are_searched_while_they_are_merged_away(tmp_path):
    faults.prepared(tmp_path)
    old = SignatureStore(tmp_path / "store")
    asked = faults.signed(0, 5)
    right = old.match(asked, 10).ids.to_pylist()
    faults.merge(tmp_path)
    assert len(SignatureStore(tmp_path / "store")._state.runs) == 1
    assert old.match(asked, 10).ids.to_pylist() == right


@pytest.mark.parametrize("name", ["other.txt", "corpus"])
def test_a_directory_that_holds_other_things_is_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(sosie.UsageError, match=f"holds other files .{name}"):
        SignatureStore(tmp_path)
    with pytest.raises(sosie.UsageError, match="is a file"):
        SignatureStore(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    index = sosie.FlatIndex(Signatures(np.arange(3, dtype=np.uint64)))
    index.save(tmp_path / "index")
    with pytest.raises(StorageError, match="holds 'index', not 'store'"):
        SignatureStore(tmp_path / "index")
