"""Working folders beside an output: locked while their process lives, taken over or removed when it has died."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What is in such a folder: what is being written, the same when it is whole and about to take its place, and where
# directories cannot be exchanged, what was in that place.
OUTPUT, NEW, REPLACED = "output", "new", "replaced"
_TAG = 16  # digits of a run's key that are part of the name


@dataclass
class WorkingFolder:
    """A hidden folder `.NAME.sosie-PID-...` beside the output NAME, which one process at a time holds the lock of.

    The lock, not the number of the process, tells whether it lives: other hosts and containers have the same numbers.
    """

    path: Path
    _lock: int | None

    @classmethod
    def create(cls, final: Path, key: str | None) -> WorkingFolder:
        """Make a new one for this process; a run with a key can be found by it."""
        while True:
            path = _unused(final, key)
            path.mkdir(0o700)
            try:
                return cls(path, lock_path(path))
            except (BlockingIOError, FileNotFoundError):
                continue  # in the moment before the lock, another run has taken it for a leftover

    def belongs_to(self, key: str) -> bool:
        """Whether a run with this key made it."""
        return f"-{key[:_TAG]}-" in self.path.name

    def take_over(self, final: Path, key: str) -> None:
        """Give the folder of a process that died the name of one of this process."""
        path = _unused(final, key)
        os.rename(self.path, path)
        self.path = path

    def release(self) -> None:
        """Let go of the folder as it is."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove the folder, as far as that is possible."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()


def abandoned(final: Path, holding: str = ".") -> Iterator[WorkingFolder]:
    """Yield the working folders that processes left behind when they died, locked by this one.

    With `holding`, only those that have a folder of this name inside.
    """
    for path in _beside(final):
        if not (path / holding).is_dir():
            continue
        try:
            lock = lock_path(path)
        except (BlockingIOError, FileNotFoundError):
            continue
        if lock is not None:
            yield WorkingFolder(path, lock)


def set_aside(final: Path) -> Iterator[Path]:
    """Yield what was at a path and is in a working folder, because it is being replaced by two renames.

    Of a writer that died between the two, it is the output; one that lives has it replaced in a moment.
    """
    for path in _beside(final):
        if (path / REPLACED).is_dir() and any((path / name).is_dir() for name in (NEW, OUTPUT)):
            yield path / REPLACED


def _beside(final: Path) -> Iterator[Path]:
    pattern = re.compile(re.escape(_prefix(final)) + r"\d+-(?:[0-9a-f]+-)?\w+")
    try:
        names = sorted(filter(pattern.fullmatch, os.listdir(final.parent)))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    yield from (final.parent / name for name in names)


def _prefix(final: Path) -> str:
    return f".{final.name}.sosie-"


def _unused(final: Path, key: str | None) -> Path:
    tag = "" if key is None else f"{key[:_TAG]}-"
    return final.parent / f"{_prefix(final)}{os.getpid()}-{tag}{secrets.token_hex(4)}"


def lock_path(path: Path) -> int | None:
    """Lock a directory or a file for this process and return its descriptor, None where the file system knows no locks.

    Raises if another process holds the lock, or has removed or renamed it meanwhile.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
        raise FileNotFoundError(path)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError | FileNotFoundError):
            raise
        return None
