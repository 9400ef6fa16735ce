"""A run that is killed, or runs out of disk, goes on from its checkpoints, and the output is the same to the byte."""

from __future__ import annotations

import errno
import gzip
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.jobs.killed import (
    HINT,
    JOB,
    Forks,
    contents,
    failed_well,
    full_from,
    killed_after,
    killed_at,
    limited_to,
    run,
    run_once,
    run_whole,
    source,
    working_folders,
)

import sosie
from sosie import Deduplicator, Minhash, Output, Shingles, Source, StorageError, UsageError
from sosie.cli import sosie as cli
from sosie.evaluation.planted import PlantedCorpus

DOCUMENTS = 1200
STEP = int(os.environ.get("SOSIE_TEST_STEP", "5"))  # 1 takes every moment, and minutes


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where there is one: hundreds of runs are flushed to it."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Several files of several formats with duplicates across them, ids with gaps, blank lines and rejects."""
    folder = tmp_path_factory.mktemp("corpus")
    texts = PlantedCorpus(documents=DOCUMENTS, copies=0.5, seed=3).texts(np.arange(DOCUMENTS)).to_pylist()
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    parts = [rows[i::4] for i in range(4)]
    lines = [json.dumps(row) for row in parts[0]]
    for place, bad in ((0, ""), (5, "{"), (9, '{"id": "d0", "text": "again"}'), (40, '{"text": "no id"}'), (41, "")):
        lines.insert(place, bad)
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, parts[1])).encode()))
    pq.write_table(pa.Table.from_pylist(parts[2]), folder / "c.parquet")
    quoted = [f'{row["id"]},"{row["text"]}"' for row in parts[3][:-8]]
    (folder / "d.csv").write_text("\n".join(["id,text", *quoted, "short"]) + "\n", "utf-8")
    (folder / "e").mkdir()
    for row in parts[3][-8:]:
        (folder / "e" / f"{row['id']}.txt").write_text(row["text"], "utf-8")
    return folder


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory) -> dict[str, bytes]:
    """What a run writes that nothing interrupts; kernels are compiled when this is done."""
    out = tmp_path_factory.mktemp("expected") / "out"
    report = JOB.run(source(corpus), output=out, threads=2).report
    assert report["counts"]["rejected"] == 4 and report["counts"]["dropped"] > 100
    files = contents(out)
    assert {"kept/a.jsonl", "dropped/b.jsonl.gz", "kept/c.parquet", "dropped/d.csv", "dropped.tsv"} <= files.keys()
    return files


@pytest.fixture(scope="module")
def forked(corpus, expected):
    """Run an action in a child process and return how it ended: what it returned, or minus a signal."""
    forks = Forks(run_once, corpus)
    yield forks
    forks.stop()


