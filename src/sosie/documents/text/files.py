"""Files that hold one document each: many small ones, read as one stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents import blocks
from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.html import PageError, read_page
from sosie.documents.input import MAX_FILE, DocumentFiles, Entry, Input
from sosie.documents.places.remote import is_url, open_file, size_and_stamp
from sosie.errors import DataError, UsageError
from sosie.parallel import ordered_map
from sosie.storage.size import show_size
from sosie.types import I64

# What `Entry.format` says of a page.
HTML = "html"
_FILES = 4096
_REMOTE = 16  # files that are fetched from a server at a time
# A fifo that has taken the place of a file must not block.
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, eq=False)
class TextBlock:
    """The contents of consecutive files, with their labels; empty where `problems` has the position.

    `pages[i]` says whether file i is HTML. `encoding` is that of the others, None for UTF-8.
    """

    first: int
    contents: list[bytes]
    labels: Any
    problems: dict[int, str]
    pages: list[bool]
    encoding: str | None = None

    def __len__(self) -> int:
        return len(self.contents)

    def take(self, positions: I64) -> TextBlock:
        """Return a block of these files alone."""
        chosen = positions.tolist()
        problems = {place: self.problems[at] for place, at in enumerate(chosen) if at in self.problems}
        contents, pages = [self.contents[at] for at in chosen], [self.pages[at] for at in chosen]
        labels = self.labels.take(pa.array(chosen, pa.int64()))
        return TextBlock(self.first, contents, labels, problems, pages, self.encoding)


def files_of(source: Input) -> DocumentFiles:
    """Return the files of an input of text files."""
    assert source.files is not None
    return source.files


def read_texts(
    files: DocumentFiles, most: int = MAX_FILE, watch: Callable[[int], None] = lambda position: None
) -> Iterator[TextBlock]:
    """Yield the contents of the files, several at a time; one that is not as it was listed is an error.

    One of more than `most` bytes is not read.
    """
    first = position = held = 0
    contents: list[bytes] = []
    problems: dict[int, str] = {}
    pages: list[bool] = []
    for entry, content in _contents([_readable(entry, most) for entry in files.entries]):
        pages.append(entry.format == HTML)
        if entry.problem is not None:
            problems[len(contents)] = entry.problem
        contents.append(content)
        held += len(contents[-1])
        if held >= blocks.BLOCK_BYTES or len(contents) == _FILES:
            position += held
            watch(position)
            yield TextBlock(first, contents, files.labels[first : first + len(contents)], problems, pages)
            first, held, contents, problems, pages = first + len(contents), 0, [], {}, []
    if contents:
        watch(position + held)
        yield TextBlock(first, contents, files.labels[first : first + len(contents)], problems, pages)


def texts_at(
    files: DocumentFiles, places: Sequence[float], size: int, source: Input
) -> Iterator[tuple[TextBlock, int]]:
    """Yield files of about `size` bytes together from each of some places in their list, and how long they are."""
    done = 0
    for place in places:
        start = stop = max(int(place * len(files.entries)), done)
        held = 0
        while stop < len(files.entries) and (held < size or stop == start) and stop - start < _FILES:
            held += files.entries[stop].size
            stop += 1
        done = stop
        some = DocumentFiles(files.entries[start:stop], files.names[start:stop])
        for block in read_texts(some, source.max_file):
            yield replace(block, encoding=source.encoding), sum(map(len, block.contents))


def decode_texts(block: TextBlock, columns: Columns) -> Records:
    """Check the texts, extract the pages; ids, where they are read from a column elsewhere, are the files' names."""
    problems = dict(block.problems)
    contents = []
    for position, (content, is_page) in enumerate(zip(block.contents, block.pages, strict=True)):
        try:
            text = read_page(content, columns.html).encode() if is_page else _plain(content, block.encoding)
        except (PageError, _UndecodableError) as error:
            problems[position] = str(error)
            text = b""
        contents.append(text)
        if not is_page and b"\0" in text:
            problems[position] = f"a NUL byte (byte {content.index(0) + 1} of the file): not text"
    offsets = np.zeros(len(contents) + 1, np.int64)
    np.cumsum([len(content) for content in contents], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(contents))]
    texts = pa.Array.from_buffers(pa.large_string(), len(contents), buffers)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        for position, content in enumerate(contents):
            try:
                content.decode("utf-8")
            except UnicodeDecodeError as error:
                encoding = blocks.foreign_encoding(content)
                place = f"byte {error.start + 1} of the file"
                if encoding:
                    place = f"{encoding} by its byte order mark; pass --encoding {encoding.lower()}, or convert it"
                problems[position] = f"invalid UTF-8 ({place})"
    ids = None if columns.id is None else block.labels
    order = None if columns.order is None else pa.nulls(len(contents), pa.int64())
    count = len(contents)
    records = Records(count, texts, ids, np.arange(count), {}, None, count, order=order)
    records = records.without(dict(sorted(problems.items())))
    # Beside integer ids there is nothing but problems here, and so no name.
    return records if ids is None else replace(records, ids=records.ids.cast(columns.id_type))


