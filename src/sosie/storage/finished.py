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
    """The files below `directory` that a run has finished: a line of a log for those that are made together.

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
        self._waiting: list[list[Path]] = []
        with naming(directory):
            self._finished = {file for files in self._logged() for file in files}
            self._remove_others()

    def __contains__(self, file: Path) -> bool:
        return file in self._finished

    def add(self, files: list[Path]) -> None:
        """Count files made together as finished; new ones are flushed and logged when a checkpoint is due."""
        if self._finished.issuperset(files):
            return
        self._waiting.append(files)
        if not self._checkpoints.due():
            return
        log = self._checkpoints.folder / LOG
        with naming(log):
            lines = [self._line(group) for group in self._waiting]
            log.parent.mkdir(exist_ok=True)
            with open(log, "ab") as stream:
                # The line before may have been cut short by a kill.
                stream.write("".join(f"\n{line}\n" for line in lines).encode())
                stream.flush()
                os.fsync(stream.fileno())
            sync(log.parent)
        self._waiting = []

    def _line(self, files: list[Path]) -> str:
        """Flush files and return a line for them: checksum, key, names and sizes."""
        sizes = {}
        for file in files:
            sync(file)
            sizes[os.fspath(file.relative_to(self._directory))] = file.stat().st_size
        return _checked(json.dumps([self._checkpoints.key, sizes]))

    def _logged(self) -> Iterator[list[Path]]:
        """Yield the files of each line that are all there in the sizes that it says."""
        log = self._checkpoints.folder / LOG
        if self._checkpoints.key is None or not log.exists():
            return
        for line in log.read_text("ascii", "replace").splitlines():
            content = line[9:]
            if not content or line != _checked(content):
                continue
            key, sizes = json.loads(content)
            files = {self._directory / name: size for name, size in sizes.items()}
            if key == self._checkpoints.key and all(_size(file) == size for file, size in files.items()):
                yield list(files)

    def _remove_others(self) -> None:
        for folder, _, names in os.walk(self._directory):
            for name in names:
                if (file := Path(folder, name)) not in self._finished:
                    file.unlink()


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else -1


def _checked(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x} {content}"
