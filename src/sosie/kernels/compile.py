"""How kernels are compiled: one decorator, so that the flags are the same everywhere.

`nogil` lets threads run kernels side by side, `cache` keeps the machine code between processes. No kernel takes a
function as an argument: Numba cannot cache those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function over arrays; it releases the GIL and is cached on disk."""
    return cast(F, njit(nogil=True, cache=True)(function))
