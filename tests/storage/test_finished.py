import os

import pytest

from sosie.errors import StorageError
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.finished import LOG, FinishedFiles


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path / "checkpoints", "key", forced=True)


@pytest.fixture
def output(tmp_path):
    (tmp_path / "output").mkdir()
    return tmp_path / "output"


def write(output, *names):
    files = [output / name for name in names]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"the content of " + os.fsencode(file.name))
    return files


def listing(output):
    return sorted(str(file.relative_to(output)) for file in output.rglob("*") if file.is_file())


def test_finished_files_stay_and_all_others_go(output, checkpoints):
    finished = FinishedFiles(output, checkpoints)
    first, second = write(output, "kept/a", "dropped/a"), write(output, "kept/caf\udce9 b")
    write(output, "kept/c", "pairs.parquet")
    finished.add(first)
    finished.add(second)
    again = FinishedFiles(output, checkpoints)
    assert listing(output) == sorted(["kept/a", "dropped/a", "kept/caf\udce9 b"])
    assert all(file in again for file in first + second) and output / "kept" / "c" not in again
    log = (checkpoints.folder / LOG).read_bytes()
    again.add(first)
    assert (checkpoints.folder / LOG).read_bytes() == log


@pytest.mark.parametrize("damage", ["gone", "shorter", "longer"])
def test_files_made_together_are_finished_together(output, checkpoints, damage):
    finished = FinishedFiles(output, checkpoints)
    files, other = write(output, "kept/a", "dropped/a"), write(output, "kept/b")
    finished.add(files)
    finished.add(other)
    if damage == "gone":
        files[1].unlink()
    else:
        os.truncate(files[1], 3 if damage == "shorter" else 100)
    again = FinishedFiles(output, checkpoints)
    assert listing(output) == ["kept/b"] and other[0] in again and files[0] not in again


def test_a_log_that_was_cut_short_at_any_byte_goes_on(output, checkpoints):
    log = checkpoints.folder / LOG
    finished = FinishedFiles(output, checkpoints)
    finished.add(write(output, "a"))
    finished.add(write(output, "b"))
    whole = log.read_bytes()
    for length in range(len(whole)):
        log.write_bytes(whole[:length])
        write(output, "a", "b")
        FinishedFiles(output, checkpoints).add(write(output, "c"))
        again = FinishedFiles(output, checkpoints)
        assert output / "c" in again
        assert listing(output) == [name for name in ("a", "b", "c") if output / name in again]
    assert output / "b" in again  # only the last newline was missing


def test_a_damaged_line_is_no_line(output, checkpoints):
    log = checkpoints.folder / LOG
    FinishedFiles(output, checkpoints).add(write(output, "a"))
    whole = log.read_bytes()
    for place in range(1, len(whole) - 1):
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        write(output, "a")
        assert output / "a" not in FinishedFiles(output, checkpoints)


def test_the_log_of_another_run_is_not_read(output, checkpoints):
    FinishedFiles(output, checkpoints).add(write(output, "a"))
    assert output / "a" not in FinishedFiles(output, checkpoints.given("minhash"))
    assert not listing(output)


def test_what_waits_is_logged_with_the_next_that_is_due(output, checkpoints, monkeypatch):
    patient = Checkpoints(checkpoints.folder, "key")
    finished = FinishedFiles(output, patient)
    finished.add(write(output, "a"))
    assert not checkpoints.folder.exists()
    monkeypatch.setattr("sosie.storage.checkpoint.WORTH", 0)
    finished.add(write(output, "b"))
    again = FinishedFiles(output, checkpoints)
    assert output / "a" in again and output / "b" in again


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to know the names of open files")
def test_a_file_is_flushed_before_it_is_logged(output, checkpoints, monkeypatch):
    synced, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.readlink(f"/proc/self/fd/{fd}")), real(fd)))
    FinishedFiles(output, checkpoints).add(write(output, "a"))
    assert [os.path.basename(path) for path in synced] == ["a", LOG, "checkpoints"]


def test_a_full_disk_is_named(output, checkpoints, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    finished = FinishedFiles(output, checkpoints)
    files = write(output, "a")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=rf"{LOG}: .*No space left"):
        finished.add(files)
