"""How kernels are compiled and where their machine code is kept: one decorator, so that it is the same everywhere.

`nogil` lets threads run kernels side by side, `cache` keeps the machine code between processes. No kernel takes a
function as an argument: Numba cannot cache those. Numba's cache does not notice a change in a callee of another file,
so the folder is named by a digest of all kernels: another state of the kernels has another cache.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import config as _config
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

config: Any = _config
_HOST_DIRECTORY = config.CACHE_DIR  # as the process that imports Sosie has it
_changed = threading.Lock()  # held while Numba's own setting is another one


def kernel(function: F) -> F:
    """Compile a function over arrays; it releases the GIL and is cached on disk."""
    with _changed:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(cache_directory())  # read by njit while it decorates, and put back for everyone else
        try:
            return cast(F, njit(nogil=True, cache=True)(function))
        finally:
            config.CACHE_DIR = before


@cache
def cache_directory() -> Path:
    """Return the folder of the compiled kernels, under NUMBA_CACHE_DIR or the user's cache folder."""
    digest = hashlib.sha256()
    kernels = Path(__file__).parent.parent
    for source in sorted(kernels.rglob("*.py")):
        digest.update(source.relative_to(kernels).as_posix().encode())
        digest.update(source.read_bytes())
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(_HOST_DIRECTORY or Path(user) / "sosie") / f"kernels-{digest.hexdigest()[:16]}"


def compiled_before() -> bool:
    """Whether any kernel was compiled and kept by an earlier process."""
    return next(cache_directory().glob("*/*.nbi"), None) is not None
