"""Checkpoints: what a run has worked out, on disk, so that a run that was killed goes on from there."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.errors import StorageError
from sosie.storage.durable import naming, sync
from sosie.storage.manifest import read_artefact, write_artefact

WORTH = 5.0  # seconds of work from which a checkpoint is written unasked
KIND = "checkpoint"
_PARTIAL = ".partial"
_log = logging.getLogger("sosie")

Arrays = Mapping[str, NDArray[Any]]


class Checkpoints:
    """The checkpoints of one run, each a folder of arrays that is there whole or not at all.

    `key` says which run they belong to; those of another are not seen. Without a key there are none. `forced` means
    that every one is wanted, else they are due when the work since the last took more than `WORTH` seconds.

    >>> import tempfile
    >>> checkpoints = Checkpoints(Path(tempfile.mkdtemp()) / "checkpoints", key_of("a job"), forced=True)
    >>> checkpoints.save("read", {"sizes": np.arange(3)}, {"rejected": 1})
    >>> arrays, meta = checkpoints.load("read")
    >>> arrays["sizes"].tolist(), meta, checkpoints.given("another method").load("read")
    ([0, 1, 2], {'rejected': 1}, None)
    """

    def __init__(self, folder: Path, key: str | None, forced: bool = False) -> None:
        self.folder = folder
        self.key = key
        self._forced = forced
        self._since = time.monotonic()

    @property
    def held(self) -> bool:
        """Whether there is anything to go on from."""
        return self.folder.is_dir() and any(not name.endswith(_PARTIAL) for name in os.listdir(self.folder))

    def given(self, *choices: Any) -> Checkpoints:
        """Return the checkpoints of this run that also depend on what was chosen meanwhile."""
        return Checkpoints(self.folder, self.key and key_of(self.key, *choices), self._forced)

    def due(self) -> bool:
        """Whether the work since the last checkpoint is worth one, which is then to be written."""
        now = time.monotonic()
        if self.key is None or not (self._forced or now - self._since > WORTH):
            return False
        self._since = now
        return True

    def save(self, name: str, arrays: Arrays, meta: Mapping[str, Any] | None = None) -> None:
        """Write a checkpoint; arrays that are files of the working folder already are moved, not copied.

        One that does not fit on the disk is an error where all are wanted, else it is left out.
        """
        partial, final = self.folder / f"{name}{_PARTIAL}", self.folder / name
        try:
            with naming(self.folder):
                for old in (partial, final):
                    shutil.rmtree(old, ignore_errors=True)
                moved = {each: path for each, array in arrays.items() if (path := self._file_of(array)) is not None}
                state = {"state": dict(meta or {})}
                write_artefact(partial, KIND, arrays, digest=self.key, meta=state, moved=moved)
                os.rename(partial, final)
                sync(self.folder)
        except StorageError as error:
            shutil.rmtree(partial, ignore_errors=True)
            if self._forced:
                raise
            _log.warning("No checkpoint: %s", error)

    def load(self, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """Return the arrays, memory-mapped, and the data of a checkpoint, None if there is none or it is damaged."""
        if self.key is None or not (self.folder / name).exists():
            return None
        try:
            meta, arrays = read_artefact(self.folder / name, KIND)
        except StorageError as error:
            _log.warning("A checkpoint cannot be used, its work is done again: %s", error)
            return None
        return (arrays, meta.get("state", {})) if meta["digest"] == self.key else None

    def refuse(self, name: str, error: Exception) -> None:
        """Say that what a checkpoint holds does not fit, so that its work is done again."""
        _log.warning("A checkpoint cannot be used, its work is done again: %s (%s)", self.folder / name, error)

    def _file_of(self, array: NDArray[Any]) -> Path | None:
        """Return the file that an array is a map of, if it is all of a file in the same working folder."""
        base: Any = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        if not isinstance(base, np.memmap) or not base.filename or base.nbytes != array.nbytes:
            return None
        path = Path(base.filename)
        inside = path.is_relative_to(self.folder.parent) and path.is_file()
        return path if inside and path.stat().st_size == array.nbytes else None


def key_of(*parts: Any) -> str:
    """Return a digest of plain data, of what `to_dict` says of itself, and of dataclasses, every field included.

    >>> key_of("job", Fraction(4, 5)) == key_of("job", Fraction(8, 10)), key_of([1, 2]) == key_of([2, 1])
    (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, default=_plain, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return [type(value).__name__, value.to_dict()]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [type(value).__name__, {name: getattr(value, name) for name in names}]
    if isinstance(value, Fraction | os.PathLike):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not plain data, so it cannot be part of a key")
