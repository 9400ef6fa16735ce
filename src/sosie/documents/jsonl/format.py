"""JSON lines and JSON arrays as formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sosie.documents.batch import Records
from sosie.documents.columns import Columns, Parsed
from sosie.documents.format import STREAMS, Format, Probe
from sosie.documents.input import Input
from sosie.documents.jsonl.array import ArrayBlock, read_array, settle_json
from sosie.documents.jsonl.array_write import split_array
from sosie.documents.jsonl.blocks import find_lines, lines_at, read_blocks
from sosie.documents.jsonl.decode import bad_record, decode_block
from sosie.documents.jsonl.record import Members, members_of, parse_line
from sosie.documents.jsonl.write import split_lines
from sosie.documents.share import Share
from sosie.types import I64

_PROBE_BYTES = 1 << 16


class JsonLines(Format[bytes]):
    """A piece is a block of whole lines."""

    name = "jsonl"
    suffixes: ClassVar = {".jsonl": "jsonl", ".ndjson": "jsonl"}
    remark = "one object per line"
    compressions = STREAMS
    options = ("encoding",)
    unit = "line"

    def probe(self, source: Input) -> Probe:
        """Every object has members of its own."""
        return Probe(samples=lambda: map(SampleLine.of, _lines(source)))

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[bytes]:
        """Yield blocks of lines."""
        return read_blocks(source, watch=watch)

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[bytes, int]] | None:
        """Yield lines from some places of a file that is neither packed nor in another encoding."""
        return None if source.compression or source.encoding else lines_at(source, places, size)

    def held(self, piece: bytes) -> int:
        """Return the size of a piece."""
        return len(piece)

    def decode(self, piece: bytes, columns: Columns) -> Records:
        """Decode a block of lines."""
        return decode_block(piece, columns)

    def fetch(self, piece: bytes, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode a block of the wanted lines alone."""
        lines = find_lines(piece)
        inside = wanted[wanted < len(lines)]
        block = b"\n".join([piece[lines.starts[line] : lines.ends[line]] for line in inside.tolist()])
        return len(lines), [(inside, decode_block(block, columns))] if block else []

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Copy lines, or put members into their objects."""
        return split_lines(share, threads, advance)


class JsonArray(Format[ArrayBlock]):
    """A piece is a block of whole elements; a file that holds JSON lines instead is read as such."""

    name = "json"
    suffixes: ClassVar = {".json": "json"}
    remark = "an array of objects, or one object per line"
    compressions = STREAMS
    options = ("encoding",)
    unit = "object"

    def settle(self, source: Input, texts: Sequence[str]) -> Input:
        """See whether the file is an array."""
        return settle_json(source, texts)

    def probe(self, source: Input) -> Probe:
        """Every object has members of its own."""
        return Probe(samples=lambda: map(SampleLine.of, _elements(source)))

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[ArrayBlock]:
        """Yield blocks of elements."""
        return read_array(source, watch=watch)

    def held(self, piece: ArrayBlock) -> int:
        """Return the size of a piece."""
        return len(piece.data)

    def decode(self, piece: ArrayBlock, columns: Columns) -> Records:
        """Decode a block of elements as lines."""
        if piece.problem is not None:
            return bad_record(piece.problem, columns)
        return decode_block(piece.lines(), columns)

    def fetch(self, piece: ArrayBlock, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode the wanted elements alone."""
        inside = wanted[wanted < len(piece)]
        return len(piece), [(inside, decode_block(piece.take(inside).lines(), columns))] if len(inside) else []

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Copy elements, or put members into their objects; what is written is an array."""
        return split_array(share, threads, advance)


@dataclass(frozen=True, eq=False)
class SampleLine:
    """One of the first lines, an object."""

    line: bytes
    members: Members

    @classmethod
    def of(cls, line: bytes) -> SampleLine | None:
        """Return the sample of a line, None if it is no object."""
        members = members_of(line)
        return None if members is None else cls(line, members)

    def names(self) -> list[str]:
        """Return the names of its members."""
        return self.members.names()

    def find(self, name: str) -> list[Any]:
        """Return the values of a member."""
        return self.members.find(name)

    def parse(self, columns: Columns) -> Parsed | str:
        """Return the document, or the reason why it is none."""
        return parse_line(self.line, columns)


def _lines(source: Input) -> Iterator[bytes]:
    for block in read_blocks(source, _PROBE_BYTES):
        lines = find_lines(block)
        yield from (block[start:end] for start, end in zip(lines.starts, lines.ends, strict=True))


def _elements(source: Input) -> Iterator[bytes]:
    for block in read_array(source, _PROBE_BYTES):
        yield from block.lines()[:-1].split(b"\n")


JSONL, JSON = JsonLines(), JsonArray()
