"""Runs that are killed, or refused by the file system, each in a child forked from a process that has no threads.

The process that runs the tests has threads of other tests, and whatever lock one of them holds at a fork is held in the
child for ever. So a process is started that has run the job once, so that kernels are loaded, and forks on demand.
"""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import sosie
from sosie import Deduplicator, Output, Source, StorageError, UsageError
from sosie.planner import memory

HINT = "Run again with --resume to go on."
JOB = Deduplicator(threshold=Fraction(7, 10))
CREATES = {"open", "os.mkdir"}
CHANGES = CREATES | {"os.rename", "os.remove", "os.rmdir"}
LONGEST = 300  # seconds: a run that takes more hangs


def source(corpus: Path | str) -> Source:
    return Source(corpus, on_error="skip")


def run(corpus: Path | str, out: Path | str, job: Deduplicator = JOB) -> sosie.Deduplication:
    return job.run(source(corpus), output=Output(out, resume=True), threads=2)


def contents(out: Path) -> dict[str, bytes]:
    """All files of an output, without the measured times and memory, and what they make of the list of files."""
    files = {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}
    report = json.loads(files["report.json"])
    files["report.json"] = json.dumps({**report, "stages": None, "seconds": None}).encode()
    files["report.html"] = re.sub(rb'<section id="cost">.*?</section>', b"", files["report.html"], flags=re.S)
    sizes = {**json.loads(files[".sosie"])["files"], "report.json": None, "report.html": None}
    assert sizes.keys() == files.keys() - {".sosie"}
    files[".sosie"] = json.dumps(sizes).encode()
    return files


def working_folders(out: Path) -> list[Path]:
    return list(out.parent.glob(f".{out.name}.sosie-*"))


def run_whole(corpus: str, out: str) -> None:
    run(corpus, out)


def killed_at(number: int, corpus: str, out: str, spilled: bool) -> None:
    if spilled:
        memory.SPILL = 0
    at_event(number, CHANGES, die)
    run(corpus, out)


def killed_after(seconds: float, corpus: str, out: str) -> None:
    threading.Timer(seconds, die).start()
    run(corpus, out)


def full_from(number: int, code: int, corpus: str, out: str) -> int:
    """Run while nothing can be created from the n-th time on; return 3 for the right error."""

    at_event(number, CREATES, lambda: refuse(code))
    return failed_well(corpus, out, os.strerror(code))


def limited_to(limit: int, corpus: str, out: str) -> int:
    """Run while no file can grow beyond a limit, which every kind of writer meets, those in C++ as well."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    return failed_well(corpus, out, "File too large")


def failed_well(corpus: str, out: str, reason: str) -> int:
    final = Path(out)
    try:
        run(corpus, out)
    except (StorageError, UsageError) as error:
        assert reason in str(error) and str(final.parent) in str(error), error
        assert bool(working_folders(final)) == str(error).endswith(HINT), error
        assert not final.exists()
        return 3
    return 0


def at_event(number: int, events: set[str], action: Callable[[], None], once: bool = False, read: str = "?") -> None:
    """Call an action when this process changes the file system for the n-th time, and each time after, unless `once`.

    Files below the folder `read` count when they are opened to be read, too.
    """
    count = itertools.count(1)

    def happens() -> None:
        at = next(count)
        if at == number or (at > number and not once):
            action()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in events:
            return
        if event != "open" or (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR) or str(arguments[0]).startswith(read):
            happens()

    sys.addaudithook(hook)
    for name in ("fsync", "pwrite"):
        real = getattr(os, name)
        setattr(os, name, lambda *arguments, real=real: (happens(), real(*arguments))[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(code: int) -> None:
    raise OSError(code, os.strerror(code))


class Forks:
    """The process that forks; it does the first action itself, so that kernels are loaded."""

    def __init__(self, first: Callable[..., object], *arguments: object) -> None:
        command = [sys.executable, "-c", "from tests.jobs.killed import _serve; _serve()"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        self._ask("here", first, *arguments)

    def __call__(self, action: Callable[..., object], *arguments: object) -> int:
        """Run an action in a forked child and return how it ended: what it returned, or minus a signal."""
        return self._ask("forked", action, *arguments)

    def _ask(self, where: str, action: Callable[..., object], *arguments: object) -> int:
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        values = [str(value) if isinstance(value, Path) else value for value in arguments]
        asked.write(json.dumps([where, action.__module__, action.__name__, values]) + "\n")
        asked.flush()
        return _answer(answers)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def _answer(answers: IO[str]) -> int:
    if not select.select([answers], [], [], 2 * LONGEST)[0]:
        raise AssertionError("the forked run hangs, and its traceback was not written")
    line = answers.readline()
    assert line, "the process that forks has ended"
    return int(line)


def run_once(corpus: str) -> None:
    """Load the kernels into the process that forks."""
    JOB.run(source(corpus), threads=2)


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a run prints is no answer
    for line in sys.stdin:
        where, module, name, arguments = json.loads(line)
        action = getattr(importlib.import_module(module), name)
        ended = action(*arguments) or 0 if where == "here" else _forked(action, *arguments)
        print(ended, file=answers, flush=True)


def _forked(action: Callable[..., int | None], *arguments: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the pools of this process are idle
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    try:
        os._exit(action(*arguments) or 0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