def test_killed_at_any_change_of_the_file_system(corpus, expected, forked, tmp_path):
    """Changes from the first to the last; then resumed, and sometimes killed again on the way."""
    for number in itertools.count(1, STEP):
        out = tmp_path / str(number) / "out"
        ended = forked(killed_at, number, corpus, out, number % 2 == 0)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        if number % 5 == 0 and not out.exists():
            forked(killed_at, number // 2, corpus, out, False)
        run(corpus, out)  # killed when the output was there already, it has succeeded
        assert not working_folders(out)
        assert contents(out) == expected, number
        shutil.rmtree(out.parent)
    assert number > 100


def test_killed_50_times_at_random(corpus, expected, forked, tmp_path):
    start = time.perf_counter()
    assert forked(run_whole, corpus, tmp_path / "whole") == 0
    seconds = time.perf_counter() - start
    rng, rounds, killed = random.Random(1), 0, 0
    while killed < 50:
        out = tmp_path / str(rounds) / "out"
        rounds += 1
        while not out.exists() and killed < 50:
            killed += forked(killed_after, rng.uniform(0, seconds), corpus, out) != 0
        if not out.exists():
            run(corpus, out)
        assert contents(out) == expected
        shutil.rmtree(out.parent)
    assert rounds > 1


@pytest.mark.parametrize(("code", "step"), [(errno.ENOSPC, 2 * STEP), (errno.EROFS, 5 * STEP)])
def test_a_disk_that_is_full_or_read_only_from_any_moment_on(corpus, expected, forked, tmp_path, code, step):
    kept = 0
    for number in itertools.count(1, step):
        out = tmp_path / str(number) / "out"
        out.parent.mkdir()
        ended = forked(full_from, number, code, corpus, out)
        if ended == 0:
            break
        assert ended == 3, number
        kept += bool(working_folders(out))
        run(corpus, out)
        assert contents(out) == expected, number
        shutil.rmtree(out.parent)
    assert kept > 3


@pytest.mark.parametrize("limit", [0, 5_000, 20_000, 60_000, 100_000])
@pytest.mark.parametrize("started", [False, True])
def test_files_that_may_not_grow(corpus, expected, forked, tmp_path, started, limit):
    if started:  # the features are saved: it is the output that does not fit
        stop_at("FinishedFiles", JOB, source(corpus), tmp_path / "out")
    assert forked(limited_to, limit, corpus, tmp_path / "out") == 3
    assert bool(working_folders(tmp_path / "out")) == started
    run(corpus, tmp_path / "out")
    assert contents(tmp_path / "out") == expected and not working_folders(tmp_path / "out")


@pytest.fixture
def disk(tmp_path):
    """A file system in memory whose size can be set, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(*options: str) -> bool:
        return (
            subprocess.run(["mount", "-t", "tmpfs", "-o", *options, "none", folder], capture_output=True).returncode
            == 0
        )

    if os.geteuid() != 0 or shutil.which("mount") is None or not mount("size=64k"):
        pytest.skip("mounting a file system needs root")
    yield folder, lambda options: mount(f"remount,{options}")
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_small_disk_that_grows(corpus, expected, forked, disk):
    """The same run is resumed on a disk that is larger each time, until it fits."""
    folder, remount = disk
    ended, size, failures = 3, 64, 0
    while ended == 3:
        assert remount(f"size={size}k")
        ended = forked(failed_well, corpus, folder / "out", "No space left")
        size, failures = size + 128, failures + (ended == 3)
    assert ended == 0 and failures > 5
    assert contents(folder / "out") == expected and not working_folders(folder / "out")


def test_a_disk_that_becomes_read_only(corpus, expected, forked, disk):
    folder, remount = disk
    assert remount("size=100m,ro")
    assert forked(failed_well, corpus, folder / "out", "Read-only file system") == 3
    assert remount("size=100m,rw")
    forked(killed_at, 90, corpus, folder / "out", False)
    assert working_folders(folder / "out")
    assert remount("size=100m,ro")
    assert forked(failed_well, corpus, folder / "out", "Read-only file system") == 3
    assert remount("size=100m,rw")
    assert forked(run_whole, corpus, folder / "out") == 0
    assert contents(folder / "out") == expected


@pytest.fixture
def interrupted(corpus, expected, tmp_path) -> Path:
    """An output whose run was interrupted when everything but the page was written."""
    out = tmp_path / "interrupted" / "out"
    stop_at("write_page", JOB, source(corpus), out)
    return out


def stop_at(step: str, job: Deduplicator, documents: Source, out: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt) as raised:
        patch.setattr(f"sosie.jobs.stages.{step}", raises(KeyboardInterrupt()))
        job.run(documents, output=Output(out, resume=True), threads=2)
    assert working_folders(out) and raised.value.__notes__ == [HINT]


def raises(error: BaseException):
    def action(*arguments, **options):
        raise error

    return action


def test_what_was_done_is_not_done_again(corpus, expected, interrupted, monkeypatch):
    for step in ("collect", "match"):
        monkeypatch.setattr(f"sosie.jobs.stages.{step}", raises(AssertionError(step)))
    for step in ("jsonl.format.split_lines", "csv.format.split_records", "parquet.format.split_parquet"):
        monkeypatch.setattr(f"sosie.documents.{step}", raises(AssertionError(step)))
    result = run(corpus, interrupted)
    assert contents(interrupted) == expected and not working_folders(interrupted)
    assert [stage["stage"] for stage in result.report["stages"]] == ["read", "collapse", "cluster", "check", "write"]
    monkeypatch.undo()
    assert result.kept.to_pylist() == JOB.run(source(corpus), threads=1).kept.to_pylist()


def test_damage_is_noticed_and_the_work_done_again(corpus, expected, interrupted, tmp_path, caplog):
    (work,) = working_folders(interrupted)
    files = [file.relative_to(work) for file in sorted((work / "checkpoints").rglob("*")) if file.is_file()]
    assert len(files) > 20
    for number, name in enumerate(files):
        copy = tmp_path / str(number)
        shutil.copytree(interrupted.parent, copy)
        file = copy / work.name / name
        content = bytearray(file.read_bytes())
        if not content:
            content = bytearray(b"\0")
        else:
            content[len(content) // 2] ^= 1 << number % 8
        if number % 4 == 3:
            del content[-1]
        file.write_bytes(content)
        caplog.clear()
        run(corpus, copy / "out")
        assert contents(copy / "out") == expected, name
        assert "cannot be used" in caplog.text or file.name == "written.log", name


def test_finished_files_that_are_gone_or_cut_short_are_written_again(corpus, expected, interrupted):
    (work,) = working_folders(interrupted)
    (work / "output" / "kept" / "a.jsonl").unlink()
    os.truncate(work / "output" / "dropped" / "c.parquet", 100)
    (work / "output" / "stray").write_text("x")
    run(corpus, interrupted)
    assert contents(interrupted) == expected


@pytest.mark.parametrize("change", ["content", "time", "order", "file"])
def test_changed_inputs_start_anew(corpus, interrupted, tmp_path, caplog, change):
    copy = tmp_path / "copy"
    shutil.copytree(corpus, copy)
    inputs = [str(copy / name) for name in ("a.jsonl", "b.jsonl.gz")]
    job, out = Deduplicator(), tmp_path / "out"
    stop_at("write_page", job, Source(inputs, on_error="skip"), out)
    if change == "content":
        with open(inputs[0], "a", encoding="utf-8") as file:
            file.write('{"id": "new", "text": "a new document"}\n')
    elif change == "time":
        os.utime(inputs[0], ns=(1, 1))
    elif change == "order":
        inputs.reverse()
    else:
        inputs.pop()
    job.run(Source(inputs, on_error="skip"), output=Output(out, resume=True), threads=2)
    assert "The inputs or options changed: the run starts from the beginning." in caplog.text
    job.run(Source(inputs, on_error="skip"), output=tmp_path / "anew", threads=2)
    assert contents(out) == contents(tmp_path / "anew") and not working_folders(out)


OTHERS = {
    "threshold": Deduplicator(threshold=Fraction(1, 2)),
    "method": Deduplicator(threshold=JOB.threshold, method="minhash"),
    "spec": Deduplicator(threshold=JOB.threshold, method=Minhash(minima=64, rows=2)),
    "shingles": Deduplicator(threshold=JOB.threshold, shingles=Shingles(2)),
    "keep": Deduplicator(threshold=JOB.threshold, keep="longest"),
    "clusters": Deduplicator(threshold=JOB.threshold, clusters="transitive"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_other_options_start_anew(corpus, interrupted, tmp_path, caplog, other):
    run(corpus, interrupted, OTHERS[other])
    assert "options changed" in caplog.text
    run(corpus, tmp_path / "anew", OTHERS[other])
    assert contents(interrupted) == contents(tmp_path / "anew")


def test_another_version_starts_anew(corpus, expected, interrupted, monkeypatch, caplog):
    monkeypatch.setattr("sosie.jobs.work.__version__", "0.0.0")
    run(corpus, interrupted)
    assert "options changed" in caplog.text and contents(interrupted) == expected


def test_another_choice_of_method_uses_what_was_read_and_nothing_else(corpus, interrupted, tmp_path, monkeypatch):
    """The method that "auto" stands for depends on the machine's memory, which may be another one now."""
    monkeypatch.setattr("sosie.planner.methods.exact.physical_memory", lambda: 1000)
    run(corpus, tmp_path / "anew")
    monkeypatch.setattr("sosie.jobs.stages.collect", raises(AssertionError()))
    assert run(corpus, interrupted).report["parameters"]["method"]["method"] == "minhash"
    assert contents(interrupted) == contents(tmp_path / "anew")


def test_without_resume_a_run_starts_anew_and_removes_the_leftovers(corpus, expected, interrupted, monkeypatch, caplog):
    monkeypatch.setattr("sosie.jobs.stages.load_collection", lambda checkpoints, reading, **_: checkpoints.load("read"))
    JOB.run(source(corpus), output=interrupted, threads=2)
    assert contents(interrupted) == expected and not working_folders(interrupted) and not caplog.text


def test_nothing_to_resume_is_said(corpus, expected, tmp_path, caplog):
    run(corpus, tmp_path / "out")
    assert "There is nothing to resume: the run starts from the beginning." in caplog.text
    assert contents(tmp_path / "out") == expected


def test_a_short_run_writes_no_checkpoint_and_a_long_one_does(corpus, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("sosie.jobs.stages.write_page", raises(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(StorageError, match=r"No space left[^!]*permissions\.$"):
        JOB.run(source(corpus), output=tmp_path / "out")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("sosie.storage.checkpoint.WORTH", 0)
    with pytest.raises(StorageError, match=re.escape(HINT)):
        JOB.run(source(corpus), output=tmp_path / "out")
    monkeypatch.undo()
    monkeypatch.setattr("sosie.jobs.stages.collect", raises(AssertionError()))
    run(corpus, tmp_path / "out")
    assert contents(tmp_path / "out").keys() == expected.keys()


def test_a_checkpoint_that_nobody_asked_for_may_fail(corpus, expected, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("sosie.storage.checkpoint.WORTH", 0)
    monkeypatch.setattr("sosie.storage.checkpoint.write_artefact", raises(StorageError("there is no space left")))
    JOB.run(source(corpus), output=tmp_path / "out", threads=2)
    assert contents(tmp_path / "out") == expected and "No checkpoint: there is no space left" in caplog.text


def test_an_error_that_no_other_try_cures_leaves_nothing(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("sosie.jobs.stages.write_page", raises(AssertionError("a bug")))
    with pytest.raises(AssertionError, match=r"^a bug$"):
        run(corpus, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_killed_when_it_was_done_has_succeeded(corpus, expected, tmp_path, caplog, monkeypatch):
    out = tmp_path / "out"
    JOB.run(source(corpus), output=out, threads=2)
    before = {file: file.stat() for file in out.rglob("*")}
    for step in ("write_page", "FinishedFiles"):
        monkeypatch.setattr(f"sosie.jobs.stages.{step}", raises(AssertionError(step)))
    for overwrite in (False, True):
        caplog.clear()
        result = JOB.run(source(corpus), output=Output(out, overwrite, resume=True), threads=2)
        assert "an earlier try of this run has finished it" in caplog.text and "beginning" not in caplog.text
        assert result.report["counts"] == json.loads(expected["report.json"])["counts"]
        assert result.report["measured"] == json.loads(expected["report.json"])["measured"]
    assert {file: file.stat() for file in out.rglob("*")} == before and not working_folders(out)


def test_an_output_in_the_way_does_not_cost_the_checkpoints(corpus, expected, interrupted, tmp_path):
    OTHERS["keep"].run(source(corpus), output=tmp_path / "other", threads=2)
    shutil.copytree(tmp_path / "other", interrupted)
    with pytest.raises(UsageError, match=rf"not empty.*--overwrite\. {HINT}"):
        run(corpus, interrupted)
    assert working_folders(interrupted)
    result = JOB.run(source(corpus), output=Output(interrupted, overwrite=True, resume=True), threads=2)
    assert "match" not in [stage["stage"] for stage in result.report["stages"]]
    assert contents(interrupted) == expected and not working_folders(interrupted)


def test_data_that_cannot_be_compared_with_earlier_data_is_refused(tmp_path):
    table = pa.table({"text": ["a rose"]})
    with pytest.raises(UsageError, match=r"Arrow data in memory.*Write it to files"):
        sosie.dedup(table, output=Output(tmp_path / "out", resume=True))
    assert not list(tmp_path.iterdir())
    assert sosie.dedup(table, output=Output(tmp_path / "out")).mask.tolist() == [True]


def test_the_command_line(corpus, expected, tmp_path, monkeypatch):
    options = ["--threshold", "0.7", "--on-error", "skip", "--threads", "2", "--resume", "--quiet"]
    command = ["dedup", str(corpus), "-o", str(tmp_path / "out"), *options]
    monkeypatch.setattr("sosie.jobs.stages.write_page", raises(KeyboardInterrupt()))
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 130 and done.stderr == f"Interrupted; nothing was written. {HINT}\n"
    monkeypatch.undo()
    monkeypatch.setattr("sosie.jobs.stages.collect", raises(AssertionError()))
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0 and done.output == ""
    assert contents(tmp_path / "out") == expected


@pytest.mark.parametrize("quiet", [True, False])
def test_the_command_line_says_that_there_was_nothing_to_resume(corpus, tmp_path, caplog, quiet):
    command = ["dedup", str(corpus), "-o", str(tmp_path / "out"), "--on-error", "skip", "--resume"]
    assert CliRunner().invoke(cli, [*command, "--quiet"] if quiet else command).exit_code == 0
    assert ("nothing to resume" in caplog.text) is not quiet


@pytest.mark.parametrize(("wrong", "message"), [(["-"], "standard input"), (["docs", "--dry-run"], "dry run")])
def test_the_command_line_refuses_what_cannot_be_resumed(tmp_path, wrong, message):
    done = CliRunner().invoke(cli, ["dedup", *wrong, "-o", str(tmp_path / "x"), "--resume"], input='{"text": "a"}\n')
    assert isinstance(done.exception, UsageError) and message in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_inputs_are_untouched(corpus, tmp_path, interrupted):
    before = {file: (file.stat(), file.read_bytes()) for file in corpus.rglob("*") if file.is_file()}
    run(corpus, interrupted)
    for file, (status, content) in before.items():
        assert file.read_bytes() == content and file.stat().st_mtime_ns == status.st_mtime_ns
    assert before.keys() == {file for file in corpus.rglob("*") if file.is_file()}
