"""How kernels are compiled: one decorator, so that it is the same everywhere.

`nogil` lets threads run kernels side by side; the machine code is kept between processes (`kept`). No kernel takes a
function as an argument: Numba cannot cache those.

Compiling takes seconds and happens once on a machine. Whoever waits for it is told, once, by the logger `sosie`, which
writes to standard error where nobody set it up otherwise; not where SOSIE_COMPILE_NOTICE is 0.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba.core import event

from sosie.kernels.machine.callee import Kernel
from sosie.kernels.machine.kept import KeptKernel, config, keep

F = TypeVar("F", bound=Callable[..., Any])

NOTICE = "Compiling kernels for this machine, once; `sosie warm` compiles all of them beforehand."
VARIABLE = "SOSIE_COMPILE_NOTICE"
KERNELS: dict[str, Any] = {}  # every kernel that was imported, by its name below `sosie.kernels`
_PACKAGE = "sosie.kernels."
_log = logging.getLogger("sosie")
_changed = threading.Lock()  # held while Numba's own setting is another one


def kernel(function: F) -> F:
    """Compile a function over arrays; it releases the GIL and is kept on disk.

    The wrapper by which C code could call it is left out: nothing does, and it takes a twentieth of the time. What
    other kernels call has no machine code either (`callee`).
    """
    compiled: Any = function if config.DISABLE_JIT else Kernel(function)
    with _changed:
        keep(compiled)
    KERNELS[kernel_name(function)] = compiled
    return cast(F, compiled)


def kernel_name(function: Callable[..., Any]) -> str:
    """Return the name of a kernel below `sosie.kernels`, as in text.shingle.shingle_rows."""
    return f"{function.__module__.removeprefix(_PACKAGE)}.{function.__qualname__}"


def is_kept(name: str) -> bool:
    """Whether a kernel was compiled and kept, by this process or an earlier one."""
    compiled = KERNELS[name]
    kept = compiled._cache  # Numba's own, which keeps nothing, where there is no place for it
    return bool(compiled.signatures) or (isinstance(kept, KeptKernel) and kept.is_there())


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
