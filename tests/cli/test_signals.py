"""SIGTERM and SIGHUP end a command as Ctrl-C does: everything is cleaned up, in the command line alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.cli.running import run

from sosie.cli.signals import Terminated, _Handler, terminated
from sosie.storage.output import HINT

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
ENDED = "Terminated; nothing was written."
# A stage of the job is what sends signals, so that they come when there is something to clean up; several at once.
KILLED = """
import signal, threading, sosie.jobs.stages as stages
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore them
signal.signal(signal.SIGINT, signal.default_int_handler)
def send(*_, **__):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signals})
    for number in {signals}:
        signal.pthread_kill(threading.main_thread().ident, number)  # other threads would take them one by one
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signals})
stages.{step} = send
from sosie.cli import main
main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("".join(json.dumps({"text": f"text number {i // 2}"}) + "\n" for i in range(20)))
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path


def killed(step: str, signals: list[int], *arguments: str) -> subprocess.CompletedProcess[str]:
    code = KILLED.format(step=step, signals=list(map(int, signals)))
    command = [sys.executable, "-c", code, "dedup", *arguments, "-o", "out", "--quiet"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
        ([signal.SIGTERM, signal.SIGHUP], 129),
        ([signal.SIGINT, signal.SIGTERM], 130),
    ],
)
def test_a_signal_leaves_nothing(folder, signals, code):
    done = killed("collect", signals, "in.jsonl")
    said = ENDED if code != 130 else ENDED.replace("Terminated", "Interrupted")
    assert (done.returncode, done.stderr, done.stdout) == (code, f"{said}\n", "")
    assert sorted(os.listdir()) == ["in.jsonl", "temporary"] and os.listdir("temporary") == []


def test_a_run_that_can_be_resumed_says_so_and_goes_on(folder):
    done = killed("write_page", [signal.SIGTERM], "in.jsonl", "--resume")
    assert done.returncode == 143 and done.stderr == f"{ENDED} {HINT}\n"
    code, _, said = run("dedup", "in.jsonl", "-o", "out", "--resume")
    assert code == 0 and not said and sorted(os.listdir()) == ["in.jsonl", "out", "temporary"]


@pytest.mark.parametrize("is_ignored", [False, True])
def test_the_copy_of_standard_input_is_removed_and_nohup_goes_on(folder, is_ignored):
    before = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    child = subprocess.Popen(
        [sys.executable, "-m", "sosie", "dedup", "-", "-o", "out", "--quiet"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, before),
    )
    end = time.monotonic() + 120
    while not os.listdir("temporary") and time.monotonic() < end:  # it waits for input from then on
        time.sleep(0.02)
    child.send_signal(signal.SIGHUP)
    _, said = child.communicate(None if not is_ignored else b'{"text": "a"}\n', timeout=300)
    assert (child.returncode, said.decode()) == ((0, "") if is_ignored else (129, f"{ENDED}\n"))
    assert os.listdir("temporary") == [] and os.path.exists("out") == is_ignored


def test_handlers_of_a_program_are_left_alone(folder):
    ours = signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)]
        with terminated():
            assert signal.getsignal(signal.SIGHUP) is before[1]
            assert signal.getsignal(signal.SIGTERM) is not before[0]
        assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)] == before
    finally:
        signal.signal(signal.SIGHUP, ours)


def test_another_thread_sets_no_handler(folder):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(run("inspect", "in.jsonl")[0]))
    thread.start()
    thread.join()
    assert codes == [0]


def test_a_signal_that_came_to_nothing_can_be_repeated(monkeypatch):
    handler = _Handler()
    with pytest.raises(Terminated):
        handler(signal.SIGTERM, None)
    handler(signal.SIGTERM, None)
    monkeypatch.setattr("sosie.cli.signals._PATIENCE", -1.0)
    with pytest.raises(Terminated):
        handler(signal.SIGTERM, None)


# A kernel without end stands for one that takes long: a stage calls it when it begins, and only the system can end
# it. Whoever waits for the file `begun` knows that it runs.
BUSY = """
import sosie.jobs.stages as stages
from pathlib import Path
from numba import njit
from sosie.cli import main

@njit("int64(int64)", nogil=True)
def endless(number):
    while number != 1:
        number = number * 3 + 1 if number % 2 else number // 2 + 4
    return number

def begin(*_, **__):
    Path("begun").touch()
    endless(7)
stages.{step} = begin
main()
"""


STEPS = ("collect", "collapse_rows", "by_sets", "verify_rows", "anchored", "expand", "write_page")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", STEPS)
def test_a_stage_that_no_signal_reaches_is_ended_and_leaves_nothing(folder, step, number):
    command = [sys.executable, "-c", BUSY.format(step=step), "dedup", "in.jsonl", "-o", "out", "--quiet"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=_with_interrupts)
    end = time.monotonic() + 120
    while not Path("begun").exists() and time.monotonic() < end:
        time.sleep(0.01)
    child.send_signal(number)
    said = child.communicate(timeout=60)[1]
    assert (child.returncode, said) == (128 + number, "Interrupted.\n" if number == signal.SIGINT else "Terminated.\n")
    Path("begun").unlink()
    assert sorted(os.listdir()) == ["in.jsonl", "temporary"] and os.listdir("temporary") == []


def _with_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets those in the background ignore it
