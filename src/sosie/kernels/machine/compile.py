"""How kernels are compiled and where their machine code is kept: one decorator, so that it is the same everywhere.

`nogil` lets threads run kernels side by side, `cache` keeps the machine code between processes. No kernel takes a
function as an argument: Numba cannot cache those. Numba's cache does not notice a change in a callee of another file,
so the folder is named by a digest of all kernels, and of the processor, versions and checks of bounds that they are
compiled for: another state of any of these has another cache, and what is in a folder can be used.

Compiling takes seconds and happens once on a machine. Whoever waits for it is told, once, by the logger `sosie`, which
writes to standard error where nobody set it up otherwise; not where SOSIE_COMPILE_NOTICE is 0.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import logging
import os
import platform
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import binding as llvm
from numba import config as _config
from numba import njit
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

config: Any = _config
NOTICE = "Compiling kernels for this machine, once; `sosie warm` compiles all of them beforehand."
VARIABLE = "SOSIE_COMPILE_NOTICE"
KERNELS: dict[str, Any] = {}  # every kernel that was imported, by its name below `sosie.kernels`
_PACKAGE = "sosie.kernels."
_HOST_DIRECTORY = config.CACHE_DIR  # as the process that imports Sosie has it
_log = logging.getLogger("sosie")
_changed = threading.Lock()  # held while Numba's own setting is another one


def kernel(function: F) -> F:
    """Compile a function over arrays; it releases the GIL and is cached on disk.

    The wrapper by which C code could call it is left out: nothing does, and it takes a twentieth of the time.
    """
    with _changed:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(cache_directory())  # read by njit while it decorates, and put back for everyone else
        try:
            compiled = njit(nogil=True, cache=True, no_cfunc_wrapper=True)(function)
        finally:
            config.CACHE_DIR = before
    KERNELS[kernel_name(function)] = compiled
    return cast(F, compiled)


def kernel_name(function: Callable[..., Any]) -> str:
    """Return the name of a kernel below `sosie.kernels`, as in text.shingle.shingle_rows."""
    return f"{function.__module__.removeprefix(_PACKAGE)}.{function.__qualname__}"


@cache
def cache_directory() -> Path:
    """Return the folder of the compiled kernels, under NUMBA_CACHE_DIR or the user's cache folder.

    Where that cannot be written, it is a folder that goes with the process, and the user is told.
    """
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(_HOST_DIRECTORY or Path(user) / "sosie") / f"kernels-{_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        _log.warning(
            "%s cannot be written (%s): kernels are compiled again by every process. Name another folder with the "
            "environment variable NUMBA_CACHE_DIR.",
            folder,
            error.strerror,
        )
    passing = tempfile.mkdtemp(prefix="sosie-kernels-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return Path(passing) / folder.name


def _digest() -> str:
    """Return what tells one state of the kernels, and what they are compiled for, from another."""
    digest = hashlib.sha256()
    machine = (llvm.get_host_cpu_name(), sorted(llvm.get_host_cpu_features().items()), config.CPU_NAME)
    settings = config.CPU_FEATURES, config.BOUNDSCHECK  # Numba itself would take unchecked code for checked one
    digest.update(repr((numba.__version__, platform.python_version(), machine, *settings)).encode())
    kernels = Path(__file__).parent.parent
    for source in sorted(kernels.rglob("*.py")):
        digest.update(source.relative_to(kernels).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def is_kept(name: str) -> bool:
    """Whether a kernel was compiled and kept, by this process or an earlier one."""
    compiled = KERNELS[name]
    code = compiled.py_func.__code__
    pattern = f"*.{compiled.py_func.__qualname__}-{code.co_firstlineno}.*.nbi"
    return bool(compiled.signatures) or any(Path(compiled.stats.cache_path).glob(pattern))


class _Compiling(event.Listener):
    """Hears of every function that Numba compiles; Numba compiles one at a time, so this needs no lock.

    Says so, once, and holds back the garbage collector, which would look through what the compiler holds again and
    again: an eighth of the time.
    """

    def __init__(self) -> None:
        self.said = os.environ.get(VARIABLE) == "0"
        self._depth = 0
        self._collects = False

    def on_start(self, event: Any) -> None:
        """A kernel, or what one calls, is about to be compiled."""
        if self._depth or KERNELS.get(kernel_name(event.data["dispatcher"].py_func)) is event.data["dispatcher"]:
            self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()
            self.say()

    def on_end(self, event: Any) -> None:
        """It is compiled, or it failed."""
        self._depth -= self._depth > 0
        if not self._depth and self._collects:
            self._collects = False
            gc.enable()

    def say(self) -> None:
        """Tell whoever waits, once."""
        if not self.said:
            self.said = True
            _log.warning(NOTICE)


compiling = _Compiling()
event.register("numba:compile", compiling)
