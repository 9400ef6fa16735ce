"""Bytes of a CSV or TSV file in blocks that end at record ends: newlines outside quotes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sosie.documents import blocks
from sosie.documents.blocks import BOM, MOST_RECORDS, read_chunks
from sosie.documents.csv.record import CsvHeader, delimiter_of, parse_header, without_return
from sosie.documents.input import Input
from sosie.errors import DataError
from sosie.types import I64

HEADER_BYTES = 16 << 20
# Quotes and newlines that are looked at side by side: so many take some 200 MB.
_MARKS = 1 << 22
_DELIMITERS = (";", "\t", "|", ",")
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True, eq=False)
class CsvBlock:
    """Whole records: record i is `data[starts[i]:ends[i]]`, without its newline; blank lines and the header are none.

    `numbers` are their physical lines in the block, None if record i is on line i. `regular` promises that quotes
    stand only around whole fields, or that no field begins with one. With a `problem`, this is one record that there is
    no memory for, or the first line of it.
    """

    data: bytes
    starts: I64
    ends: I64
    numbers: I64 | None
    total: int
    regular: bool
    header: CsvHeader
    problem: str | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, positions: I64) -> CsvBlock:
        """Return a block of these records alone."""
        numbers = positions if self.numbers is None else self.numbers[positions]
        return replace(self, starts=self.starts[positions], ends=self.ends[positions], numbers=numbers, regular=False)


def read_header(source: Input) -> CsvHeader | None:
    """Return the header of a file, None if the file is empty."""
    for block in read_csv(replace(source, max_record=min(source.max_record, HEADER_BYTES)), 1 << 16):
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

    A quote that is never closed, or not within the `max_record` of the source, spoils its own line only: reading goes
    on after it. So does a line that is longer.
    """
    source.check_unchanged()
    cutter = _Cutter(source)
    for chunk, position in read_chunks(source, size or blocks.BLOCK_BYTES):
        watch(position)
        yield from cutter.add(chunk)
    yield from cutter.finish()
    source.check_unchanged()


def csv_blocks_at(source: Input, places: Sequence[float], size: int) -> Iterator[tuple[CsvBlock, int]]:
    """Yield whole records of about `size` bytes from some places of a file that is not packed, each with its length.

    A place may lie inside quotes, where newlines end no record: then the quotes around it are not regular, as a rule,
    and nothing is yielded.
    """
    header = read_header(source)
    if header is None:
        return
    with source.open() as file:
        for place in places:
            start = int(place * source.size)
            file.seek(start)
            data = file.read(size)
            data = data[data.find(b"\n") + 1 :]
            ends, regular = record_ends(data, header.delimiter)
            if not len(ends) or not regular:
                continue
            data = data[: int(ends[-1]) + 1]
            starts = np.zeros(len(ends), np.int64)
            starts[1:] = ends[:-1] + 1
            stay = ends > starts
            yield CsvBlock(data, starts[stay], ends[stay], None, int(stay.sum()), regular, header), len(data)
    source.check_unchanged()


