"""The right to put another directory in the place of one: one process at a time has it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sosie.errors import StorageError

WAIT = 10.0  # seconds for which whoever is done in a moment is waited for
_PAUSE = 0.02


@dataclass(frozen=True)
class Claim:
    """A directory that no other process replaces meanwhile; where there are no locks, it is told when one did."""

    path: Path
    _descriptor: int

    def check(self) -> None:
        """Raise if the path leads elsewhere by now."""
        if not self._is_there():
            raise StorageError(f"{self.path}: was replaced or removed meanwhile, so nothing was written. Run again.")

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


@contextmanager
def claimed(path: Path, what: str = "directory") -> Iterator[Claim]:
    """Claim the directory at a path until the block ends; one that another has for longer than `WAIT` raises.

    >>> import tempfile
    >>> with claimed(Path(tempfile.mkdtemp())) as claim:
    ...     claim.check()
    """
    end = time.monotonic() + WAIT
    while True:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            claim = Claim(path, descriptor)
            if not _is_locked_elsewhere(descriptor) and claim._is_there():
                yield claim
                return
        finally:
            os.close(descriptor)
        if time.monotonic() >= end:
            raise StorageError(f"{path}: another process is changing this {what}. Try again when it is done.")
        time.sleep(_PAUSE)


def _is_locked_elsewhere(descriptor: int) -> bool:
    """Lock a directory, or say that another process has; where the file system knows no locks, nobody has."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
