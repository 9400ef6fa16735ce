"""Whatever the file system does while an index is built or changed, or documents are signed or joined.

The old state stays, or the new one is whole.
The fault comes at one call after another; SOSIE_TEST_STEP=1 takes every call, and minutes.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from tests.jobs.faults import BORNE, COMMANDS, NAMED, NOT_MET, bounded, each_once, failing, killed, prepared
from tests.jobs.killed import Forks

import sosie

STEP = int(os.environ.get("SOSIE_TEST_STEP", "9"))
every_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in memory where there is one: hundreds of runs are flushed to it."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def forked(place):
    forks = Forks(each_once, place / "after")
    yield forks
    forks.stop()


@pytest.fixture(scope="module")
def before(forked, place) -> Path:
    """What is there before each command; below `after` is what each makes of it."""
    prepared(place / "before")
    return place / "before"


def state(folder: Path) -> dict[str, object]:
    """Return what a reader sees: the documents and what was made of them, without times; nothing that is hidden."""
    files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    seen: dict[str, object] = {name: crc32(content) for name, content in files.items() if not name.startswith(".")}
    for name in [name for name in seen if name.endswith("report.json")]:
        report = json.loads(files[name])
        seen[name] = {key: value for key, value in report.items() if key not in ("stages", "seconds")}
        listed = name.replace("report.json", ".sosie")  # with their sizes; that of the times is another one each time
        seen[listed] = {**json.loads(files[listed])["files"], "report.json": None}
    return seen


class Tried:
    """One command after another on fresh copies of the same folder."""

    def __init__(self, name: str, place: Path, before: Path) -> None:
        self.name, self.place, self.start = name, place / "tried", before
        self.old, self.new = state(before), state(place / "after" / name)

    def fresh(self) -> Path:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.start, self.place)
        return self.place

    def check(self, ended: int, at: object) -> None:
        """Check what was left, and that the command works when all is well again."""
        left = state(self.place)
        if ended == BORNE:
            assert left == self.new, f"{at}: it ended well, and its output is not whole"
        elif ended == NAMED:
            assert left == self.old, f"{at}: it failed, and what was there has changed"
        else:
            assert ended == -signal.SIGKILL, at
            assert left in (self.old, self.new), f"{at}: it was killed, and what is there is neither old nor new"
        if "index/manifest.json" in left:
            sosie.load_text_index(self.place / "index")
        if left == self.old:
            COMMANDS[self.name](self.place)
            assert state(self.place) == self.new, f"{at}: the next try makes something else"
            assert not list(self.place.glob(".*")), f"{at}: something is left over"


@pytest.fixture
def tried(name, place, before) -> Tried:
    return Tried(name, place, before)


@every_command
def test_killed_at_any_change_of_the_file_system(name, tried, forked):
    for number in itertools.count(1, STEP):
        if (ended := forked(killed, number, name, tried.fresh())) == NOT_MET:
            break
        tried.check(ended, f"change {number}")
    assert number > 10


@every_command
@pytest.mark.parametrize(("code", "once"), [(errno.ENOSPC, False), (errno.EIO, True)])
def test_a_disk_that_is_full_from_any_call_on_or_fails_once(name, code, once, tried, forked):
    for number in itertools.count(1, STEP):
        if (ended := forked(failing, number, code, name, tried.fresh(), once)) == NOT_MET:
            break
        tried.check(ended, f"{errno.errorcode[code]} at call {number}")
    assert number > 10


@every_command
@pytest.mark.parametrize("limit", [0, 100, 1000])
def test_files_that_may_not_grow(name, limit, tried, forked):
    tried_at = forked(bounded, limit, name, tried.fresh())
    assert tried_at == NAMED
    tried.check(tried_at, f"{limit} bytes")
