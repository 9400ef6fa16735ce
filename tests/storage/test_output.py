import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sosie.errors import DataError, StorageError, UsageError
from sosie.storage import OutputDirectory, exchange, output, replace, working
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.durable import sync as real_sync


def fill(final, text="a", **options):
    with OutputDirectory(final, **options) as out:
        (out.path / "kept").mkdir()
        (out.path / "kept" / "a.txt").write_text(text)
        (out.path / "report.json").write_text(json.dumps({"format": "sosie-report"}))
        (out.scratch / "spill").write_text("temporary")
    return final


def listing(folder):
    return sorted(os.listdir(folder))


def test_it_appears_whole_and_leaves_nothing_beside(tmp_path):
    final = fill(tmp_path / "deep" / "out")
    assert (final / "kept" / "a.txt").read_text() == "a"
    assert listing(final) == [".sosie", "kept", "report.json"] and listing(final.parent) == ["out"]


def test_nothing_appears_before_the_end(tmp_path):
    with OutputDirectory(tmp_path / "out") as out:
        (out.path / "a").write_text("a")
        assert not (tmp_path / "out").exists()
        assert out.path.parent.parent == tmp_path and str(os.getpid()) in str(out.path)
    assert listing(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_error_leaves_nothing(tmp_path, error):
    with pytest.raises(error), OutputDirectory(tmp_path / "out") as out:
        (out.path / "a").write_text("a")
        raise error
    assert listing(tmp_path) == []


def test_an_empty_directory_may_be_used_a_full_one_not(tmp_path):
    final = tmp_path / "out"
    final.mkdir()
    fill(final)
    with pytest.raises(UsageError, match=r"not empty.*--overwrite"):
        fill(final)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        fill(tmp_path / "file")


def test_overwrite_replaces_only_what_sosie_wrote(tmp_path):
    final = fill(tmp_path / "out")
    fill(final, "b", overwrite=True)
    assert (final / "kept" / "a.txt").read_text() == "b" and listing(tmp_path) == ["out"]
    (final / "report.json").write_text('{"format": "sosie-report", "edited": true}')
    with pytest.raises(UsageError, match=r"out: holds report\.json, which was changed since Sosie wrote it\. Move"):
        fill(final, overwrite=True)
    (final / ".sosie").unlink()
    for marker in ("{}", "[]", "nonsense", '{"format": "other"}', '{"format": "sosie-report"}'):
        (final / "report.json").write_text(marker)
        with pytest.raises(UsageError, match="not written by Sosie"):
            fill(final, overwrite=True)
    assert (final / "kept" / "a.txt").read_text() == "b"


@pytest.mark.parametrize("name", ["notes.txt", "kept/own.txt", "deep/er/own.txt", ".hidden", "link"])
def test_what_sosie_did_not_write_stays(tmp_path, name):
    final = fill(tmp_path / "out")
    own = final / name
    own.parent.mkdir(parents=True, exist_ok=True)
    if name == "link":
        own.symlink_to(tmp_path)
    else:
        own.write_text("mine")
    with pytest.raises(UsageError, match=rf"out: holds {name}, which Sosie did not write\. Move it away, or choose"):
        fill(final, "b", overwrite=True)
    assert own.exists() and (final / "kept" / "a.txt").read_text() == "a" and listing(tmp_path) == ["out"]


def test_what_came_during_the_run_or_at_the_last_moment_stays(tmp_path, monkeypatch):
    final = fill(tmp_path / "out")
    with pytest.raises(UsageError, match=r"holds notes\.txt"), OutputDirectory(final, overwrite=True) as out:
        (out.path / "a").write_text("a")
        (final / "notes.txt").write_text("mine")
    (final / "notes.txt").unlink()
    real = exchange.exchange

    def late(first, second):
        if not (first / "notes.txt").exists():
            (final / "notes.txt").write_text("mine")
        return real(first, second)

    monkeypatch.setattr(exchange, "exchange", late)
    with pytest.raises(UsageError, match=r"out: holds notes\.txt"):
        fill(final, "b", overwrite=True)
    assert (final / "notes.txt").read_text() == "mine" and (final / "kept" / "a.txt").read_text() == "a"
    assert listing(tmp_path) == ["out"]


OLD = {
    "dedup": {
        "report.json": '{"format": "sosie-report"}',
        **dict.fromkeys(["report.html", "pairs.parquet", "clusters.parquet", "rejected.jsonl", "kept/a/b.txt"], ""),
        **dict.fromkeys(["dropped/a.txt", "annotated/a.txt", "dropped.tsv", "annotations.tsv"], ""),
    },
    "join": {"report.json": '{"format": "sosie-join"}', "pairs.parquet": ""},
    "corpus": {"manifest.json": '{"format": "sosie-corpus"}', "documents.jsonl": "", "truth.parquet": ""},
    "index": {
        "manifest.json": '{"format": "sosie-artefact", "kind": "index", "files": {"planes": {}}}',
        "planes": "",
        "rejected.jsonl": "",
        "texts/manifest.json": '{"format": "sosie-artefact", "kind": "texts", "files": {"text_bytes": {}}}',
        "texts/text_bytes": "",
    },
}


@pytest.mark.parametrize("kind", OLD)
def test_an_output_without_a_list_is_replaced_if_all_its_names_are_those_that_sosie_writes(tmp_path, kind):
    final = tmp_path / "out"
    for name, content in OLD[kind].items():
        (final / name).parent.mkdir(parents=True, exist_ok=True)
        (final / name).write_text(content)
    (final / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds notes\.txt, which Sosie did not write"):
        fill(final, overwrite=True)
    (final / "notes.txt").unlink()
    fill(final, overwrite=True)
    assert listing(final) == [".sosie", "kept", "report.json"] and listing(tmp_path) == ["out"]


@pytest.mark.parametrize("copied", ["report.json", ".sosie"])
def test_a_copied_report_or_list_does_not_make_a_folder_sosies(tmp_path, copied):
    made, own = fill(tmp_path / "made"), tmp_path / "own"
    own.mkdir()
    (own / copied).write_bytes((made / copied).read_bytes())
    (own / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match=r"own: (was not written by Sosie|holds thesis\.txt)"):
        fill(own, overwrite=True)
    assert (own / "thesis.txt").read_text() == "years of work"


def test_a_failed_run_keeps_the_output_it_would_have_replaced(tmp_path):
    final = fill(tmp_path / "out")
    with pytest.raises(ValueError), OutputDirectory(final, overwrite=True):
        raise ValueError
    assert (final / "kept" / "a.txt").read_text() == "a"


def test_a_failed_rename_puts_the_old_output_back(tmp_path, monkeypatch):
    final = fill(tmp_path / "out")
    real = os.rename

    def rename(old, new):
        if str(old).endswith("output"):
            raise OSError(errno.EIO, "Input/output error")
        real(old, new)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(StorageError, match=r"out: .*Input/output"):
        fill(final, "b", overwrite=True)
    assert (final / "kept" / "a.txt").read_text() == "a" and listing(tmp_path) == ["out"]


def test_files_that_came_meanwhile_are_not_replaced(tmp_path):
    final = tmp_path / "out"
    with pytest.raises(UsageError, match="not empty"), OutputDirectory(final):
        final.mkdir()
        (final / "precious").write_text("x")
    assert listing(final) == ["precious"]


def test_an_unwritable_parent_is_told_at_the_start(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be written"):
        fill(tmp_path / "file" / "out")

    def refuse(directory):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(output, "_probe", refuse)
    with pytest.raises(UsageError, match="Permission denied"):
        fill(tmp_path / "out")
    assert listing(tmp_path) == ["file"]


def test_inputs_inside_the_output_are_protected(tmp_path):
    final = fill(tmp_path / "out")
    with pytest.raises(UsageError, match="holds inputs"):
        fill(final, overwrite=True, inputs=[final / "kept" / "a.txt"])


def test_a_full_disk_is_a_storage_error_and_other_files_keep_theirs(tmp_path):
    with pytest.raises(StorageError, match=r"out.*No space left"), OutputDirectory(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(StorageError, match="missing"), OutputDirectory(tmp_path / "out") as out:
        (out.path / "missing" / "a").write_text("a")
    with pytest.raises(FileNotFoundError), OutputDirectory(tmp_path / "out"):
        (tmp_path / "input").read_text()
    assert listing(tmp_path) == []


def test_everything_is_flushed_before_the_rename(tmp_path, monkeypatch):
    synced = []

    def sync(path):
        synced.append((os.path.basename(path), (tmp_path / "out").exists()))
        real_sync(path)

    monkeypatch.setattr("sosie.storage.durable.sync", sync)
    monkeypatch.setattr(replace, "sync", sync)
    fill(tmp_path / "out")
    before = [name for name, appeared in synced if not appeared]
    assert set(before) == {".sosie", "a.txt", "kept", "report.json", "output"} and before[-1] == "output"
    assert (tmp_path.name, True) in synced


CHILD = """
import sys, time
from sosie.storage import OutputDirectory
with OutputDirectory(sys.argv[1]) as out:
    (out.path / "half").write_text("x")
    print("ready", flush=True)
    time.sleep(60)
"""


def test_leftovers_of_killed_processes_are_removed_and_those_of_living_ones_are_not(tmp_path):
    final = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(final)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        with OutputDirectory(final) as mine, OutputDirectory(final) as other:
            assert mine.path.exists() and other.path.exists()
            assert len(listing(tmp_path)) == 3
            other.final = tmp_path / "second"
        assert len(listing(tmp_path)) == 3
        child.send_signal(signal.SIGKILL)
    for name in listing(final):
        (final / name).unlink()
    fill(final)
    assert listing(tmp_path) == ["out", "second"]


def test_ctrl_c_leaves_nothing(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        child.stdout.readline()
        time.sleep(0.05)
        child.send_signal(signal.SIGINT)
    assert listing(tmp_path) == []


def test_a_kill_between_the_two_renames_is_repaired(tmp_path):
    final = fill(tmp_path / "out")
    dead = tmp_path / ".out.sosie-999999999-abc"
    dead.mkdir()
    os.rename(final, dead / "replaced")
    with pytest.raises(UsageError, match="not empty"):
        fill(final)
    assert (final / "kept" / "a.txt").read_text() == "a" and listing(tmp_path) == ["out"]


def test_a_failed_rename_is_taken_back_when_it_cannot_be_flushed(tmp_path, monkeypatch):
    final = fill(tmp_path / "out")

    def sync(path):
        if str(path) == str(tmp_path):
            raise OSError(errno.EIO, "Input/output error")
        real_sync(path)

    monkeypatch.setattr(replace, "sync", sync)
    with pytest.raises(StorageError, match=r"out: .*Input/output"):
        fill(final, "b", overwrite=True)
    assert (final / "kept" / "a.txt").read_text() == "a" and listing(tmp_path) == ["out"]


KEY, OTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4


def leave(final, key=KEY, error=None, **options):
    """Write half of an output and a checkpoint, and fail."""
    error = error or OSError(errno.ENOSPC, "No space left on device")
    with OutputDirectory(final, key=key, resume=True, **options) as out:
        (out.path / "half").write_text(key[:4])
        (out.scratch / "spill").write_text("x")
        out.checkpoints.save("read", {"sizes": np.arange(3)})
        raise error


def left_behind(final):
    return [name for name in listing(final.parent) if name.startswith(f".{final.name}.sosie-")]


def test_what_failed_is_kept_and_resumed_by_the_same_run(tmp_path):
    final = tmp_path / "out"
    with pytest.raises(StorageError, match=rf"No space left.* {output.HINT}$"):
        leave(final)
    (name,) = left_behind(final)
    assert name.startswith(f".out.sosie-{os.getpid()}-{KEY[:16]}-")
    with OutputDirectory(final, key=KEY, resume=True) as out:
        assert (out.path / "half").read_text() == "0123" and not list(out.scratch.iterdir())
        assert out.checkpoints.load("read")[0]["sizes"].tolist() == [0, 1, 2]
        assert left_behind(final) != [name] and len(left_behind(final)) == 1
    assert listing(tmp_path) == ["out"] and listing(final) == [".sosie", "half"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), MemoryError(), FileNotFoundError(2, "x", "in")])
def test_errors_that_another_try_may_cure_carry_a_note(tmp_path, error):
    with pytest.raises(type(error)) as raised:
        leave(tmp_path / "out", error=error)
    assert raised.value.__notes__ == [output.HINT] and left_behind(tmp_path / "out")


def test_an_input_that_is_away_may_come_back(tmp_path):
    error = DataError("in.jsonl: disappeared.")
    error.__cause__ = FileNotFoundError(2, "No such file")
    with pytest.raises(DataError, match=rf"^in.jsonl: disappeared. {output.HINT}$"):
        leave(tmp_path / "out", error=error)
    assert left_behind(tmp_path / "out")


@pytest.mark.parametrize("error", [DataError("bad"), ValueError("bad"), AssertionError("bad")])
def test_other_errors_leave_nothing(tmp_path, error):
    with pytest.raises(type(error), match=r"^bad$"):
        leave(tmp_path / "out", error=error)
    assert listing(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [({"key": OTHER, "resume": True}, "inputs or options changed"), ({"key": KEY}, ""), ({}, "")],
)
def test_any_other_run_removes_it(tmp_path, options, said, caplog):
    with pytest.raises(StorageError):
        leave(tmp_path / "out")
    caplog.clear()
    with OutputDirectory(tmp_path / "out", **options) as out:
        assert len(left_behind(tmp_path / "out")) == 1 and not list(out.path.iterdir())
        assert said in caplog.text and bool(said) == bool(caplog.text)
    assert listing(tmp_path) == ["out"]


def test_without_a_checkpoint_there_is_nothing_to_keep(tmp_path, caplog):
    with pytest.raises(StorageError, match=r"permissions\.$"):
        with OutputDirectory(tmp_path / "out", key=KEY, resume=True) as out:
            (out.path / "half").write_text("x")
            raise OSError(errno.ENOSPC, "No space left on device")
    assert listing(tmp_path) == [] and "nothing to resume" in caplog.text


def test_two_runs_never_share_a_folder(tmp_path):
    final = tmp_path / "out"
    with pytest.raises(StorageError):
        leave(final)
    with OutputDirectory(final, key=KEY, resume=True) as first, OutputDirectory(final, key=KEY, resume=True) as second:
        assert first.checkpoints.held and not second.checkpoints.held
        assert first.path != second.path and len(left_behind(final)) == 2
        second.final = tmp_path / "second"
    assert listing(tmp_path) == ["out", "second"]


def test_a_folder_that_another_run_takes_at_the_same_moment_is_left_alone(tmp_path, monkeypatch):
    """Between the listing and the lock, another process has renamed it, or has put its own in its place."""
    final = tmp_path / "out"
    with pytest.raises(StorageError):
        leave(final)
    (name,) = left_behind(final)
    real = os.open

    def renamed(path, flags, *rest, **options):
        if os.path.basename(path) == name and os.path.exists(path):
            os.rename(path, tmp_path / "taken")
        return real(path, flags, *rest, **options)

    def replaced(path, flags, *rest, **options):
        descriptor = real(path, flags, *rest, **options)
        if os.path.basename(path) == name:
            os.rename(path, tmp_path / "taken")
            os.mkdir(path)
        return descriptor

    for race in (renamed, replaced):
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", race)
            with OutputDirectory(final, key=KEY, resume=True) as out:
                assert not out.checkpoints.held
                out.final = tmp_path / race.__name__
        assert (tmp_path / "taken" / "checkpoints" / "read").exists()
        if os.path.exists(tmp_path / name):
            os.rmdir(tmp_path / name)
        os.rename(tmp_path / "taken", tmp_path / name)


def test_a_failure_at_the_start_keeps_what_can_be_resumed(tmp_path, monkeypatch):
    final = tmp_path / "out"
    with pytest.raises(StorageError):
        leave(final)

    def refuse(directory):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output, "_probe", refuse)
        with pytest.raises(UsageError, match=rf"No space left.*{output.HINT}$"):
            OutputDirectory(final, key=KEY, resume=True).__enter__()
    with OutputDirectory(final, key=KEY, resume=True) as out:
        assert out.checkpoints.held


def finish(final, monkeypatch, **options):
    """Write an output and a checkpoint; die when it has got its name, before the working folder is removed."""
    with monkeypatch.context() as patch:
        patch.setattr(working.WorkingFolder, "remove", working.WorkingFolder.release)
        with OutputDirectory(final, key=KEY, resume=True, **options) as out:
            (out.path / "half").write_text("whole")
            out.checkpoints.save("read", {"sizes": np.arange(3)})


@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("removed", [True, False])
def test_a_run_that_died_after_its_output_appeared_has_succeeded(
    tmp_path, monkeypatch, caplog, replaces, exchanges, removed
):
    final = fill(tmp_path / "out") if replaces else tmp_path / "out"
    if not exchanges:
        monkeypatch.setattr(exchange, "exchange", lambda first, second: False)
    finish(final, monkeypatch, overwrite=replaces)
    if removed:
        shutil.rmtree(tmp_path / left_behind(final)[0])
    before = (final / "half").stat()
    caplog.clear()
    with OutputDirectory(final, key=KEY, resume=True) as out:
        assert out.is_finished and out.checkpoints.held is not removed and not list(out.path.iterdir())
    assert f"{final}: an earlier try of this run has finished it" in caplog.text
    assert listing(tmp_path) == ["out"] and (final / "half").stat() == before
    for options in ({"key": OTHER, "resume": True}, {"key": KEY}):
        with pytest.raises(UsageError, match="not empty"):
            OutputDirectory(final, **options).__enter__()


def test_an_output_of_the_same_run_that_is_not_whole_is_not_taken_for_finished(tmp_path, monkeypatch):
    final = tmp_path / "out"
    finish(final, monkeypatch)
    (final / "half").unlink()
    with pytest.raises(UsageError, match="not empty"):
        OutputDirectory(final, key=KEY, resume=True).__enter__()
    with OutputDirectory(final, key=KEY, resume=True, overwrite=True) as out:
        assert not out.is_finished and out.checkpoints.held
        (out.path / "half").write_text("again")
    assert (final / "half").read_text() == "again" and listing(tmp_path) == ["out"]


def test_the_lock_tells_whether_a_process_lives_not_its_number(tmp_path):
    """Another process, in a container or after a restart, may have the number of the one that died."""
    dead = tmp_path / f".out.sosie-{os.getppid()}-{KEY[:16]}-abc"
    (dead / "output").mkdir(parents=True)
    Checkpoints(dead / "checkpoints", KEY, forced=True).save("read", {"sizes": np.arange(3)})
    with OutputDirectory(tmp_path / "out", key=KEY, resume=True) as out:
        assert out.checkpoints.held and not dead.exists()
    assert listing(tmp_path) == ["out"]


@pytest.mark.parametrize("moment", ["locked", "removed"])
def test_a_new_folder_that_another_run_takes_for_a_leftover_is_made_again(tmp_path, monkeypatch, moment):
    real, taken = working.lock_path, []

    def locked(directory):
        if not taken:
            if moment == "locked":
                taken.append(real(directory))
            else:
                taken.append(os.rmdir(directory))
        return real(directory)

    monkeypatch.setattr(working, "lock_path", locked)
    with OutputDirectory(tmp_path / "out") as out:
        assert out.path.is_dir() and len(left_behind(tmp_path / "out")) == 1 + (moment == "locked")
    if moment == "locked":
        os.close(taken[0])
    assert (tmp_path / "out").is_dir()


def test_without_locks_nothing_of_others_is_touched(tmp_path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    (tmp_path / ".out.sosie-999999999-abc").mkdir()
    monkeypatch.setattr("fcntl.flock", unsupported)
    fill(tmp_path / "out")
    assert listing(tmp_path) == [".out.sosie-999999999-abc", "out"]
