"""An output directory that appears whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from sosie.errors import StorageError, UsageError
from sosie.storage.durable import describe, naming, sync, sync_tree

_MARKERS = ("report.json", "manifest.json")
_REPLACED = "replaced"


class OutputDirectory:
    """Write into `path`; when the block ends well it is flushed and renamed to its final name, else removed.

    The final directory must not exist or be empty. `overwrite` replaces one that Sosie wrote: it holds a
    `report.json` or `manifest.json` whose "format" begins with "sosie". `inputs` may not lie inside it. `scratch` is
    a folder for temporary files; it never appears.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "out"
    >>> with OutputDirectory(final) as output:
    ...     _ = (output.path / "kept.txt").write_text("a rose")
    >>> [file.name for file in final.iterdir()]
    ['kept.txt']
    """

    def __init__(
        self, final: str | os.PathLike[str], overwrite: bool = False, inputs: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        self.final = Path(os.path.realpath(final))
        self._overwrite = overwrite
        self._inputs = [Path(os.path.realpath(file)) for file in inputs]
        self._temporary: Path | None = None
        self._lock = -1

    @property
    def path(self) -> Path:
        """Where to write: on the file system of the final directory."""
        return self._folder / "output"

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        return self._folder / "scratch"

    @property
    def _folder(self) -> Path:
        if self._temporary is None:
            raise UsageError("an OutputDirectory is used inside its `with` block")
        return self._temporary

    def __enter__(self) -> OutputDirectory:
        try:
            self.final.parent.mkdir(parents=True, exist_ok=True)
            self._recover()
            self._check_free()
            self._temporary = Path(tempfile.mkdtemp(prefix=f"{self._prefix}{os.getpid()}-", dir=self.final.parent))
            self._lock = _locked(self._temporary)
            self.path.mkdir()
            self.scratch.mkdir()
            _probe(self.path)
        except OSError as error:
            self._discard()
            message = f"{self.final}: cannot be written ({error.strerror or error}). Choose another output directory."
            raise UsageError(message) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ours = isinstance(error, OSError) and self._is_ours(error)
        try:
            if error is None:
                with naming(self.final):
                    self._commit()
        finally:
            self._discard()
        if ours and isinstance(error, OSError):
            raise StorageError(describe(error, self.final)) from error

    @property
    def _prefix(self) -> str:
        return f".{self.final.name}.sosie-"

    def _check_free(self) -> None:
        if any(file.is_relative_to(self.final) for file in self._inputs):
            raise UsageError(f"{self.final}: holds inputs of this run. Choose another output directory.")
        if not os.path.lexists(self.final):
            return
        if not self.final.is_dir():
            raise UsageError(f"{self.final}: is a file. Choose another output directory.")
        if not any(self.final.iterdir()):
            return
        if not self._overwrite:
            raise UsageError(f"{self.final}: is not empty. Choose another directory or pass --overwrite.")
        if not any(_written_by_sosie(self.final / marker) for marker in _MARKERS):
            raise UsageError(
                f"{self.final}: was not written by Sosie, so it is not replaced. Choose another directory."
            )

    def _commit(self) -> None:
        shutil.rmtree(self.scratch)
        sync_tree(self.path)
        replaced = self._folder / _REPLACED
        if os.path.lexists(self.final):
            self._check_free()
            os.rename(self.final, replaced)
        try:
            os.rename(self.path, self.final)
        except OSError:
            if replaced.exists():
                os.rename(replaced, self.final)
            raise
        sync(self._folder)
        sync(self.final.parent)

    def _recover(self) -> None:
        """Remove what processes that died left behind; put back an output that was being replaced."""
        pattern = re.compile(re.escape(self._prefix) + r"(\d+)-\w+")
        for name in os.listdir(self.final.parent):
            found = pattern.fullmatch(name)
            if not found or (int(found[1]) != os.getpid() and _is_alive(int(found[1]))):
                continue
            left = self.final.parent / name
            lock = _locked(left)
            if lock < 0:
                continue
            if (left / _REPLACED).exists() and not os.path.lexists(self.final):
                os.rename(left / _REPLACED, self.final)
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)

    def _discard(self) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _is_ours(self, error: OSError) -> bool:
        """Whether an error concerns this output: writes that fail name no file."""
        if error.filename is None:
            return True
        path = Path(os.path.abspath(os.fsdecode(error.filename)))
        return path.is_relative_to(self._folder) or path.is_relative_to(self.final)


def _locked(directory: Path) -> int:
    """Lock a directory for this process and return its descriptor, -1 if another holds it."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor


def _probe(directory: Path) -> None:
    """Write a file and remove it: permissions do not tell whether a file system takes data."""
    file = directory / ".probe"
    file.write_bytes(b"sosie")
    file.unlink()


def _written_by_sosie(marker: Path) -> bool:
    try:
        content = json.loads(marker.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("sosie")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