class _UndecodableError(Exception):
    """A text that is not of its encoding; the message says where."""


def _plain(content: bytes, encoding: str | None) -> bytes:
    """Return the content of a text file as UTF-8, as far as it is known to be."""
    if encoding is None:
        return content.removeprefix(blocks.BOM)
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        place = f"byte {error.start + 1} of the file" if isinstance(error, UnicodeDecodeError) else str(error)
        raise _UndecodableError(f"invalid {encoding} ({place})") from error


def _readable(entry: Entry, most: int) -> Entry:
    """Return an entry that says so if it has more bytes than there is memory for."""
    if entry.problem is not None or entry.size <= most:
        return entry
    sizes = f"a file of {show_size(entry.size)}; there is memory for {show_size(most)}"
    return replace(entry, problem=f"{sizes}: allow more with --memory, or split it")


def _contents(entries: list[Entry]) -> Iterator[tuple[Entry, bytes]]:
    """Yield files with their contents; from servers several are fetched at a time: each answer is waited for."""
    if any(is_url(entry.path) for entry in entries):
        yield from ordered_map(lambda entry: (entry, _content(entry)), entries, _REMOTE)
    else:
        yield from ((entry, _content(entry)) for entry in entries)


def _content(entry: Entry) -> bytes:
    if entry.problem is not None:
        return b""
    if is_url(entry.path):
        return _remote_content(entry)
    try:
        descriptor = os.open(entry.path, _FLAGS)
        try:
            status = os.fstat(descriptor)
            same = (status.st_size, status.st_mtime_ns) == (entry.size, entry.mtime_ns)
            content = os.read(descriptor, entry.size + 1) if same else b""
            while same and len(content) < entry.size and (more := os.read(descriptor, entry.size - len(content))):
                content += more
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        raise DataError(f"{entry.path}: disappeared while it was being read ({error.strerror}). Run again.") from error
    except OSError as error:
        raise DataError(
            f"{entry.path}: cannot be read ({error.strerror}). Restore the file or leave it out."
        ) from error
    if not same or len(content) != entry.size:
        raise DataError(f"{entry.path}: changed while it was being read. Run again when nothing writes to it.")
    return content


def _remote_content(entry: Entry) -> bytes:
    try:
        with open_file(entry.path) as file:
            content = file.read(entry.size + 1)
        same = size_and_stamp(entry.path) == (entry.size, entry.mtime_ns)
    except (OSError, UsageError) as error:
        raise DataError(f"{entry.path}: cannot be read ({error}). Run again, or leave it out.") from error
    if not same or len(content) != entry.size:
        raise DataError(f"{entry.path}: changed while it was being read. Run again when nothing writes to it.")
    return content
