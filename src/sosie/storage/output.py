"""An output directory that appears whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sosie.errors import SosieError, StorageError, UsageError
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.durable import describe, naming, sync, sync_tree
from sosie.storage.working import WorkingFolder, abandoned

HINT = "Run again with --resume to go on."
_CURABLE = (OSError, StorageError, UsageError, MemoryError, KeyboardInterrupt, SystemExit)
_MARKERS = ("report.json", "manifest.json")
_REPLACED = "replaced"
_log = logging.getLogger("sosie")


@dataclass(frozen=True)
class Output:
    """Where a run writes to: `overwrite` replaces what Sosie wrote there, `resume` goes on with a run that was killed.

    With `resume`, checkpoints are written from the start; a run that finds none begins from the beginning. With
    `annotate`, all documents are written with what was found about them, instead of kept and dropped ones.
    """

    path: str | os.PathLike[str]
    overwrite: bool = False
    resume: bool = False
    annotate: bool = False


class OutputDirectory:
    """Write into `path`; when the block ends well it is flushed and renamed to its final name, else removed.

    The final directory must not exist or be empty. `overwrite` replaces one that Sosie wrote: it holds a
    `report.json` or `manifest.json` whose "format" begins with "sosie". `inputs` may not lie inside it. `scratch` is
    a folder for temporary files; it never appears.

    A run with a `key` may write `checkpoints`. Then what it has written stays, hidden, when it is killed or fails with
    an error that another try can cure, and a run with the same key and `resume` goes on with it; any other run of the
    same output removes it.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "out"
    >>> with OutputDirectory(final) as output:
    ...     _ = (output.path / "kept.txt").write_text("a rose")
    >>> [file.name for file in final.iterdir()]
    ['kept.txt']
    """

    def __init__(
        self,
        final: str | os.PathLike[str],
        overwrite: bool = False,
        inputs: Iterable[str | os.PathLike[str]] = (),
        *,
        key: str | None = None,
        resume: bool = False,
    ) -> None:
        self.final = Path(os.path.realpath(final))
        self._overwrite = overwrite
        self._inputs = [Path(os.path.realpath(file)) for file in inputs]
        self._key = key
        self._resume = resume
        self._working: WorkingFolder | None = None

    @property
    def path(self) -> Path:
        """Where to write: on the file system of the final directory."""
        return self._folder / "output"

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        return self._folder / "scratch"

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints of this run: none without a key, all of them with `resume`."""
        return _checkpoints(self._folder, self._key, self._resume)

    @property
    def _folder(self) -> Path:
        if self._working is None:
            raise UsageError("an OutputDirectory is used inside its `with` block")
        return self._working.path

    def __enter__(self) -> OutputDirectory:
        try:
            self.final.parent.mkdir(parents=True, exist_ok=True)
            missing = self._recover()
            self._check_free()
            if self._resume and self._working is None:
                _log.warning("%s: the run starts from the beginning.", missing)
            if self._working is None:
                self._working = WorkingFolder.create(self.final, self._key)
            elif self._key is not None:
                self._working.take_over(self.final, self._key)
            self.path.mkdir(exist_ok=True)
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch.mkdir()
            _probe(self.path)
        except SosieError as error:
            self._leave(error)
            raise
        except OSError as error:
            message = f"{self.final}: cannot be written ({error.strerror or error}). Choose another output directory."
            failure = UsageError(message)
            self._leave(failure)
            raise failure from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                with naming(self.final):
                    self._commit()
            elif isinstance(error, OSError) and self._is_ours(error):
                raise StorageError(describe(error, self.final)) from error
        except BaseException as failure:
            self._leave(failure)
            raise
        self._leave(error)

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
            sync(self._folder)
            sync(self.final.parent)
        except OSError:
            if not self.path.exists():
                os.rename(self.final, self.path)
            if replaced.exists():
                os.rename(replaced, self.final)
            raise

    def _recover(self) -> str:
        """Put back an output that was being replaced; take what can be resumed, remove what else dead runs left.

        Returns why there is nothing to resume, if so.
        """
        missing = "There is nothing to resume"
        for left in abandoned(self.final):
            if (left.path / _REPLACED).exists() and not os.path.lexists(self.final):
                os.rename(left.path / _REPLACED, self.final)
            if self._can_resume(left):
                if self._key is not None and left.belongs_to(self._key):
                    self._working = left
                    continue
                missing = "The inputs or options changed"
            left.remove()
        return missing

    def _can_resume(self, left: WorkingFolder) -> bool:
        """Whether a resumed run may go on with a folder, if it is of the same run."""
        wanted = self._resume and self._working is None
        return wanted and (left.path / "output").is_dir() and _checkpoints(left.path, self._key).held

    def _leave(self, error: BaseException | None) -> None:
        """Let go of the working folder: kept, and said so, if another try can go on with it, else removed."""
        working, self._working = self._working, None
        if working is None:
            return
        if error is None or not _is_curable(error) or not _checkpoints(working.path, self._key).held:
            working.remove()
            return
        working.release()
        if isinstance(error, SosieError):
            error.args = (f"{str(error).removesuffix('.')}. {HINT}",)
        else:
            error.add_note(HINT)

    def _is_ours(self, error: OSError) -> bool:
        """Whether an error concerns this output: writes that fail name no file."""
        if error.filename is None:
            return True
        path = Path(os.path.abspath(os.fsdecode(error.filename)))
        return path.is_relative_to(self._folder) or path.is_relative_to(self.final)


def _checkpoints(folder: Path, key: str | None, forced: bool = False) -> Checkpoints:
    return Checkpoints(folder / "checkpoints", key, forced)


def _is_curable(error: BaseException) -> bool:
    """Whether the same run may succeed another time: with more space or memory, or an input that is back."""
    return isinstance(error, _CURABLE) or isinstance(error.__cause__, OSError)


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