def record_ends(data: bytes, delimiter: bytes) -> tuple[I64, bool]:
    r"""Return the newlines that end records, and whether all quotes are regular (see `CsvBlock`).

    >>> ends, regular = record_ends(b'a,"b\nc"\nd,e\n', b",")
    >>> ends.tolist(), regular
    ([7, 11], True)
    """
    if data.count(b"\n") + data.count(b'"') > _MARKS:
        return _ends_one_by_one(data, delimiter), False
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
        self._begun = self._is_long = False
        self._lines = 0
        self._blank = 0

    def add(self, chunk: bytes) -> Iterator[CsvBlock]:
        """Take a chunk; nothing is looked at again before there is twice as much of it."""
        if self._is_long:
            end = chunk.find(b"\n")
            if end < 0:
                return
            yield from self._long()
            chunk = chunk[end + 1 :]
        self._held.append(chunk)
        self._length += len(chunk)
        if self._length < self._wanted:
            return
        data = self._joined()
        ends, regular = record_ends(data, self._delimiter)
        if len(ends):
            cut = int(ends[-1]) + 1
            self._hold(data[cut:])
            yield from self._blocks(data[:cut], ends, regular)
        elif len(data) > self._source.max_record:
            yield from self._recover(data)
        else:
            self._hold(data)

    def finish(self) -> Iterator[CsvBlock]:
        """Take what is left as the last records."""
        if self._is_long:
            yield from self._long()
        while data := self._joined():
            self._hold(b"")
            ends, regular = record_ends(data, self._delimiter)
            start = int(ends[-1]) + 1 if len(ends) else 0
            if start < len(data) and _record(self._delimiter).match(data, start):
                ends, start = np.append(ends, len(data)), len(data)
            if len(ends):
                yield from self._blocks(data[:start], ends, regular)
            if start < len(data):
                yield from self._recover(data[start:])

    def _hold(self, data: bytes) -> None:
        self._held, self._length = [data], len(data)
        self._wanted = min(2 * len(data), self._source.max_record + 1)

    def _joined(self) -> bytes:
        data = b"".join(self._held)
        if not self._begun:
            self._begun = True
            data = data.removeprefix(BOM)
        return data

    def _recover(self, data: bytes) -> Iterator[CsvBlock]:
        """Take the first line of the data as a record, though its quote is open, and go on with the next."""
        end, is_long = data.find(b"\n"), len(data) > self._source.max_record
        if end < 0 and is_long:
            self._hold(b"")
            self._is_long = True
            return
        end = len(data) if end < 0 else end
        problem = f"a quote that is not closed, or a record {self._source.too_long}" if is_long else None
        yield from self._block(data[: end + 1], np.array([end]), False, problem)
        self._hold(b"")
        for start in range(end + 1, len(data), blocks.BLOCK_BYTES):
            yield from self.add(data[start : start + blocks.BLOCK_BYTES])

    def _long(self) -> Iterator[CsvBlock]:
        """Let a few bytes stand for a line that was passed over."""
        self._is_long = False
        yield from self._block(b"-\n", np.array([1]), False, f"a line {self._source.too_long}")

    def _blocks(self, data: bytes, ends: I64, regular: bool) -> Iterator[CsvBlock]:
        """Cut very many records into several blocks."""
        start = 0
        for first in range(0, len(ends), MOST_RECORDS):
            some = ends[first : first + MOST_RECORDS]
            stop = min(int(some[-1]) + 1, len(data))
            yield from self._block(data if len(some) == len(ends) else data[start:stop], some - start, regular)
            start = stop

    def _block(self, data: bytes, ends: I64, regular: bool, problem: str | None = None) -> Iterator[CsvBlock]:
        array = np.frombuffer(data, np.uint8)
        starts = np.zeros(len(ends), np.int64)
        starts[1:] = ends[:-1] + 1
        sizes = ends - starts
        blank = sizes == 0
        single = np.flatnonzero(sizes == 1)
        blank[single] = array[starts[single]] == _RETURN
        if blank.any():
            starts, ends = starts[~blank], ends[~blank]
        total = data.count(b"\n") + int(array[-1] != _NEWLINE)
        numbers = _newlines_before(data, starts)
        if self._header is None and len(starts):
            start, end = int(starts[0]), int(ends[0])
            if problem is not None:
                line = self._lines + int(numbers[0]) + 1
                raise DataError(
                    f"{self._source.path}, line {line}: the header has {problem}. Write the names of the columns there."
                )
            record = without_return(data[start:end])
            line_end = data[start + len(record) : end] + b"\n"
            self._header = parse_header(self._source, record, line_end, self._lines + int(numbers[0]) + 1)
            starts, ends, numbers = starts[1:], ends[1:], numbers[1:]
        self._lines += total
        if self._header is None:
            self._blank += total
            return
        numbers, total, self._blank = numbers + self._blank, total + self._blank, 0
        known = numbers if len(numbers) < total else None
        yield CsvBlock(data, starts, ends, known, total, regular, self._header, problem)


def _newlines_before(data: bytes, starts: I64) -> I64:
    """Return how many newlines there are before each of some places, which ascend."""
    if data.count(b"\n") <= _MARKS:
        return np.searchsorted(np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE), starts)
    between = [data.count(b"\n", *span) for span in pairwise([0, *starts.tolist()])]
    return np.cumsum(np.array(between, np.int64))
