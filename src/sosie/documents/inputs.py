"""Which files are read, in which order, and what each is called: paths, globs and folders to inputs."""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import groupby

from sosie.documents.formats import FORMATS, UNREADABLE, kind_of, readable
from sosie.documents.input import DocumentFiles, Entry, Input
from sosie.documents.standard_input import ARGUMENT, LABEL, NAME, spool_standard_input
from sosie.errors import UsageError

# Files that tell a folder that Sosie wrote.
_MARKERS = ("report.json", "manifest.json")
_SPECIAL = {stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


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
        return _walk(argument)
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
        raise UsageError(f"{path}: unknown kind of file. Sosie reads {readable()}.")
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


def _walk(folder: str) -> list[Entry]:
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
                elif (listed := _below(entry, name, folder)) is not None:
                    entries.append(listed)
        except OSError as error:
            raise UsageError(
                f"{error.filename or place}: cannot be listed ({error.strerror}). Check its permissions."
            ) from error
    if not entries:
        raise UsageError(f"{folder}: holds no file that can be read. Sosie reads {readable()}.")
    entries.sort(key=lambda entry: entry.name)
    return entries


def _below(entry: os.DirEntry[str], name: str, folder: str) -> Entry | None:
    form, compression = kind_of(entry.name)
    if entry.is_symlink():
        if form is None and not os.path.isdir(entry.path):
            return None
        problem = "a symbolic link, which is not followed; name what it points to"
        return Entry(entry.path, name, folder, UNREADABLE, None, 0, 0, problem)
    if form is None:
        return None
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISREG(status.st_mode):
        return Entry(entry.path, name, folder, form, compression, status.st_size, status.st_mtime_ns)
    problem = f"{_SPECIAL.get(stat.S_IFMT(status.st_mode), 'something')}, not a regular file"
    return Entry(entry.path, name, folder, UNREADABLE, None, 0, 0, problem)


def _is_output(marker: str) -> bool:
    try:
        with open(marker, "rb") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("sosie")


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
    """Make an input of each file, or of a run of files of one document each in one folder."""
    for (whole, root), run in groupby(enumerate(entries), lambda pair: (_whole(pair[1]), pair[1].root)):
        members = list(run)
        if whole is None:
            for place, entry in members:
                size, time = entry.size, entry.mtime_ns
                title = LABEL if root == ARGUMENT else None
                yield Input(entry.path, names[place], entry.format, entry.compression, size, time, title=title)
            continue
        first, last = members[0][0], members[-1][0] + 1
        files = DocumentFiles(entries[first:last], names[first:last])
        path = entries[first].path if last - first == 1 else root
        yield Input(path, names[first], whole, None, sum(entry.size for entry in files.entries), 0, files)


def _whole(entry: Entry) -> str | None:
    """Return the name of a format whose files are one document each, None for others."""
    form = FORMATS[entry.format]
    return form.name if form.is_whole else None
