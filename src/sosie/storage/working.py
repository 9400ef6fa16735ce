"""Working folders beside an output: locked while their process lives, taken over or removed when it has died."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TAG = 16  # digits of a run's key that are part of the name


@dataclass
class WorkingFolder:
    """A hidden folder `.NAME.sosie-PID-...` beside the output NAME, which one process at a time holds the lock of."""

    path: Path
    _lock: int

    @classmethod
    def create(cls, final: Path, key: str | None) -> WorkingFolder:
        """Make a new one for this process; a run with a key can be found by it."""
        path = _unused(final, key)
        return cls(path, _locked(path))

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
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def remove(self) -> None:
        """Remove the folder, as far as that is possible."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()


def abandoned(final: Path) -> Iterator[WorkingFolder]:
    """Yield the working folders that processes left behind when they died, locked by this one."""
    pattern = re.compile(re.escape(_prefix(final)) + r"(\d+)-(?:[0-9a-f]+-)?\w+")
    for name in sorted(os.listdir(final.parent)):
        found = pattern.fullmatch(name)
        if not found or (int(found[1]) != os.getpid() and _is_alive(int(found[1]))):
            continue
        lock = _locked(final.parent / name)
        if lock >= 0:
            yield WorkingFolder(final.parent / name, lock)


def _prefix(final: Path) -> str:
    return f".{final.name}.sosie-"


def _unused(final: Path, key: str | None) -> Path:
    tag = "" if key is None else f"{key[:_TAG]}-"
    return Path(tempfile.mkdtemp(prefix=f"{_prefix(final)}{os.getpid()}-{tag}", dir=final.parent))


def _locked(directory: Path) -> int:
    """Lock a directory for this process and return its descriptor, -1 if another holds it or has renamed it."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except FileNotFoundError:
        return -1
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(directory)):
            return descriptor
    except OSError:
        pass  # held by another process, or gone
    os.close(descriptor)
    return -1


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
