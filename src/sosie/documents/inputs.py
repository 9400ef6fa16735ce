"""Which files are read, in which order, and what each is called: paths, globs and folders to inputs."""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from sosie.documents.formats import CHOICES, FORMATS, STANDARD_INPUT, UNREADABLE, format_of, kind_of, readable
from sosie.documents.input import DocumentFiles, Entry, Input, Inputs
from sosie.documents.places.remote import RemoteFile, is_url, list_url, local_path
from sosie.documents.places.saved import saved_files
from sosie.documents.places.selection import FileOptions, Selection
from sosie.documents.settle import settled
from sosie.documents.standard_input import ARGUMENT, LABEL, STANDARD, spool_standard_input
from sosie.errors import UsageError

_SCHEME = re.compile(r"://|::|/{2,}")
# Files that tell a folder that Sosie wrote.
_MARKERS = ("report.json", "manifest.json")
_SPECIAL = {stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def list_inputs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], options: FileOptions | None = None
) -> Inputs:
    """Expand paths, globs, folders and URLs: files of one of them are sorted, the order of the arguments is kept.

    The path "-" is standard input. Folders inside a folder that Sosie wrote are passed over, which is said.
    """
    options = options or FileOptions()
    arguments = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not arguments:
        raise UsageError("no input: give at least one file, glob or folder")
    listing = _Listing(options)
    entries = [entry for argument in arguments for entry in listing.expand(local_path(os.fspath(argument)))]
    listing.selection.check()
    _check_distinct(entries)
    inputs = [_with_options(source, options) for source in _inputs(entries, _names(entries))]
    _check_options(inputs, options)
    named = {STANDARD if entry.root == ARGUMENT else entry.path for entry in entries if entry.is_named}
    listing.selection.tell()
    return Inputs(settled(inputs, named, options.texts), listing.selection.passed_over)


