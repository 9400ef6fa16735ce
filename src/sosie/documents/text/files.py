"""Files that hold one document each: many small ones, read as one stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents import blocks
from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.html import PageError, read_page
from sosie.documents.input import DocumentFiles, Entry, Input
from sosie.errors import DataError
from sosie.types import I64

# What `Entry.format` says of a page.
HTML = "html"
_FILES = 4096
# A fifo that has taken the place of a file must not block.
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, eq=False)
class TextBlock:
    """The contents of consecutive files, with their labels; empty where `problems` has the position.

    `pages[i]` says whether file i is HTML.
    """

    first: int
    contents: list[bytes]
    labels: Any
    problems: dict[int, str]
    pages: list[bool]

    def __len__(self) -> int:
        return len(self.contents)

    def take(self, positions: I64) -> TextBlock:
        """Return a block of these files alone."""
        chosen = positions.tolist()
        problems = {place: self.problems[at] for place, at in enumerate(chosen) if at in self.problems}
        contents, pages = [self.contents[at] for at in chosen], [self.pages[at] for at in chosen]
        return TextBlock(self.first, contents, self.labels.take(pa.array(chosen, pa.int64())), problems, pages)


def files_of(source: Input) -> DocumentFiles:
    """Return the files of an input of text files."""
    assert source.files is not None
    return source.files


def read_texts(files: DocumentFiles, watch: Callable[[int], None] = lambda position: None) -> Iterator[TextBlock]:
    """Yield the contents of the files, several at a time; one that is not as it was listed is an error."""
    first = position = held = 0
    contents: list[bytes] = []
    problems: dict[int, str] = {}
    pages: list[bool] = []
    for entry in files.entries:
        pages.append(entry.format == HTML)
        if entry.problem is None:
            contents.append(_content(entry))
        else:
            problems[len(contents)] = entry.problem
            contents.append(b"")
        held += len(contents[-1])
        if held >= blocks.BLOCK_BYTES or len(contents) == _FILES:
            position += held
            watch(position)
            yield TextBlock(first, contents, files.labels[first : first + len(contents)], problems, pages)
            first, held, contents, problems, pages = first + len(contents), 0, [], {}, []
    if contents:
        watch(position + held)
        yield TextBlock(first, contents, files.labels[first : first + len(contents)], problems, pages)


def decode_texts(block: TextBlock, columns: Columns) -> Records:
    """Check the texts, extract the pages; ids, where they are read from a column elsewhere, are the files' names."""
    problems = dict(block.problems)
    contents = []
    for position, (content, is_page) in enumerate(zip(block.contents, block.pages, strict=True)):
        try:
            contents.append(read_page(content, columns.html).encode() if is_page else content.removeprefix(blocks.BOM))
        except PageError as error:
            problems[position] = str(error)
            contents.append(b"")
        if not is_page and b"\0" in content:
            problems[position] = f"a NUL byte (byte {content.index(0) + 1} of the file): not text"
    offsets = np.zeros(len(contents) + 1, np.int64)
    np.cumsum([len(content) for content in contents], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(contents))]
    texts = pa.Array.from_buffers(pa.large_string(), len(contents), buffers)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        for position, (content, is_page) in enumerate(zip(block.contents, block.pages, strict=True)):
            try:
                content.decode("utf-8", "replace" if is_page else "strict")
            except UnicodeDecodeError as error:
                encoding = blocks.foreign_encoding(content)
                place = (
                    f"{encoding} by its byte order mark; convert it"
                    if encoding
                    else f"byte {error.start + 1} of the file"
                )
                problems[position] = f"invalid UTF-8 ({place})"
    ids = None if columns.id is None else block.labels
    order = None if columns.order is None else pa.nulls(len(contents), pa.int64())
    count = len(contents)
    records = Records(count, texts, ids, np.arange(count), {}, None, count, order=order)
    records = records.without(dict(sorted(problems.items())))
    # Beside integer ids there is nothing but problems here, and so no name.
    return records if ids is None else replace(records, ids=records.ids.cast(columns.id_type))


def _content(entry: Entry) -> bytes:
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
