"""One input: a file, a run of files of one document each, or a table; what it is called, and whether it changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, BinaryIO

import pyarrow as pa

from sosie.documents.places.remote import is_url, open_file, size_and_stamp
from sosie.errors import DataError, UsageError
from sosie.storage.size import show_size

# How far a compressed file may expand: so many times its size, and so many bytes more.
MAX_EXPANSION = 200
FREE_EXPANSION = 64 << 20
# Beyond this a line is taken for something else than one record, so that memory stays bounded; under a limit, for less.
MAX_RECORD = 256 << 20
MAX_FILE = 1 << 62


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to read: its `root` is the folder that was given, or its own; `problem` says why it cannot be read.

    `is_named` says that it was given itself, and not found in a folder.
    """

    path: str
    name: str
    root: str
    format: str
    compression: str | None
    size: int
    mtime_ns: int
    problem: str | None = None
    is_named: bool = False


@dataclass(frozen=True, eq=False)
class DocumentFiles:
    """Some files of one document each, in order; an entry with a problem cannot be read."""

    entries: list[Entry]
    names: list[str]

    @property
    def are_readable(self) -> bool:
        """Whether any of them is a document: others are links, fifos and the like, in whatever format."""
        return any(entry.problem is None for entry in self.entries)

    @cached_property
    def labels(self) -> Any:
        """The names as text: bytes that are not UTF-8 are written as escapes."""
        return pa.array([label_of(name) for name in self.names], pa.large_string())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return what tells these files from others, as columns: there may be millions of them."""
        columns = {field.name: [getattr(entry, field.name) for entry in self.entries] for field in fields(Entry)}
        return {"names": self.names, **columns}


@dataclass(frozen=True)
class Input:
    """One file: `name` is unique among the inputs and names its outputs; size and time show whether it changed.

    `format` is what the suffix says ("csv" or "tsv"): `formats.format_of` gives the `Format` that reads it. Files of
    one document each that follow each other in one folder are one input, at the path of the folder: `files`. Data in
    memory is an input, too: `table`. The path may be a URL. Of standard input it is what messages call it; the bytes
    are in the file `spool`. `delimiter` separates the fields of a record, and `encoding` is that of the bytes, where
    they are not UTF-8; both only where the format reads them. `max_record` is how many bytes of a record there is
    memory for while it is read, `max_file` how many of a file that is one document.
    """

    path: str
    name: str
    format: str
    compression: str | None = None
    size: int = 0
    mtime_ns: int = 0
    files: DocumentFiles | None = None
    title: str | None = None
    max_expansion: int = MAX_EXPANSION
    delimiter: str | None = None
    encoding: str | None = None
    spool: str | None = None
    table: Any = field(default=None, compare=False, repr=False)
    max_record: int = field(default=MAX_RECORD, compare=False, repr=False)
    max_file: int = field(default=MAX_FILE, compare=False, repr=False)

    @property
    def label(self) -> str:
        """The name in ids and messages, as text: bytes that are not UTF-8 are written as escapes."""
        return self.title or label_of(self.name)

    def place(self, line: int) -> tuple[str, int]:
        """Return the file that a record is in, and its line or row there; `line` counts those of this input from 1."""
        return (self.label, line) if self.files is None else (self.files.labels[line - 1].as_py(), 1)

    def open(self, buffering: int = 0) -> BinaryIO:
        """Open the file to read its bytes."""
        return open_file(self.spool or self.path, buffering)

    def openable(self) -> str | BinaryIO:
        """Return what Arrow can open: the path, or the open file where it is not on this machine."""
        return self.open() if is_url(self.path) else self.spool or self.path

    def check_expansion(self, expanded: int) -> None:
        """Raise if a file has expanded to more bytes than may be."""
        if expanded > self.max_expansion * self.size + FREE_EXPANSION:
            raise DataError(
                f"{self.path}: expands to more than {self.max_expansion} times its {self.size:,} bytes (plus "
                f"{FREE_EXPANSION >> 20} MiB): it is damaged or made to fill the memory. If it is neither, pass a "
                "larger --max-expansion."
            )

    @property
    def too_long(self) -> str:
        """What is said of a record that is longer than `max_record`: how long it may be, and why."""
        why = ", the most that there is memory for (--memory)" if self.max_record < MAX_RECORD else ""
        return f"longer than {show_size(self.max_record)}{why}"

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was listed; files of one document are checked as they are read."""
        if self.files is not None or self.table is not None:
            return
        try:
            now = size_and_stamp(self.spool or self.path)
        except (OSError, UsageError) as error:
            detail = getattr(error, "strerror", None) or error
            raise DataError(f"{self.path}: disappeared while it was being read ({detail}). Run again.") from error
        if now != (self.size, self.mtime_ns):
            raise self.changed()

    def changed(self) -> DataError:
        """Return the error that says so."""
        return DataError(f"{self.path}: changed while it was being read. Run again when nothing writes to it.")


class Inputs(list[Input]):
    """Inputs in their order, and the folders among them that were passed over, because Sosie wrote them.

    >>> Inputs([], passed_over=["docs/out"]).passed_over
    ('docs/out',)
    """

    def __init__(self, inputs: Iterable[Input], passed_over: Iterable[str] = ()) -> None:
        super().__init__(inputs)
        self.passed_over = tuple(passed_over)


def label_of(name: str) -> str:
    r"""Return a file name as text.

    >>> label_of("caf\udce9.txt")
    'caf\\xe9.txt'
    """
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")
