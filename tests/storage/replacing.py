"""An index that is replaced by another, and processes that do it: killed at any call to the system, or beside readers.

The two indexes have the same number of rows and texts of the same sizes, so that nothing but what binds the parts of an
index together tells them apart.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import sosie
from sosie.storage import exchange

TEXTS = {"a": ["amber birch cedar", "amber grove hazel"], "b": ["birch flint ivory", "birch kelp larch!"]}
CALLS = ("write", "pwrite", "fsync", "rename", "replace", "mkdir", "rmdir", "unlink", "close", "scandir")
ROOT = Path(__file__).parents[2]


def index_of(name: str) -> sosie.TextIndex:
    return sosie.TextIndex.of(TEXTS[name], ids=[f"{name}1", f"{name}2"], keep_texts=True, threads=1)


def held(path: Path | str) -> str:
    """Return which of the two a directory holds; raise if it is some of both, or anything else."""
    index = sosie.load_text_index(path)
    names = {each[0] for each in index.index.ids.to_pylist()}
    assert len(names) == 1, names
    (name,) = names
    assert [index.texts.text(row) for row in range(2)] == TEXTS[name], name
    assert index.search([TEXTS[name][0]], k=1, threads=1).ids.to_pylist() == [f"{name}1"]
    return name


def without_exchange() -> None:
    """Be a system that cannot exchange directories."""
    exchange.exchange = lambda first, second: False


def kill_at(number: int) -> None:
    """Kill this process when it is about to make the n-th call that could matter, or has just made an exchange."""
    left = [number]

    def counts() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            counts()
            return real(*arguments, **options)

        return call

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":  # whoever opens a file, in Python or in C
            counts()

    sys.addaudithook(hook)
    for name in CALLS:
        setattr(os, name, counting(getattr(os, name)))
    real = exchange.exchange

    def exchanging(first: Path, second: Path) -> bool:
        counts()
        done = real(first, second)
        counts()
        return done

    exchange.exchange = exchanging


def killed_saves(folder: Path, exchanges: bool, step: int) -> int:
    """Replace an index again and again, each time in a child that is killed one call later; return how many calls."""
    made = {name: index_of(name) for name in TEXTS}
    path, now, number = folder / "index", "a", 0
    made["a"].save(path)
    if not exchanges:
        without_exchange()
    while True:
        number += step
        new = "b" if now == "a" else "a"
        ended = _forked(number, partial(made[new].save, path, overwrite=True))
        assert ended in (0, -signal.SIGKILL), ended
        found = held(path)
        assert found in (now, new) if ended else found == new, (number, found)
        if number % 3 == 0:  # the next writer clears what was left
            made[found].save(path, overwrite=True)
            assert held(path) == found and os.listdir(folder) == ["index"], os.listdir(folder)
        if ended == 0:
            made["a"].save(path, overwrite=True)
            assert held(path) == "a" and os.listdir(folder) == ["index"], os.listdir(folder)
            return number
        now = found


def killed_additions(folder: Path, exchanges: bool, step: int) -> int:
    """Add to an index, in a child that is killed one call later each time; return how many calls there are."""
    from sosie.jobs.index import add_to_index

    path, number = folder / "index", 0
    if not exchanges:
        without_exchange()
    while True:
        number += step
        index_of("a").save(path, overwrite=True)
        ended = _forked(number, partial(add_to_index, path, sosie.Source.from_texts(["new one"], ids=["n"]), threads=1))
        assert ended in (0, -signal.SIGKILL), ended
        index = sosie.load_text_index(path)
        texts = [index.texts.text(row) for row in range(len(index))]
        assert texts in (TEXTS["a"], [*TEXTS["a"], "new one"]), (number, texts)
        assert index.index.ids.to_pylist() == ["a1", "a2", "n"][: len(texts)]
        if ended == 0:
            assert len(texts) == 3 and os.listdir(folder) == ["index"]
            return number


def replace_often(path: str, times: int, exchanges: bool) -> None:
    made = {name: index_of(name) for name in TEXTS}
    if not exchanges:
        without_exchange()
    print("ready", flush=True)
    for number in range(times):
        made["ba"[number % 2]].save(path, overwrite=True)


def start(call: str) -> subprocess.Popen[str]:
    """Run a call of this module in a process of its own."""
    command = [sys.executable, "-c", f"from pathlib import Path; from tests.storage.replacing import *; {call}"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _forked(number: int, action: Callable[[], object]) -> int:
    """Run an action in a child that is killed at the n-th call; return how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    kill_at(number)
    try:
        action()
        code = 0
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        code = 1
    os._exit(code)


SYSTEM_CALLS = (
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "openat", "write", "pwrite64", "fsync"),
    *("fdatasync", "mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat", "ftruncate", "flock", "close"),
)


def killed_by_system(folder: Path, exchanges: bool, step: int) -> int:
    """Replace an index in children that strace kills at each call to the system of each kind; return how many kills.

    Every `step`-th of the calls of a kind, and always the first; calls are counted from when the replacement begins.
    """
    made = {name: index_of(name) for name in TEXTS}
    path, now, kills = folder / "index", "a", 0
    made["a"].save(path)
    if not exchanges:
        without_exchange()
    for call in SYSTEM_CALLS:
        number = 1
        while True:
            new = "b" if now == "a" else "a"
            ended = _traced(f"{call}:signal=KILL:when={number}", partial(made[new].save, path, overwrite=True))
            assert ended in (0, -signal.SIGKILL), (call, number, ended)
            found = held(path)
            assert found in (now, new) if ended else found == new, (call, number, found)
            now = found
            if ended == 0:
                assert os.listdir(folder) == ["index"], (call, number, os.listdir(folder))
                break
            kills += 1
            number += step
    return kills


def _traced(injected: str, action: Callable[[], object]) -> int:
    """Run an action in a child in which strace injects something; return how it ended."""
    begin, go = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os.close(go)
        os.read(begin, 1)
        try:
            action()
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 1
        os._exit(code)
    os.close(begin)
    command = ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=" + injected.partition(":")[0]]
    with subprocess.Popen([*command, "-e", f"inject={injected}", "-p", str(child)]) as tracer:
        while b"TracerPid:\t0\n" in Path(f"/proc/{child}/status").read_bytes() and tracer.poll() is None:
            time.sleep(0.001)
        assert tracer.returncode is None, "strace cannot attach"
        os.write(go, b".")
        os.close(go)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