class _Listing:
    """Lists the files that are wanted, each in the format that its name or an option says."""

    def __init__(self, options: FileOptions) -> None:
        if options.format is not None and options.format not in CHOICES:
            raise UsageError(f"the format must be one of {', '.join(CHOICES)}, got {options.format!r}")
        self.format = options.format
        self.selection = Selection(options.include, options.exclude, strict=options.strict)

    def expand(self, argument: str) -> list[Entry]:
        """Return the files that an argument leads to."""
        if argument == ARGUMENT:
            return [spool_standard_input(self.format or STANDARD_INPUT)]
        if is_url(argument):
            return self._expand_url(argument)
        if os.path.isdir(argument):
            return self._walk(argument)
        if os.path.lexists(argument):
            return [self._entry(argument)]
        folder = _literal(argument)  # what exists is a path before it is a pattern
        rest = argument[len(folder) :]
        if not glob.has_magic(rest):
            raise UsageError(f"{argument}: no such file. Check the path.")
        found = glob.glob(glob.escape(folder) + rest, recursive=True)
        files = sorted(file for file in found if not os.path.isdir(file))
        if not files:
            raise UsageError(f"{argument}: matches no file. Check the pattern, or quote it if the shell expands it.")
        root = (folder + rest[: next(at for at, letter in enumerate(rest) if letter in "*?[")]).rpartition("/")[0]
        chosen = [file for file in files if self._chooses(os.path.relpath(file, root or "."))]
        if not chosen:
            raise UsageError(f"{argument}: --include and --exclude leave none of its {len(files):,} files.")
        return [self._entry(file) for file in chosen]

    def _kind(self, name: str) -> tuple[str | None, str | None]:
        return kind_of(name, self.format)

    def _chooses(self, name: str) -> bool:
        if not self.selection.admits(name):
            return False
        self.selection.note(name, self._kind(name)[0] is not None)
        return True

    def _entry(self, path: str) -> Entry:
        form, compression = self._kind(path)
        if form is None:
            raise _unknown(path)
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{path}: is not a regular file. Inputs are read twice: write it to a file first.")
            with open(path, "rb"):
                pass
        except OSError as error:
            raise UsageError(
                f"{path}: cannot be opened ({error.strerror}). Check the path and its permissions."
            ) from error
        root, name = os.path.dirname(path) or ".", os.path.basename(path)
        return Entry(path, name, root, form, compression, status.st_size, status.st_mtime_ns, is_named=True)

    def _expand_url(self, url: str) -> list[Entry]:
        root, files = list_url(url)
        if len(files) == 1 and files[0].url == url:
            form, compression = self._kind(files[0].name)
            if form is None:
                raise _unknown(url)
            return [Entry(url, files[0].name, root, form, compression, files[0].size, files[0].stamp, is_named=True)]
        entries = [entry for file in _of_saved_datasets(root, files) if (entry := self._remote(file, root)) is not None]
        if not entries:
            raise UsageError(f"{url}: holds no file that can be read. {_advice()}")
        return entries

    def _remote(self, file: RemoteFile, root: str) -> Entry | None:
        form, compression = self._kind(file.name)
        if any(part.startswith(".") for part in file.name.split("/")) or not self._chooses(file.name) or form is None:
            return None
        return Entry(file.url, file.name, root, form, compression, file.size, file.stamp)

    def _walk(self, folder: str) -> list[Entry]:
        """List the files below a folder whose suffix is known.

        Names that begin with a dot, other suffixes, what is not wanted, and folders inside that Sosie wrote are passed
        over; of a saved dataset only the rows are listed. Links and what is not a regular file are listed with a
        problem.
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
                    self.selection.passed_over.append(place.rstrip("/"))
                    continue
                rows = saved_files(place.rstrip("/"), {entry.name for entry in found})
                for entry in found:
                    name = prefix + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if not self.selection.excludes(name):
                            waiting.append(name + "/")
                    elif rows is not None and entry.name not in rows:
                        continue
                    elif (listed := self._below(entry, name, folder)) is not None:
                        entries.append(listed)
            except OSError as error:
                raise UsageError(
                    f"{error.filename or place}: cannot be listed ({error.strerror}). Check its permissions."
                ) from error
        if not entries:
            self.selection.check()
            self.selection.tell()
            raise UsageError(f"{folder}: holds no file that can be read. {_advice()}")
        entries.sort(key=lambda entry: entry.name)
        return entries

    def _below(self, entry: os.DirEntry[str], name: str, folder: str) -> Entry | None:
        form, compression = self._kind(entry.name)
        if not self._chooses(name):
            return None
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


def _literal(argument: str) -> str:
    """Return the longest folder that a path begins with; nothing if there is none."""
    while argument and not os.path.isdir(argument):
        argument = os.path.dirname(argument)
    return argument


def _unknown(path: str) -> UsageError:
    return UsageError(f"{path}: unknown kind of file. {_advice()}")


def _advice() -> str:
    return f"Sosie reads {readable()}. Other files: --format text reads each as one document."


def _of_saved_datasets(root: str, files: list[RemoteFile]) -> Iterator[RemoteFile]:
    """Leave out what does not hold rows in folders that are saved datasets."""
    folders: dict[str, list[RemoteFile]] = {}
    for file in files:
        folders.setdefault(file.url.rpartition("/")[0], []).append(file)
    for folder, inside in folders.items():
        rows = saved_files(folder, {file.url.rpartition("/")[2] for file in inside})
        yield from (file for file in inside if rows is None or file.url.rpartition("/")[2] in rows)


def _with_options(source: Input, options: FileOptions) -> Input:
    """Return an input with the options that its format reads."""
    read = {name: getattr(options, name) for name in format_of(source).options}
    return replace(source, max_expansion=options.max_expansion, **read)


def _check_options(inputs: list[Input], options: FileOptions) -> None:
    """Refuse an option that no input reads."""
    for name in ("delimiter", "encoding") if options.strict else ():
        if getattr(options, name) is not None and not any(name in format_of(source).options for source in inputs):
            forms = [form.name for form in dict.fromkeys(FORMATS.values()) if name in form.options]
            raise UsageError(f"--{name} is for {', '.join(forms)}, and there is none among the inputs. Leave it out.")


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
        if is_url(entry.path):
            if entry.path in seen:
                raise UsageError(f"{entry.path}: the same file is given twice. Name it once.")
            seen[entry.path] = entry.path
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
    for piped in (entry.name for entry in entries if entry.root == ARGUMENT):
        if names.count(piped) > 1:
            raise UsageError(f"{STANDARD}: is called {piped}, and another input too. Give it once, or rename the file.")
    absolute = [_absolute(entry) for entry in entries if entry.root != ARGUMENT]
    parent = os.path.commonpath([os.path.dirname(file) for file in absolute])
    relative = iter(os.path.relpath(file, parent) for file in absolute)
    return [entry.name if entry.root == ARGUMENT else next(relative) for entry in entries]


def _absolute(entry: Entry) -> str:
    """Return a path that tells a file from all others; of a URL the server and the path."""
    return "/" + _SCHEME.sub("/", entry.path) if is_url(entry.path) else os.path.abspath(entry.path)


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
                made = Input(entry.path, names[place], entry.format, entry.compression, size, time)
                yield _piped(made) if root == ARGUMENT else made
            continue
        first, last = members[0][0], members[-1][0] + 1
        files = DocumentFiles(entries[first:last], names[first:last])
        path = entries[first].path if last - first == 1 else root
        made = Input(path, names[first], whole, None, sum(entry.size for entry in files.entries), 0, files)
        yield _piped(made) if root == ARGUMENT else made


def _piped(made: Input) -> Input:
    """Return an input of the copy of standard input as what people take it for."""
    return replace(made, path=STANDARD, spool=made.path, title=LABEL)


def _whole(entry: Entry) -> str | None:
    """Return the name of a format whose files are one document each, None for others."""
    form = FORMATS[entry.format]
    return form.name if form.is_whole else None
