"""An output directory that appears whole or not at all."""

from __future__ import annotations

import logging
import os
import shutil
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sosie.errors import SosieError, StorageError, UsageError
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.claim import Claim, claimed
from sosie.storage.durable import describe, naming, sync_tree
from sosie.storage.listing import check_written, is_written_by, write_listing
from sosie.storage.replace import put_in_place, restore
from sosie.storage.working import NEW, OUTPUT, REPLACED, WorkingFolder, abandoned

HINT = "Run again with --resume to go on."
_CURABLE = (OSError, StorageError, UsageError, MemoryError, KeyboardInterrupt, SystemExit)
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
    """Write into `path`; when the block ends well it is flushed and gets its final name, else it is removed.

    The final directory must not exist or be empty. `overwrite` replaces one that Sosie wrote, all of it: a list of its
    files is in it (`storage.listing`). It is replaced in one step: whoever opens it has the old one or the new one.
    With a `claim`, it is the caller who keeps other processes from replacing it meanwhile. `inputs` may not lie inside
    it. `scratch` is a folder for temporary files; it never appears.

    A run with a `key` may write `checkpoints`. Then what it has written stays, hidden, when it is killed or fails with
    an error that another try can cure, and a run with the same key and `resume` goes on with it; any other run of the
    same output removes it. What such a run has finished already stays as it is (`is_finished`): nothing need be
    written again.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "out"
    >>> with OutputDirectory(final) as output:
    ...     _ = (output.path / "kept.txt").write_text("a rose")
    >>> sorted(file.name for file in final.iterdir())
    ['.sosie', 'kept.txt']
    """

    def __init__(
        self,
        final: str | os.PathLike[str],
        overwrite: bool = False,
        inputs: Iterable[str | os.PathLike[str]] = (),
        *,
        key: str | None = None,
        resume: bool = False,
        claim: Claim | None = None,
    ) -> None:
        self.is_finished = False
        self.final = Path(os.path.realpath(final))
        self._overwrite = overwrite
        self._inputs = [Path(os.path.realpath(file)) for file in inputs]
        self._key = key
        self._resume = resume
        self._claim = claim
        self._working: WorkingFolder | None = None
        self._forsaken: weakref.finalize[..., OutputDirectory] | None = None

    @property
    def path(self) -> Path:
        """Where to write: on the file system of the final directory."""
        return self._folder / OUTPUT

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
            if self.is_finished:
                _log.warning("%s: an earlier try of this run has finished it, so it stays as it is.", self.final)
            elif self._resume and self._working is None:
                _log.warning("%s: the run starts from the beginning.", missing)
            if self._working is None:
                self._working = WorkingFolder.create(self.final, self._key)
            elif self._key is not None:
                self._working.take_over(self.final, self._key)
            self._forsaken = weakref.finalize(self, _forsake, self._folder, self._key)
            for left in (self._folder / NEW, self._folder / REPLACED, self.scratch):
                shutil.rmtree(left, ignore_errors=True)
            self.path.mkdir(exist_ok=True)
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
        """Refuse an output that may not be written; see whether this very run has finished it before."""
        if any(file.is_relative_to(self.final) for file in self._inputs):
            raise UsageError(f"{self.final}: holds inputs of this run. Choose another output directory.")
        if self._claim is not None or not self.final.is_dir() or not (self._overwrite or self._resume):
            self._check_replaceable(self.final)
            return
        with claimed(self.final):
            self.is_finished = self._resume and self._key is not None and is_written_by(self.final, self._key)
            if not self.is_finished:
                self._check_replaceable(self.final)

    def _check_replaceable(self, place: Path) -> None:
        """Refuse to replace what is at a place, where the final directory is or has been moved to."""
        if not os.path.lexists(place):
            return
        if not place.is_dir():
            raise UsageError(f"{self.final}: is a file. Choose another output directory.")
        if not any(place.iterdir()):
            return
        if not self._overwrite:
            raise UsageError(f"{self.final}: is not empty. Choose another directory or pass --overwrite.")
        check_written(place, self.final)

    def _commit(self) -> None:
        shutil.rmtree(self.scratch)
        if self.is_finished:
            return
        write_listing(self.path, self._key)
        sync_tree(self.path)
        # From here on this is not what a resumed run goes on with: after the exchange it is the old output.
        new = self._folder / NEW
        os.rename(self.path, new)
        put_in_place(new, self.final, self._check_replaceable, self._claim)

    def _recover(self) -> str:
        """Put back an output that was being replaced; take what can be resumed, remove what else dead runs left.

        Returns why there is nothing to resume, if so.
        """
        missing = "There is nothing to resume"
        restore(self.final)
        for left in abandoned(self.final):
            if self._can_resume(left):
                if self._key is not None and left.belongs_to(self._key):
                    self._working = left
                    continue
                missing = "The inputs or options changed"
            left.remove()
        return missing

    def _can_resume(self, left: WorkingFolder) -> bool:
        """Whether a resumed run may go on with a folder, if it is of the same run."""
        return self._resume and self._working is None and _checkpoints(left.path, self._key).held

    def _leave(self, error: BaseException | None) -> None:
        """Let go of the working folder: kept, and said so, if another try can go on with it, else removed."""
        working, self._working = self._working, None
        if self._forsaken is not None:
            self._forsaken.detach()
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


def _forsake(folder: Path, key: str | None) -> None:
    """Remove the folder of a process that ends at once, unless a run can go on with it or an output is in it."""
    if not _checkpoints(folder, key).held and not any((folder / name).exists() for name in (NEW, REPLACED)):
        shutil.rmtree(folder, ignore_errors=True)


def _is_curable(error: BaseException) -> bool:
    """Whether the same run may succeed another time: with more space or memory, or an input that is back."""
    return isinstance(error, _CURABLE) or isinstance(error.__cause__, OSError)


def _probe(directory: Path) -> None:
    """Write a file and remove it: permissions do not tell whether a file system takes data."""
    file = directory / ".probe"
    file.write_bytes(b"sosie")
    file.unlink()

