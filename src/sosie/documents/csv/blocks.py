"""Bytes of a CSV or TSV file in blocks that end at record ends: newlines outside quotes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.documents import blocks
from sosie.documents.blocks import BOM, read_chunks
from sosie.documents.csv.record import CsvHeader, delimiter_of, parse_header, without_return
from sosie.documents.input import Input
from sosie.errors import DataError
from sosie.types import I64

# Beyond this a record is taken for one whose quote is never closed, so that memory stays bounded.
RECORD_BYTES = 256 << 20
_DELIMITERS = (";", "\t", "|", ",")
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True, eq=False)
class CsvBlock:
    """Whole records: record i is `data[starts[i]:ends[i]]`, without its newline; blank lines and the header are none.

    `numbers` are their physical lines in the block, None if record i is on line i. `regular` promises that quotes
    stand only around whole fields, or that no field begins with one.
    """

    data: bytes
    starts: I64
    ends: I64
    numbers: I64 | None
    total: int
    regular: bool
    header: CsvHeader

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, positions: I64) -> CsvBlock:
        """Return a block of these records alone."""
        numbers = positions if self.numbers is None else self.numbers[positions]
        return replace(self, starts=self.starts[positions], ends=self.ends[positions], numbers=numbers, regular=False)


def read_header(source: Input) -> CsvHeader | None:
    """Return the header of a file, None if the file is empty."""
    for block in read_csv(source, 1 << 16):
        return block.header
    return None


def with_delimiter(source: Input, texts: Sequence[str]) -> Input:
    """Return an input with the delimiter by which its header has the wanted columns, itself if there is none such.

    Programs write semicolons where commas are in numbers.
    """
    for delimiter in (None, *_DELIMITERS):
        tried = source if delimiter is None else replace(source, delimiter=delimiter)
        try:
            header = read_header(tried)
        except DataError:
            if delimiter is None:
                return source
            continue
        if header is None or set(texts) <= set(header.names):
            return tried
    return source


def read_csv(
    source: Input, size: int | None = None, watch: Callable[[int], None] = lambda position: None
) -> Iterator[CsvBlock]:
    """Yield the records of a file; a record longer than `size` comes in one larger block.

    A quote that is never closed, or not within `RECORD_BYTES`, spoils its own line only: reading goes on after it.
    """
    source.check_unchanged()
    cutter = _Cutter(source)
    for chunk, position in read_chunks(source, size or blocks.BLOCK_BYTES):
        watch(position)
        yield from cutter.add(chunk)
    yield from cutter.finish()
    source.check_unchanged()


def record_ends(data: bytes, delimiter: bytes) -> tuple[I64, bool]:
    r"""Return the newlines that end records, and whether all quotes are regular (see `CsvBlock`).

    >>> ends, regular = record_ends(b'a,"b\nc"\nd,e\n', b",")
    >>> ends.tolist(), regular
    ([7, 11], True)
    """
    array = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(array == _NEWLINE)
    if b'"' not in data:
        return newlines, True
    quotes = np.flatnonzero(array == _QUOTE)
    before = array[quotes - 1]
    if quotes[0] == 0:
        before[0] = _NEWLINE
    begins = (before == ord(delimiter)) | (before == _NEWLINE)
    if not begins.any():
        return newlines, True
    if _in_pairs(array, quotes, begins, ord(delimiter)):
        return newlines[np.searchsorted(quotes, newlines) % 2 == 0], True
    return _ends_one_by_one(data, delimiter), False


def _in_pairs(array: Any, quotes: I64, begins: Any, delimiter: int) -> bool:
    """Whether quotes open and close in turn: each pair around a field, or around a part of it up to a doubled quote."""
    doubled = np.zeros(len(quotes), bool)
    doubled[1:] = quotes[1:] == quotes[:-1] + 1
    if not np.all((begins | doubled)[::2]):
        return False
    after = quotes[1::2] + 1
    follows = array[after[after < len(array)]]
    return bool(np.all((follows == delimiter) | (follows == _NEWLINE) | (follows == _RETURN) | (follows == _QUOTE)))


@functools.cache
def _record(delimiter: bytes) -> re.Pattern[bytes]:
    """Return a pattern for a record with its newline, whatever its quotes do; it fails where one is not closed."""
    rest = rb"[^%b\n]*+" % delimiter
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"%b|(?!")%b)' % (rest, rest)
    return re.compile(rb"%b(?:%b%b)*+(?:\n|\Z)" % (field, delimiter, field))


def _ends_one_by_one(data: bytes, delimiter: bytes) -> I64:
    match = _record(delimiter).match
    ends, start = [], 0
    while start < len(data) and (found := match(data, start)) is not None:
        start = found.end()
        ends.append(start - 1)
    if ends and data[ends[-1]] != _NEWLINE:
        ends.pop()
    return np.array(ends, np.int64)


class _Cutter:
    """Cuts chunks of any size into blocks of whole records."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._delimiter = delimiter_of(source)
        self._header: CsvHeader | None = None
        self._held: list[bytes] = []
        self._length = 0
        self._wanted = len(BOM)
        self._begun = False
        self._lines = 0
        self._blank = 0

    def add(self, chunk: bytes) -> Iterator[CsvBlock]:
        """Take a chunk; nothing is looked at again before there is twice as much of it."""
        self._held.append(chunk)
        self._length += len(chunk)
        if self._length < self._wanted:
            return
        data = self._joined()
        ends, regular = record_ends(data, self._delimiter)
        if len(ends):
            cut = int(ends[-1]) + 1
            self._hold(data[cut:])
            yield from self._block(data[:cut], ends, regular)
        elif len(data) > RECORD_BYTES:
            yield from self._recover(data)
        else:
            self._hold(data)

    def finish(self) -> Iterator[CsvBlock]:
        """Take what is left as the last records."""
        while data := self._joined():
            self._hold(b"")
            ends, regular = record_ends(data, self._delimiter)
            start = int(ends[-1]) + 1 if len(ends) else 0
            if start < len(data) and _record(self._delimiter).match(data, start):
                ends, start = np.append(ends, len(data)), len(data)
            if len(ends):
                yield from self._block(data[:start], ends, regular)
            if start < len(data):
                yield from self._recover(data[start:])

    def _hold(self, data: bytes) -> None:
        self._held, self._length = [data], len(data)
        self._wanted = min(2 * len(data), RECORD_BYTES + 1)

    def _joined(self) -> bytes:
        data = b"".join(self._held)
        if not self._begun:
            self._begun = True
            data = data.removeprefix(BOM)
        return data

    def _recover(self, data: bytes) -> Iterator[CsvBlock]:
        """Take the first line of the data as a record, though its quote is open, and go on with the next."""
        end = data.find(b"\n")
        if end < 0 and len(data) > RECORD_BYTES:
            raise DataError(
                f"{self._source.path}, line {self._lines + 1}: longer than {RECORD_BYTES >> 20} MiB. "
                "Is this a table of text? Split the line or leave the file out."
            )
        end = len(data) if end < 0 else end
        yield from self._block(data[: end + 1], np.array([end]), regular=False)
        self._hold(b"")
        for start in range(end + 1, len(data), blocks.BLOCK_BYTES):
            yield from self.add(data[start : start + blocks.BLOCK_BYTES])

    def _block(self, data: bytes, ends: I64, regular: bool) -> Iterator[CsvBlock]:
        array = np.frombuffer(data, np.uint8)
        starts = np.zeros(len(ends), np.int64)
        starts[1:] = ends[:-1] + 1
        sizes = ends - starts
        blank = sizes == 0
        single = np.flatnonzero(sizes == 1)
        blank[single] = array[starts[single]] == _RETURN
        if blank.any():
            starts, ends = starts[~blank], ends[~blank]
        newlines = np.flatnonzero(array == _NEWLINE)
        total = len(newlines) + int(array[-1] != _NEWLINE)
        numbers = np.searchsorted(newlines, starts)
        if self._header is None and len(starts):
            start, end = int(starts[0]), int(ends[0])
            record = without_return(data[start:end])
            line_end = data[start + len(record) : end] + b"\n"
            self._header = parse_header(self._source, record, line_end, self._lines + int(numbers[0]) + 1)
            starts, ends, numbers = starts[1:], ends[1:], numbers[1:]
        self._lines += total
        if self._header is None:
            self._blank += total
            return
        numbers, total, self._blank = numbers + self._blank, total + self._blank, 0
        yield CsvBlock(data, starts, ends, numbers if len(numbers) < total else None, total, regular, self._header)
