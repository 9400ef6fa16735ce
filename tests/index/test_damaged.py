"""Whatever happens to the files of an index: a named error or the same answer, and the process goes on."""

import json
import shutil
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.index.damage import stride
from tests.oracle_hamming import signatures

from sosie.errors import StorageError
from sosie.index import blocks, multi
from sosie.index.files import load_index
from sosie.index.registry import CLASSES
from sosie.index.slice_search import SliceSearch
from sosie.storage.listing import LISTING
from sosie.storage.manifest import MANIFEST, VERSION, _checksum
from sosie.types import Bags, Features, Keys


def few(made):
    """Return an index of 7 rows of 8 bits, one of which was removed."""
    index = made(signatures("clustered", 7, 8, ids=list("abcdefg")))
    index.remove(["c"])
    return index


def few_keys(made):
    return made(Keys(np.random.default_rng(0).integers(0, 4, (7, 2), dtype=np.uint64), ids=list("abcdefg")))


def few_bags(made):
    hashes = np.sort((np.arange(21, dtype=np.uint64) % np.uint64(5)).reshape(7, 3)).reshape(-1)
    index = made(Bags(Features(hashes, np.arange(0, 22, 3)), ids=list("abcdefg")))
    index.remove(["c"])
    return index


MAKERS = {  # one for each class that can be saved
    "BlockIndex": few,
    "FlatIndex": few,
    "KeyIndex": few_keys,
    "MultiIndex": few,
    "ProbeIndex": few,
    "SliceIndex": lambda made: few(partial(made, width=2, effort=SliceSearch(None))),
    "WordIndex": few_bags,
}


def test_there_is_a_maker_for_every_class_that_can_be_saved():
    assert MAKERS.keys() == CLASSES.keys()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the directories of one small index of each class."""
    folder = tmp_path_factory.mktemp("indexes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SHORT", 4)
        patch.setattr(multi, "SHORT", 4)
        for name, make in MAKERS.items():
            make(CLASSES[name].load()).save(folder / name)
            (folder / name / LISTING).unlink()  # what an index is, is not asked of it
    return folder


class Worker:
    """One process that damages indexes; it is started again only when it has died."""

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def damage(self, saved):
        """Return what `damage.py` says of a copy of an index, and the cases that ended the process, with signals."""
        done, deaths = 0, []
        while True:
            target = self.folder / f"{saved.name}-{len(deaths)}"
            shutil.copytree(saved, target)
            if answer := self._ask(target, done):
                return [int(number) for number in answer.split()], deaths
            _, errors = self.process.communicate()
            assert self.process.returncode < 0, errors
            (done,) = struct.unpack("<q", (self.folder / "progress").read_bytes())
            deaths.append((done, -self.process.returncode))
            self.process = None

    def _ask(self, target, done):
        if self.process is None:
            command = [sys.executable, Path(__file__).with_name("damage.py"), self.folder / "progress"]
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            self.process = subprocess.Popen(command, text=True, **pipes)
        print(target, done, file=self.process.stdin, flush=True)
        return self.process.stdout.readline()


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    worker = Worker(tmp_path_factory.mktemp("damaged"))
    yield worker
    if worker.process is not None:
        worker.process.communicate()


every_class = pytest.mark.parametrize("name", sorted(CLASSES))


@every_class
def test_flipped_bytes_and_truncations_give_a_named_error_or_the_same_answer(name, saved, worker):
    sizes = [path.stat().st_size for path in (saved / name).iterdir()]
    (same, named, cases), deaths = worker.damage(saved / name)
    assert not deaths, "the process was ended in these cases, by these signals"
    assert same + named == cases == sum(2 * -(-size // stride(size)) + 1 for size in sizes)
    assert same == 1, "only the line feed at the end of the manifest means nothing"


@every_class
def test_a_newer_format_is_named(name, saved, tmp_path):
    shutil.copytree(saved / name, tmp_path / "newer")
    rewrite(tmp_path / "newer", version=VERSION + 1)
    with pytest.raises(StorageError, match=rf"newer.*format version {VERSION + 1}, newer than {VERSION}. Update Sosie"):
        load_index(tmp_path / "newer")


@every_class
def test_a_file_that_is_missing_or_is_no_file_is_named(name, saved, tmp_path):
    for path in (saved / name).iterdir():
        shutil.copytree(saved / name, tmp_path / path.name)
        (tmp_path / path.name / path.name).unlink()
        with pytest.raises(StorageError, match=rf"{path.name}.*no such file"):
            load_index(tmp_path / path.name)
        (tmp_path / path.name / path.name).mkdir()
        with pytest.raises(StorageError, match=rf"{path.name}.*is not a file"):
            load_index(tmp_path / path.name)


@every_class
def test_files_that_were_added_do_no_harm(name, saved, tmp_path):
    shutil.copytree(saved / name, tmp_path / "more")
    (tmp_path / "more" / "run9_rows").write_bytes(b"not of this index")
    (tmp_path / "more" / "notes").mkdir()
    assert load_index(tmp_path / "more").ids.equals(load_index(saved / name).ids)


@every_class
def test_arrays_of_another_class_are_named(name, saved, tmp_path):
    for other in sorted(CLASSES.keys() - {name}):
        shutil.copytree(saved / name, tmp_path / other)
        rewrite(tmp_path / other, **{"class": other})
        try:
            loaded = load_index(tmp_path / other)
        except StorageError as error:
            assert str(tmp_path / other) in str(error)
        else:
            assert other == "FlatIndex" and type(loaded).__name__ == other  # its arrays are part of several


@pytest.mark.parametrize(
    "manifest", (None, "an index of first lines", '{"format": "something-else", "version": 1}', "[]")
)
def test_a_directory_that_is_not_an_index_is_named(manifest, tmp_path):
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(StorageError, match=str(tmp_path)):
        load_index(tmp_path)


def rewrite(folder, **changes):
    """Change a manifest, with a right checksum."""
    manifest = {**json.loads((folder / MANIFEST).read_text()), **changes}
    del manifest["crc32"]
    (folder / MANIFEST).write_text(json.dumps({**manifest, "crc32": _checksum(manifest)}))
