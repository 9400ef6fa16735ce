"""The files below a folder that can be read, in the order of their relative paths; links are not followed."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import pyarrow as pa

from sosie.errors import UsageError

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".md": "text",
    ".html": "html",
    ".htm": "html",
    ".warc": "warc",
}
COMPRESSIBLE = ("jsonl", "csv", "tsv", "warc")
# One document per file.
WHOLE = ("text", "html")
READ = (
    "*.jsonl, *.ndjson, *.json (one object per line), *.csv, *.tsv, *.warc, each also with .gz or .zst, *.parquet, "
    "*.txt, *.md, *.html and *.htm (one document per file), folders of these, and JSON lines from standard input as -"
)
_MARKERS = ("report.json", "manifest.json")
_SPECIAL = {stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to read: its `root` is the folder that was given, or its own; `problem` says why it cannot be read."""

    path: str
    name: str
    root: str
    format: str
    compression: str | None
    size: int
    mtime_ns: int
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class TextFiles:
    """Some files of one document each, in order; an entry with a problem cannot be read."""

    entries: list[Entry]
    names: list[str]

    @property
    def has_pages(self) -> bool:
        """Whether any of them is HTML."""
        return any(entry.format == "html" for entry in self.entries)

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


def label_of(name: str) -> str:
    r"""Return a file name as text.

    >>> label_of("caf\udce9.txt")
    'caf\\xe9.txt'
    """
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def kind_of(name: str) -> tuple[str | None, str | None]:
    """Return the format of a file, None if its suffix is unknown, and its compression.

    >>> kind_of("docs.CSV.gz"), kind_of("notes.txt"), kind_of("docs.parquet.gz"), kind_of("docs")
    (('csv', 'gzip'), ('text', None), (None, 'gzip'), (None, None))
    """
    base, suffix = os.path.splitext(name.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression:
        suffix = os.path.splitext(base)[1]
    form = FORMATS.get(suffix)
    return form if compression is None or form in COMPRESSIBLE else None, compression


def walk_folder(folder: str) -> list[Entry]:
    """List the files below a folder whose suffix is known.

    Names that begin with a dot, other suffixes, and folders inside that Sosie wrote are passed over. Links and what
    is not a regular file are listed with a problem.
    """
    entries: list[Entry] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        place = os.path.join(folder, prefix)
        try:
            with os.scandir(place) as listing:
                found = [entry for entry in listing if not entry.name.startswith(".")]
            if prefix and any(entry.name in _MARKERS and _is_output(entry.path) for entry in found):
                continue
            for entry in found:
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name + "/")
                elif (listed := _entry(entry, name, folder)) is not None:
                    entries.append(listed)
        except OSError as error:
            raise UsageError(
                f"{error.filename or place}: cannot be listed ({error.strerror}). Check its permissions."
            ) from error
    if not entries:
        raise UsageError(f"{folder}: holds no file that can be read. Sosie reads {READ}.")
    entries.sort(key=lambda entry: entry.name)
    return entries


def _entry(entry: os.DirEntry[str], name: str, folder: str) -> Entry | None:
    form, compression = kind_of(entry.name)
    if entry.is_symlink():
        if form is None and not os.path.isdir(entry.path):
            return None
        problem = "a symbolic link, which is not followed; name what it points to"
        return Entry(entry.path, name, folder, "text", None, 0, 0, problem)
    if form is None:
        return None
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISREG(status.st_mode):
        return Entry(entry.path, name, folder, form, compression, status.st_size, status.st_mtime_ns)
    problem = f"{_SPECIAL.get(stat.S_IFMT(status.st_mode), 'something')}, not a regular file"
    return Entry(entry.path, name, folder, "text", None, 0, 0, problem)


def _is_output(marker: str) -> bool:
    try:
        with open(marker, "rb") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("sosie")
