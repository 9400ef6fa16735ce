"""Which files are read, in which order, and what each is called."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from sosie.errors import DataError, UsageError

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_JSONL = (".jsonl", ".ndjson", ".json")
READ = "*.jsonl, *.ndjson, *.json (one object per line), each also with .gz or .zst, and *.parquet"


@dataclass(frozen=True)
class Input:
    """One file: `name` is unique among the inputs and names its outputs; size and time show whether it changed."""

    path: str
    name: str
    format: str
    compression: str | None = None
    size: int = 0
    mtime_ns: int = 0

    @property
    def label(self) -> str:
        """The name as text: bytes that are not UTF-8 are written as escapes."""
        return os.fsencode(self.name).decode("utf-8", "backslashreplace")

    @property
    def unit(self) -> str:
        """What a record is called in messages."""
        return "line" if self.format == "jsonl" else "row"

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was listed."""
        try:
            now = os.stat(self.path)
        except OSError as error:
            raise DataError(
                f"{self.path}: disappeared while it was being read ({error.strerror}). Run again."
            ) from error
        if (now.st_size, now.st_mtime_ns) != (self.size, self.mtime_ns):
            raise self.changed()

    def changed(self) -> DataError:
        """Return the error that says so."""
        return DataError(f"{self.path}: changed while it was being read. Run again when nothing writes to it.")


def list_inputs(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Input]:
    """Expand paths and globs: files of one glob are sorted, the order of the arguments is kept."""
    arguments = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not arguments:
        raise UsageError("no input: give at least one file or glob")
    files = [file for argument in arguments for file in _expand(os.fspath(argument))]
    seen: dict[str, str] = {}
    for file in files:
        if (earlier := seen.setdefault(os.path.realpath(file), file)) is not file:
            raise UsageError(f"{file}: the same file is given twice (also as {earlier}). Name it once.")
    return [_input(file, name) for file, name in zip(files, _names(files), strict=True)]


def _expand(argument: str) -> list[str]:
    if os.path.isdir(argument):
        raise UsageError(f"{argument}: is a directory. Name its files, for example {os.path.join(argument, '*.jsonl')}")
    if os.path.lexists(argument):
        return [argument]
    if not glob.has_magic(argument):
        raise UsageError(f"{argument}: no such file. Check the path.")
    files = sorted(file for file in glob.glob(argument, recursive=True) if not os.path.isdir(file))
    if not files:
        raise UsageError(f"{argument}: matches no file. Check the pattern, or quote it if the shell expands it.")
    return files


def _names(files: list[str]) -> list[str]:
    names = [os.path.basename(file) for file in files]
    if len(set(names)) == len(names):
        return names
    absolute = [os.path.abspath(file) for file in files]
    parent = os.path.commonpath([os.path.dirname(file) for file in absolute])
    return [os.path.relpath(file, parent) for file in absolute]


def _input(path: str, name: str) -> Input:
    base, compression = path.lower(), None
    for suffix, codec in _COMPRESSIONS.items():
        if base.endswith(suffix):
            base, compression = base.removesuffix(suffix), codec
    if base.endswith(_JSONL):
        form = "jsonl"
    elif base.endswith(".parquet") and compression is None:
        form = "parquet"
    else:
        raise UsageError(f"{path}: unknown kind of file. Sosie reads {READ}.")
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror}). Check the path and its permissions.") from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path}: is not a regular file. Inputs are read twice: write it to a file first.")
    return Input(path, name, form, compression, status.st_size, status.st_mtime_ns)
