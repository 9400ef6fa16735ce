"""Replacing is one step: whoever looks finds the old index or the new one, whole, whatever was killed and when."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.storage.replacing import TEXTS, held, index_of, start

import sosie
from sosie import StorageError, UsageError
from sosie.search.files import changing, describe_index
from sosie.storage import claim, exchange, folder, working
from sosie.storage.listing import LISTING

STEP = int(os.environ.get("SOSIE_TEST_STEP", "5"))  # 1 takes every call
TIMES = int(os.environ.get("SOSIE_TEST_REPLACED", "60"))  # how often an index is replaced beside a reader
LONGEST = 300 if STEP > 1 else 7000


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where there is one: everything is flushed to it."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as made:
        yield Path(made)


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize(("action", "step"), [("killed_saves", 2 * STEP - 1), ("killed_additions", 4 * STEP - 3)])
def test_killed_at_any_call_the_old_one_or_the_new_one_is_there(tmp_path, exchanges, action, step):
    with start(f"print({action}(Path({str(tmp_path)!r}), {exchanges}, {step}))") as child:
        said = child.communicate(timeout=LONGEST)[0]
    assert child.returncode == 0 and int(said) > 60


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace: apt-get install strace")
@pytest.mark.parametrize("exchanges", [True, False])
def test_killed_at_any_call_to_the_system_the_old_one_or_the_new_one_is_there(tmp_path, exchanges):
    call = f"print(killed_by_system(Path({str(tmp_path)!r}), {exchanges}, {8 * STEP - 7}))"
    with start(call) as child:
        said = child.communicate(timeout=LONGEST)[0]
    assert child.returncode == 0 and int(said) > (200 if STEP == 1 else 10)


@pytest.mark.parametrize("exchanges", [True, False])
def test_loads_beside_replacements_see_one_of_the_two(tmp_path, exchanges):
    path = tmp_path / "index"
    index_of("a").save(path)
    seen = {"a": 0, "b": 0}
    with start(f"replace_often({str(path)!r}, {TIMES}, {exchanges})") as writer:
        assert writer.stdout.readline() == "ready\n"
        while writer.poll() is None or sum(seen.values()) < TIMES:
            seen[held(path)] += 1
    assert writer.returncode == 0 and all(seen.values()), seen
    assert os.listdir(tmp_path) == ["index"]


def test_a_reader_that_began_with_the_old_one_ends_with_it_or_begins_again(tmp_path, monkeypatch):
    """At each file that a reader opens, the index is replaced, and what it had is removed before it goes on."""
    path, others = tmp_path / "index", {name: index_of(name) for name in TEXTS}
    others["a"].save(path)
    real, opened = folder.Folder.open, []
    for moment in range(40):
        before, opened[:] = held(path), []

        def replaced(self, name, moment=moment, before=before):
            opened.append(name)
            if len(opened) == moment:
                others["b" if before == "a" else "a"].save(path, overwrite=True)
            return real(self, name)

        with monkeypatch.context() as patch:
            patch.setattr(folder.Folder, "open", replaced)
            assert held(path) in TEXTS
            describe_index(path)
    assert len(opened) < 40  # the last moments are after the end


def test_an_index_that_is_always_replaced_is_given_up(tmp_path, monkeypatch):
    path, other = tmp_path / "index", index_of("b")
    index_of("a").save(path)
    real = folder.Folder.open

    def replaced(self, name):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folder.Folder, "open", real)
            other.save(path, overwrite=True)
        return real(self, name)

    monkeypatch.setattr(folder.Folder, "open", replaced)
    with pytest.raises(StorageError, match=r"index: was replaced 20 times while it was read\. Try again"):
        sosie.load_text_index(path)


def test_where_directories_cannot_be_exchanged_readers_find_what_is_set_aside(tmp_path, monkeypatch):
    """A writer died between two renames: readers open what it has set aside, the next writer puts it back."""
    path = tmp_path / "index"
    index_of("a").save(path)
    dead = tmp_path / ".index.sosie-999999999-abc"
    shutil.copytree(path, dead / working.NEW)
    os.rename(path, dead / working.REPLACED)
    assert held(path) == "a" and describe_index(path)["rows"] == 2 and not path.exists()
    with changing(path) as (index, _):
        index.remove(["a2"])
        assert path.exists() and not dead.exists()
    assert len(sosie.load_text_index(path)) == 1 and os.listdir(tmp_path) == ["index"]
    shutil.rmtree(path)
    dead.mkdir()
    index_of("b").save(dead / working.REPLACED)  # its writer had finished: the index was removed by hand since
    with pytest.raises(StorageError, match="there is no such directory"):
        sosie.load_text_index(path)


@pytest.mark.parametrize("code", ["ENOSYS", "EINVAL", "EXDEV"])
def test_what_the_system_says_of_an_exchange(tmp_path, monkeypatch, code):
    import errno

    number = getattr(errno, code)
    monkeypatch.setattr(exchange, "_renameat2", lambda: lambda first, second: number)
    if code == "EXDEV":
        with pytest.raises(OSError, match="cross-device"):
            exchange.exchange(tmp_path / "a", tmp_path / "b")
    else:
        assert not exchange.exchange(tmp_path / "a", tmp_path / "b")
    monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    assert not exchange.exchange(tmp_path / "a", tmp_path / "b")


def test_two_changes_at_once_wait_for_each_other_or_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "index"
    index_of("a").save(path)
    add = "add_to_index({0!r}, sosie.Source.from_texts(['one more'], ids=['{1}']))"
    calls = [f"from sosie.jobs.index import add_to_index; {add.format(str(path), name)}" for name in "pq"]
    children = [start(call) for call in calls]
    for child in children:
        child.communicate(timeout=LONGEST)
        assert child.returncode == 0
    assert sorted(sosie.load_text_index(path).index.ids.to_pylist()) == ["a1", "a2", "p", "q"]
    monkeypatch.setattr(claim, "WAIT", 0.1)
    with changing(path) as (index, _):
        with pytest.raises(StorageError, match="another process is changing this directory"):
            index_of("b").save(path, overwrite=True)
        with pytest.raises(StorageError, match="another process is changing this index"), changing(path):
            raise AssertionError
        index.remove(["p"])
    assert len(sosie.load_text_index(path)) == 3 and os.listdir(tmp_path) == ["index"]


@pytest.mark.parametrize("moved", [True, False])
def test_a_change_does_not_replace_what_came_meanwhile(tmp_path, moved):
    path = tmp_path / "index"
    index_of("a").save(path)
    with pytest.raises(StorageError, match=r"index: was replaced or removed meanwhile, so nothing was written"):
        with changing(path) as (index, _):
            index.remove(["a1"])
            os.rename(path, tmp_path / "elsewhere")
            if moved:
                shutil.copytree(tmp_path / "elsewhere", path)
    assert held(tmp_path / "elsewhere") == "a" and path.exists() == moved
    assert len(os.listdir(tmp_path)) == 1 + moved


@pytest.mark.parametrize("part", ["signer", "texts", "passages"])
def test_parts_of_another_index_are_refused(tmp_path, part):
    spec = sosie.Simhash(weighting="tf-idf")
    for name, texts in TEXTS.items():
        source = sosie.Source.from_texts(texts, ids=[f"{name}1", f"{name}2"])
        made = sosie.TextIndex.of(source, task="passages", keep_texts=True)
        if part == "passages":
            made.places.ends[:] -= ord(name) % 2
        if part == "signer":
            signer = spec.fit([*texts, name])
            made = sosie.TextIndex(sosie.FlatIndex(sosie.Signatures(signer.sign(texts).words)), signer)
        made.save(tmp_path / name)
    sosie.load_text_index(tmp_path / "a")
    shutil.rmtree(tmp_path / "a" / part)
    with pytest.raises(StorageError, match=rf"a/{part}: is missing"):
        sosie.load_text_index(tmp_path / "a")
    shutil.copytree(tmp_path / "b" / part, tmp_path / "a" / part)
    for load in (sosie.load_text_index, sosie.load_index, describe_index):
        with pytest.raises(StorageError, match=rf"a/{part}: does not fit the index: it is that of another"):
            load(tmp_path / "a")


def test_a_part_that_came_later_is_refused(tmp_path):
    index = sosie.TextIndex.of(TEXTS["a"], ids=["a1", "a2"])
    index.save(tmp_path / "bare")
    index_of("a").save(tmp_path / "a")
    shutil.copytree(tmp_path / "a" / "texts", tmp_path / "bare" / "texts")
    with pytest.raises(StorageError, match=r"bare/texts: does not fit the index, which has none"):
        sosie.load_text_index(tmp_path / "bare")
    with pytest.raises(UsageError, match=r"bare: holds texts/manifest.json, texts/text_bytes, texts/text_offsets"):
        index.save(tmp_path / "bare", overwrite=True)


def test_the_same_index_is_written_to_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        index_of("a").save(tmp_path / name)
    files = [{p.relative_to(d): p.read_bytes() for p in d.rglob("*") if p.is_file()} for d in tmp_path.iterdir()]
    assert files[0] == files[1] and Path(LISTING) in files[0]
