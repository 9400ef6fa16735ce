import errno
import os

import pytest

from sosie.errors import StorageError, UsageError
from sosie.storage.output_file import output_file


def test_a_file_appears_when_all_is_written(tmp_path):
    final = tmp_path / "out.txt"
    with output_file(final) as path:
        path.write_text("half")
        assert not final.exists() and os.listdir(tmp_path) == [path.name] and path.name.startswith(".")
        path.write_text("whole")
    assert final.read_text() == "whole" and os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("error", [ValueError("x"), OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was_there(tmp_path, overwrite, error):
    final = tmp_path / "out.txt"
    if overwrite:
        final.write_text("old")
    with pytest.raises(StorageError if isinstance(error, OSError) else type(error)):
        with output_file(final, overwrite) as path:
            path.write_text("half")
            raise error
    assert os.listdir(tmp_path) == (["out.txt"] if overwrite else [])
    assert not overwrite or final.read_text() == "old"


def test_what_is_there_is_replaced_only_on_request(tmp_path):
    final = tmp_path / "out.txt"
    final.write_text("mine")
    with pytest.raises(UsageError, match="exists"), output_file(final):
        pass
    with output_file(final, overwrite=True) as path:
        path.write_text("new")
    assert final.read_text() == "new"
    with pytest.raises(UsageError, match="is a directory"), output_file(tmp_path, overwrite=True):
        pass
    with pytest.raises(UsageError, match="is not a directory"), output_file(tmp_path / "none" / "out.txt"):
        pass


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    final = tmp_path / "out.txt"
    with pytest.raises(UsageError, match="exists"), output_file(final) as path:
        path.write_text("new")
        final.write_text("theirs")
    assert final.read_text() == "theirs" and os.listdir(tmp_path) == ["out.txt"]


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    (tmp_path / ".out.txt.sosie-999999999-abc").write_text("half")
    (tmp_path / ".other.txt.sosie-999999999-abc").write_text("of another file")
    with output_file(tmp_path / "out.txt", overwrite=True) as first:
        first.write_text("first")
        with output_file(tmp_path / "out.txt", overwrite=True) as second:
            second.write_text("second")
            assert sorted(os.listdir(tmp_path)) == sorted([".other.txt.sosie-999999999-abc", first.name, second.name])
    assert sorted(os.listdir(tmp_path)) == [".other.txt.sosie-999999999-abc", "out.txt"]
    assert (tmp_path / "out.txt").read_text() == "first"


def test_without_locks_files_are_written_and_nothing_of_others_is_touched(tmp_path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    (tmp_path / ".out.txt.sosie-999999999-abc").write_text("half")
    monkeypatch.setattr("fcntl.flock", unsupported)
    with output_file(tmp_path / "out.txt") as path:
        path.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == [".out.txt.sosie-999999999-abc", "out.txt"]
