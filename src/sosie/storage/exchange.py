"""Two directories that change places in one step of the system, so that a path always leads to one of them."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD: relative paths begin at the working directory
_NUMBERS = {"x86_64": 316, "aarch64": 276}  # of the system call, where the C library has no function for it
# What kernels and file systems answer that do not know the exchange.
_UNKNOWN = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(first: Path, second: Path) -> bool:
    """Let two directories of a file system take each other's place; False where system or file system cannot do that.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> one, two = folder / "one", folder / "two"
    >>> one.mkdir(), two.mkdir(), (one / "a").touch()
    (None, None, None)
    >>> exchanged = exchange(one, two)
    >>> os.listdir(two if exchanged else one), os.listdir(one if exchanged else two)
    (['a'], [])
    """
    call = _renameat2()
    if call is None:
        return False
    code = call(os.fsencode(first), os.fsencode(second))
    if code == 0:
        return True
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), os.fspath(first), None, os.fspath(second))


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    """Return a function that exchanges two paths and returns 0 or the number of an error; None where there is none."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    paths = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    before: tuple[ctypes.c_long, ...] = ()
    try:
        call = library.renameat2
        call.argtypes = paths
    except AttributeError:
        if platform.machine() not in _NUMBERS or not hasattr(library, "syscall"):
            return None
        call, before = library.syscall, (ctypes.c_long(_NUMBERS[platform.machine()]),)
        call.argtypes = (ctypes.c_long, *paths)
    call.restype = ctypes.c_int

    def exchanged(first: bytes, second: bytes) -> int:
        return 0 if call(*before, _HERE, first, _HERE, second, _EXCHANGE) == 0 else ctypes.get_errno()

    return exchanged
