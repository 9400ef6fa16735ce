"""Which files of an output are finished: a log that survives, so that a resumed run writes only the others."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from sosie.storage.checkpoint import Checkpoints
from sosie.storage.durable import naming, sync

LOG = "written.log"


class FinishedFiles:
    """The files below `directory` that a run has finished, one line of a log for each: checksum, key, name, size.

    Whatever else an earlier try has left in the directory is removed at the start.

    >>> import tempfile
    >>> output, checkpoints = Path(tempfile.mkdtemp()), Checkpoints(Path(tempfile.mkdtemp()), "a key", forced=True)
    >>> finished, file, other = FinishedFiles(output, checkpoints), output / "kept.txt", output / "other.txt"
    >>> file.write_text("a rose"), other.write_text("a r"), finished.add([file])
    (6, 3, None)
    >>> again = FinishedFiles(output, checkpoints)
    >>> file in again, other.exists()
    (True, False)
    """

    def __init__(self, directory: Path, checkpoints: Checkpoints) -> None:
        self._directory = directory
        self._checkpoints = checkpoints
        self._waiting: list[Path] = []
        with naming(directory):
            self._finished = set(self._logged())
            self._remove_others()

    def __contains__(self, file: Path) -> bool:
        return file in self._finished

    def add(self, files: list[Path]) -> None:
        """Count files as finished; they are flushed and logged, with those that wait, when a checkpoint is due."""
        self._waiting += files
        if not self._waiting or not self._checkpoints.due():
            return
        log = self._checkpoints.folder / LOG
        with naming(log):
            lines = [self._line(file) for file in self._waiting]
            log.parent.mkdir(exist_ok=True)
            with open(log, "ab") as stream:
                # The line before may have been cut short by a kill.
                stream.write("".join(f"\n{line}\n" for line in lines).encode())
                stream.flush()
                os.fsync(stream.fileno())
            sync(log.parent)
        self._waiting = []

    def _line(self, file: Path) -> str:
        sync(file)
        name = os.fspath(file.relative_to(self._directory))
        return _checked(json.dumps([self._checkpoints.key, name, file.stat().st_size]))

    def _logged(self) -> Iterator[Path]:
        """Yield the files of the log that are there in the size that it says."""
        log = self._checkpoints.folder / LOG
        if self._checkpoints.key is None or not log.exists():
            return
        for line in log.read_text("ascii", "replace").splitlines():
            content = line[9:]
            if not content or line != _checked(content):
                continue
            key, name, size = json.loads(content)
            file = self._directory / name
            if key == self._checkpoints.key and file.is_file() and file.stat().st_size == size:
                yield file

    def _remove_others(self) -> None:
        for folder, _, names in os.walk(self._directory):
            for name in names:
                if (file := Path(folder, name)) not in self._finished:
                    file.unlink()


def _checked(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x} {content}"
