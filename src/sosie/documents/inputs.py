"""Which files are read, in which order, and what each is called."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from sosie.documents.folder import COMPRESSIBLE, READ, WHOLE, Entry, TextFiles, kind_of, label_of, walk_folder
from sosie.documents.standard_input import ARGUMENT, LABEL, NAME, spool_standard_input
from sosie.errors import DataError, UsageError

# How far a compressed file may expand: so many times its size, and so many bytes more.
MAX_EXPANSION = 200
FREE_EXPANSION = 64 << 20


@dataclass(frozen=True)
class Input:
    """One file: `name` is unique among the inputs and names its outputs; size and time show whether it changed.

    Text files of one folder that follow each other are one input, at the path of the folder: `files`.
    """

    path: str
    name: str
    format: str
    compression: str | None = None
    size: int = 0
    mtime_ns: int = 0
    files: TextFiles | None = None
    title: str | None = None
    max_expansion: int = MAX_EXPANSION

    @property
    def label(self) -> str:
        """The name in ids and messages, as text: bytes that are not UTF-8 are written as escapes."""
        return self.title or label_of(self.name)

    @property
    def unit(self) -> str:
        """What a record is called in messages."""
        if self.files is not None:
            return "file"
        if self.format == "warc":
            return "record"
        return "line" if self.format in COMPRESSIBLE else "row"

    @property
    def delimiter(self) -> bytes:
        """What separates the fields of a record."""
        return b"\t" if self.format == "tsv" else b","

    def place(self, line: int) -> tuple[str, int]:
        """Return the file that a record is in, and its line or row there; `line` counts those of this input from 1."""
        return (self.label, line) if self.files is None else (self.files.labels[line - 1].as_py(), 1)

    def describe(self, line: int) -> str:
        """Say where a record is: file and line or row."""
        file, number = self.place(line)
        return file if self.files is not None else f"{file}, {self.unit} {number}"

    def check_expansion(self, expanded: int) -> None:
        """Raise if a file has expanded to more bytes than may be."""
        if expanded > self.max_expansion * self.size + FREE_EXPANSION:
            raise DataError(
                f"{self.path}: expands to more than {self.max_expansion} times its {self.size:,} bytes (plus "
                f"{FREE_EXPANSION >> 20} MiB): it is damaged or made to fill the memory. If it is neither, pass a "
                "larger --max-expansion."
            )

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was listed; text files are checked one by one as they are read."""
        if self.files is not None:
            return
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
    """Expand paths, globs and folders: files of one glob or folder are sorted, the order of the arguments is kept.

    The path "-" is standard input.
    """
    arguments = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not arguments:
        raise UsageError("no input: give at least one file, glob or folder")
    entries = [entry for argument in arguments for entry in _expand(os.fspath(argument))]
    _check_distinct(entries)
    return list(_inputs(entries, _names(entries)))


def _expand(argument: str) -> list[Entry]:
    if argument == ARGUMENT:
        return [spool_standard_input()]
    if os.path.isdir(argument):
        return walk_folder(argument)
    if os.path.lexists(argument):
        return [_entry(argument)]
    if not glob.has_magic(argument):
        raise UsageError(f"{argument}: no such file. Check the path.")
    files = sorted(file for file in glob.glob(argument, recursive=True) if not os.path.isdir(file))
    if not files:
        raise UsageError(f"{argument}: matches no file. Check the pattern, or quote it if the shell expands it.")
    return [_entry(file) for file in files]


def _entry(path: str) -> Entry:
    form, compression = kind_of(path)
    if form is None:
        raise UsageError(f"{path}: unknown kind of file. Sosie reads {READ}.")
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path}: is not a regular file. Inputs are read twice: write it to a file first.")
        with open(path, "rb"):
            pass
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror}). Check the path and its permissions.") from error
    root = os.path.dirname(path) or "."
    return Entry(path, os.path.basename(path), root, form, compression, status.st_size, status.st_mtime_ns)


def _check_distinct(entries: list[Entry]) -> None:
    roots: dict[str, str] = {}
    seen: dict[str, str] = {}
    for entry in entries:
        if entry.root == ARGUMENT:
            continue
        if entry.root not in roots:
            roots[entry.root] = os.path.realpath(entry.root)
        named = entry.problem is None and os.path.islink(entry.path)
        real = os.path.realpath(entry.path) if named else os.path.join(roots[entry.root], entry.name)
        if (earlier := seen.setdefault(real, entry.path)) is not entry.path:
            raise UsageError(f"{entry.path}: the same file is given twice (also as {earlier}). Name it once.")


def _names(entries: list[Entry]) -> list[str]:
    names = [entry.name for entry in entries]
    if len(set(names)) == len(names) and not _folders(names).intersection(names):
        return names
    if any(entry.root == ARGUMENT for entry in entries) and names.count(NAME) > 1:
        raise UsageError(
            f"-: standard input is called {NAME}, and another input too. Give it once, or rename the file."
        )
    absolute = [os.path.abspath(entry.path) for entry in entries if entry.root != ARGUMENT]
    parent = os.path.commonpath([os.path.dirname(file) for file in absolute])
    relative = iter(os.path.relpath(file, parent) for file in absolute)
    return [NAME if entry.root == ARGUMENT else next(relative) for entry in entries]


def _folders(names: list[str]) -> set[str]:
    """Return the folders that the names lead through."""
    folders: set[str] = set()
    waiting = {os.path.dirname(name) for name in names}
    while waiting:
        folders |= waiting
        waiting = {os.path.dirname(folder) for folder in waiting} - folders
    return folders


def _inputs(entries: list[Entry], names: list[str]) -> Iterator[Input]:
    """Make an input of each file, or of a run of text files of one folder."""
    numbered = groupby(enumerate(entries), lambda pair: (pair[1].format in WHOLE, pair[1].root))
    for (is_whole, root), run in numbered:
        members = list(run)
        if not is_whole:
            for place, entry in members:
                size, time = entry.size, entry.mtime_ns
                title = LABEL if root == ARGUMENT else None
                yield Input(entry.path, names[place], entry.format, entry.compression, size, time, title=title)
            continue
        first, last = members[0][0], members[-1][0] + 1
        files = TextFiles(entries[first:last], names[first:last])
        path = entries[first].path if last - first == 1 else root
        yield Input(path, names[first], "text", None, sum(entry.size for entry in files.entries), 0, files)
