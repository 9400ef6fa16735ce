"""Kernels compiled side by side: in this process and in others, which leave them in the cache that all share.

Numba compiles one kernel at a time in a process. The others are plain runs of the interpreter that are told by lines of
JSON what to compile: nothing of the program that imports Sosie is run again, and they need no data. Numba writes the
files of its cache whole or not at all.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from sosie.kernels.machine.compile import KERNELS, compiling
from sosie.kernels.machine.kept import cache_directory
from sosie.kernels.machine.signature import typed

ENOUGH = 4  # functions, about a second's worth, which is what a process takes to start: for less there is none
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from sosie.kernels.machine.side_by_side import _work; _work()"
)
_log = logging.getLogger("sosie")


class Wanted(NamedTuple):
    """A kernel to compile, by its name below `sosie.kernels`; its signatures; and of how many functions it is made."""

    kernel: str
    signatures: list[list[Any]]
    functions: int


def compile_side_by_side(wanted: Iterable[Wanted], processes: int, done: Callable[[int], None]) -> None:
    """Compile kernels in so many processes, this one included; `done` is told how many more are compiled."""
    files = _by_file(wanted)
    waiting, lock = deque(files), threading.Lock()

    def count(_: Wanted) -> None:
        with lock:
            done(1)

    beside, folder = [sum(each.functions for each in file) for file in files[1:]], cache_directory()
    others = []
    if sum(beside) >= ENOUGH and folder is not None:  # without a folder they could leave nothing
        others = [_Process(waiting, count, folder) for _ in range(min(processes - 1, len(beside)))]
    try:
        while waiting:
            for each in waiting.popleft():
                _compile(each.kernel, each.signatures)
                count(each)
        for other in others:
            for left in other.finish():
                _compile(left.kernel, left.signatures)
                count(left)
    finally:
        for other in others:
            other.stop()


def _by_file(wanted: Iterable[Wanted]) -> list[list[Wanted]]:
    """Return kernels by file, the largest first, as those of a file share what they call; in a file the small first."""
    files: dict[str, list[Wanted]] = {}
    for each in sorted(wanted, key=lambda each: each.functions):
        files.setdefault(each.kernel.rpartition(".")[0], []).append(each)
    return sorted(files.values(), key=lambda file: -sum(each.functions for each in file))


def _compile(name: str, signatures: list[list[Any]]) -> None:
    compiled = imported(name)
    for signature in signatures:
        compiled.compile(tuple(map(typed, signature)))


def imported(name: str) -> Any:
    """Return a kernel by its name below `sosie.kernels`."""
    import_module(f"sosie.kernels.{name.rpartition('.')[0]}")
    return KERNELS[name]


class _Process:
    """Another process that compiles, and the thread that hands files of kernels to it until none is waiting."""

    def __init__(self, waiting: deque[list[Wanted]], count: Callable[[Wanted], None], folder: Path) -> None:
        self._waiting, self._count = waiting, count
        self._left: list[Wanted] = []
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"NUMBA_CACHE_DIR": str(folder.parent)},
            text=True,
        )
        self._thread = threading.Thread(target=self._hand_out, daemon=True, name="sosie-compile")
        self._thread.start()

    def finish(self) -> list[Wanted]:
        """Wait until it has done its part; return what it did not, if it ended before its time."""
        self._thread.join()
        if self._left:
            _log.warning("A process that compiled kernels ended with code %s; this one goes on.", self._process.wait())
        return self._left

    def stop(self) -> None:
        """End it; the kernels that it has compiled are kept."""
        self._process.kill()
        self._process.communicate()
        self._thread.join()

    def _hand_out(self) -> None:
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        while True:
            try:
                self._left = list(self._waiting.popleft())
            except IndexError:
                return
            while self._left:
                try:
                    asked.write(json.dumps(self._left[0]) + "\n")
                    asked.flush()
                    if not answers.readline():
                        return
                except (OSError, ValueError):  # it has ended, or is being ended
                    return
                self._count(self._left.pop(0))


def _work() -> None:
    """Compile what standard input names, one kernel in each line, and answer with its name."""
    compiling.said = True  # by the process that asks
    for line in sys.stdin:
        name, signatures, _ = json.loads(line)
        _compile(name, signatures)
        print(name, flush=True)
