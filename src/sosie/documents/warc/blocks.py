"""Records of a WARC file in blocks, broken ones included: where each is, and the documents among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa

from sosie.documents import blocks
from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.input import Input
from sosie.documents.warc.headers import HEAD_BYTES, BrokenRecordError, read_head, read_id, too_large
from sosie.documents.warc.members import MAGIC, MEMBERS, Member
from sosie.documents.warc.payload import read_text
from sosie.errors import DataError
from sosie.types import I64

_RECORDS = 4096
_CHUNK = 64 << 10


@dataclass(frozen=True, slots=True)
class Span:
    """A record: where its bytes are in the file, and what they say once unpacked, if it is a document.

    A record with a problem counts as a document: nobody knows that it is none.
    """

    start: int
    end: int
    record: bytes = b""
    problem: str | None = None

    @property
    def is_document(self) -> bool:
        """Whether the record has a document number."""
        return bool(self.record) or self.problem is not None


@dataclass(frozen=True, eq=False)
class WarcBlock:
    """Consecutive records; record `numbers[i]` of the block, counted from 0, is document i.

    `most` is how many bytes there may be of a record once it is unpacked.
    """

    spans: list[Span]
    numbers: I64
    most: int

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, positions: I64) -> WarcBlock:
        """Return a block of these documents alone."""
        chosen = [self.spans[number] for number in self.numbers[positions].tolist()]
        return WarcBlock(chosen, np.arange(len(chosen)), self.most)


def read_warc(source: Input, watch: Callable[[int], None] = lambda position: None) -> Iterator[WarcBlock]:
    """Yield the records of a file, several at a time; `watch` is told how far in the file reading has come."""
    source.check_unchanged()
    spans: list[Span] = []
    held = 0
    for span in _spans(source):
        spans.append(span)
        held += len(span.record)
        if held >= blocks.BLOCK_BYTES or len(spans) == _RECORDS:
            watch(span.end)
            yield _block(spans, source)
            spans, held = [], 0
    watch(source.size)
    if spans:
        yield _block(spans, source)
    source.check_unchanged()


def decode_warc(block: WarcBlock, columns: Columns) -> Records:
    """Extract the texts; ids, where there are some, are the record ids."""
    texts, ids = [], []
    problems: dict[int, str] = {}
    for position, number in enumerate(block.numbers.tolist()):
        span, text, name = block.spans[number], "", ""
        try:
            if span.problem is not None:
                raise BrokenRecordError(span.problem)
            name = read_id(span.record) if columns.id is not None else ""
            text = read_text(span.record, columns.html, block.most)
        except BrokenRecordError as error:
            problems[position] = str(error)
        texts.append(text)
        ids.append(name)
    count = len(block)
    named = None if columns.id is None else pa.array(ids, pa.large_string())
    records = Records(
        count, pa.array(texts, pa.large_string()), named, np.arange(count), {}, block.numbers, len(block.spans)
    )
    return records.without(problems)


def _block(spans: list[Span], source: Input) -> WarcBlock:
    return WarcBlock(spans, np.flatnonzero([span.is_document for span in spans]), source.max_record)


def _spans(source: Input) -> Iterator[Span]:
    """Walk over the file; after a broken record reading goes on where the next one seems to begin."""
    kind = MEMBERS[source.compression]
    expanded = 0

    def tally(count: int) -> None:
        nonlocal expanded
        expanded += count
        source.check_expansion(expanded)

    try:
        with source.open(_CHUNK) as file:
            start = 0
            while start < source.size:
                try:
                    member = kind(file, start, source.max_record)
                    member.tally = tally
                    span = _span(member, start, source.max_record)
                except BrokenRecordError as error:
                    span = Span(start, _resume(kind, file, start + 1, source), problem=str(error))
                yield span
                start = span.end
    except OSError as error:
        raise DataError(
            f"{source.path}: cannot be read ({error.strerror}). Restore the file or leave it out."
        ) from error


def _span(member: Member, start: int, most: int) -> Span:
    first = member.peek(HEAD_BYTES)
    if not first:
        return Span(start, member.finish())
    head = read_head(first)
    size = head.size + head.length
    is_too_large = size > most
    record = member.read(size) if head.is_document and not is_too_large else b""
    found = len(record) or member.skip(size)
    if found < size:
        raise BrokenRecordError(f"cut short: {found} of {size} bytes")
    return Span(start, member.finish(), record, str(too_large(most)) if head.is_document and is_too_large else None)


def _resume(kind: type[Member], file: IO[bytes], start: int, source: Input) -> int:
    """Return where the next record begins, the end of the file if there is none."""
    for found in _occurrences(kind.MARKER, file, max(0, start - kind.LEAD)):
        try:
            if kind(file, found + kind.LEAD, source.max_record).read(len(MAGIC)) == MAGIC:
                return found + kind.LEAD
        except BrokenRecordError:
            continue
    return source.size


def _occurrences(marker: bytes, file: IO[bytes], start: int) -> Iterator[int]:
    while True:
        file.seek(start)
        chunk = file.read(_CHUNK)
        at = chunk.find(marker)
        if at >= 0:
            yield start + at
            start += at + 1
        elif len(chunk) < _CHUNK:
            return
        else:
            start += _CHUNK - len(marker) + 1
