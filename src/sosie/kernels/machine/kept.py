"""Where compiled kernels are kept between processes, and when they are used.

Numba keeps them as pickled objects: to load one is to run what it says. So they lie in a folder that belongs to the
user and that nobody else can enter; another is not used. It is named by a digest of all kernels, and of the processor,
versions and checks of bounds that they are compiled for, because Numba does not notice a change in a callee of another
file: another state of any of these has another folder.

What is kept is checked before it is used. Where it is damaged, or cannot be read or written, kernels are compiled
again, and the logger `sosie` says so, once in a process.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import logging
import os
import pickle
import platform
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as llvm
from numba import config as _config
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from sosie.kernels.machine.callee import rebuilt, reduced

config: Any = _config
_HOST_DIRECTORY = config.CACHE_DIR  # as the process that imports Sosie has it
_AGAIN = (
    "%s: kernels are compiled again by every process."
    " Name another folder with the environment variable NUMBA_CACHE_DIR."
)
_log = logging.getLogger("sosie")
_said: set[str] = set()


@cache
def cache_directory() -> Path | None:
    """Return the folder of the compiled kernels, under NUMBA_CACHE_DIR or the user's cache folder.

    Where that cannot be written, or others could change what is in it, it is a folder that goes with the process, and
    the user is told. None if there is no place at all.
    """
    base, name = _base(), f"kernels-{_digest()}"
    try:
        return _private(base, name)
    except _NotPrivateError as error:
        why = f"{error}, and what is kept there would be run"
    except OSError as error:
        why = f"{base / name} cannot be written ({error.strerror or error})"
    folder = None
    try:
        passing = tempfile.mkdtemp(prefix="sosie-kernels-")
        atexit.register(shutil.rmtree, passing, ignore_errors=True)
        folder = _private(Path(passing), name)
    except OSError as error:
        why += f", nor can a temporary folder ({error.strerror or error})"
    except _NotPrivateError as error:  # a file system without modes
        why += f"; {error}"
    _log.warning(_AGAIN, why)
    return folder


class _NotPrivateError(Exception):
    """A folder in which somebody else could put something."""


def _base() -> Path:
    """Return the folder below which kernels are kept."""
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(_HOST_DIRECTORY or Path(user) / "sosie")


def _private(base: Path, name: str) -> Path:
    """Make a folder that belongs to the user alone, with those above it, or check the one that is there."""
    if base.parts[:1] == ("~",):
        raise OSError(errno.ENOENT, "this user has no home folder")
    above = Path(os.path.realpath(base))
    for missing in reversed([each for each in (above, *above.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder = above / name
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "geteuid"):  # elsewhere a folder has no mode
        _check_above(above)
        _check_private(folder)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def _check_above(above: Path) -> None:
    """Raise if others could put another folder in the place of one in this folder."""
    mode = above.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        raise _NotPrivateError(f"{above} is not used: others can write to it (mode {mode & 0o7777:04o})")


def _check_private(folder: Path) -> None:
    """Raise if others can enter a folder, or if anything in it is not the user's own."""
    mode = _owned(folder).st_mode
    if mode & 0o077:
        raise _NotPrivateError(f"{folder} is not used: others can enter it (mode {mode & 0o7777:04o}, not 0700)")
    for path in _below(folder):
        try:
            mode = _owned(path).st_mode
        except FileNotFoundError:  # another process writes, and has renamed it
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise _NotPrivateError(f"{folder} is not used: {path} is neither a file nor a folder")


def _owned(path: Path) -> os.stat_result:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise _NotPrivateError(f"{path} is not used: it is a link")
    if status.st_uid != os.geteuid():
        raise _NotPrivateError(f"{path} is not used: it belongs to another user (uid {status.st_uid})")
    return status


def _below(folder: Path) -> Iterator[Path]:
    """Yield all that is in a folder and the folders in it; links are not followed."""
    for entry in folder.iterdir():
        yield entry
        if entry.is_dir() and not entry.is_symlink():
            yield from _below(entry)


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


def keep(compiled: Any) -> None:
    """Let a kernel be loaded from the folder, and be kept there once it is compiled."""
    folder = cache_directory()
    if folder is None or config.DISABLE_JIT:
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # read while the cache is made, and put back for everyone else
    try:
        kept = KeptKernel(compiled.py_func), KeptCallee(compiled.py_func)
    except (OSError, RuntimeError):  # Numba found no place that it can write to
        kept = None
    finally:
        config.CACHE_DIR = before
    if kept is None or not Path(kept[0].cache_path).is_relative_to(folder):  # it looks for other places, public ones
        _say_once("saved", _AGAIN, f"{folder} cannot be written")
    else:
        compiled._cache, compiled.callee._cache = kept  # as `enable_caching` does, which has no choice of class


class _Checked(CompileResultCacheImpl):
    """Machine code with its checksum, and the kernel and the types that it is for."""

    asked: Any = None

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """Return what is kept."""
        data = dumps((self.asked, self._reduced(cres)))
        return hashlib.sha256(data).digest(), data

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the machine code, or raise if it is not what was kept."""
        checksum, data = payload
        if hashlib.sha256(data).digest() != checksum:
            raise ValueError("the checksum is wrong")
        asked, kept = pickle.loads(data)
        if asked != self.asked:  # two processes that wrote at the same time
            raise ValueError("it is compiled for something else")
        return self._rebuilt(target_context, kept)

    def _reduced(self, cres: Any) -> Any:
        return super().reduce(cres)

    def _rebuilt(self, target_context: Any, data: Any) -> Any:
        return super().rebuild(target_context, data)


class _CheckedCallee(_Checked):
    """What a kernel is for its callers, in files beside those of the kernel."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Return how the names of its files begin."""
        return f"{super().get_filename_base(fullname, abiflags)}.callee"

    def _reduced(self, cres: Any) -> Any:
        return reduced(cres)

    def _rebuilt(self, target_context: Any, data: Any) -> Any:
        return rebuilt(target_context, data)


class KeptKernel(FunctionCache):
    """Numba's cache of one kernel, in which nothing that happens to files is an error."""

    _impl_class: Any = _Checked

    def is_there(self) -> bool:
        """Whether the kernel was kept for any signature."""
        return os.path.exists(self._cache_file._index_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, None if it is not there or cannot be used."""
        self._impl.asked = (self._py_func.__module__, self._py_func.__qualname__, sig)
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # pickle raises anything
            files = os.path.join(self.cache_path, f"{self._impl.filename_base}.*")
            _say_once("loaded", "%s: a kept kernel cannot be used (%s); it is compiled again.", files, _cause(error))
        self._try(self.flush)  # what the index names is not trusted any more
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for a signature, if that is possible."""
        self._impl.asked = (self._py_func.__module__, self._py_func.__qualname__, sig)
        self._try(lambda: super(KeptKernel, self).save_overload(sig, data))

    def _try(self, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception as error:
            _say_once("saved", _AGAIN, f"{self.cache_path} cannot be written ({_cause(error)})")


class KeptCallee(KeptKernel):
    """The same of a kernel as its callers link it."""

    _impl_class = _CheckedCallee


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _say_once(what: str, message: str, *said: str) -> None:
    if what not in _said:
        _said.add(what)
        _log.warning(message, *said)
