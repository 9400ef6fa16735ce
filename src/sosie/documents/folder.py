"""The files below a folder that can be read, in the order of their relative paths; links are not followed."""

from __future__ import annotations

import json
import os
import stat

from sosie.documents.formats import UNREADABLE, kind_of, readable
from sosie.documents.input import Entry
from sosie.errors import UsageError

_MARKERS = ("report.json", "manifest.json")
_SPECIAL = {stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


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
        raise UsageError(f"{folder}: holds no file that can be read. Sosie reads {readable()}.")
    entries.sort(key=lambda entry: entry.name)
    return entries


def _entry(entry: os.DirEntry[str], name: str, folder: str) -> Entry | None:
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
