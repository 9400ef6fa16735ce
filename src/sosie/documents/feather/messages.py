"""How large the record batches of an Arrow file are once unpacked, told by their headers before anything is unpacked.

The headers are flatbuffers; https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
says what is in them. Every compressed buffer begins with its length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

MAGIC = b"ARROW1"
_CONTINUATION = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3
_CODECS = ("lz4", "zstd")


@dataclass(frozen=True)
class Layout:
    """What the headers of a file say: whether it is a stream, its compression, and its bytes once unpacked."""

    is_stream: bool
    compression: str | None
    expanded: int


def read_layout(file: IO[bytes], size: int) -> Layout:
    """Walk over the headers of a file; raise ValueError if they lead nowhere."""
    file.seek(0)
    is_stream = file.read(len(MAGIC)) != MAGIC
    expanded, compression = 0, None
    try:
        here = 0
        # A stream is one message after the other; the footer of a file says where they are.
        for start in () if is_stream else _blocks(file, size):
            _, bytes_here, codec = _message(file, start, size)
            expanded, compression = expanded + bytes_here, compression or codec
        while is_stream and here < size:
            here, bytes_here, codec = _message(file, here, size)
            expanded, compression = expanded + bytes_here, compression or codec
    except struct.error as error:
        raise ValueError(f"a header that is cut short ({error})") from error
    return Layout(is_stream, compression, expanded)


def _blocks(file: IO[bytes], size: int) -> Iterator[int]:
    """Yield where the dictionaries and the record batches of a file begin."""
    file.seek(max(0, size - 10))
    tail = file.read(10)
    if len(tail) < 10 or tail[4:] != MAGIC:
        raise ValueError("it does not end as it should")
    (length,) = struct.unpack("<i", tail[:4])
    if not 0 < length <= size - 10:
        raise ValueError("its footer is not inside the file")
    file.seek(size - 10 - length)
    footer = _Table.root(file.read(length))
    for number in (2, 3):
        for start, _, _ in footer.structs(number, "<qi4xq"):
            if not 0 <= start < size:
                raise ValueError("a record batch outside the file")
            yield start


def _message(file: IO[bytes], here: int, end: int) -> tuple[int, int, str | None]:
    """Return where a message ends, how many bytes it has once unpacked, and its compression."""
    file.seek(here)
    first, length = struct.unpack("<Ii", file.read(8))
    here += 8
    if first != _CONTINUATION:  # before Arrow 0.15 there was none
        file.seek(here := here - 4)
        length = first
    if length == 0:
        return end, 0, None
    if not 0 < length <= end - here:
        raise ValueError("a header that is longer than the file")
    message = _Table.root(file.read(length))
    body, size = here + length, message.integer(3, "<q")
    if not 0 <= size <= end - body:
        raise ValueError("a record batch that is cut short")
    header = message.table(2)
    kind = message.integer(1, "<B")
    if kind == _DICTIONARY and header is not None:
        header = header.table(1)
    if kind not in (_DICTIONARY, _BATCH) or header is None:
        return body + size, size, None
    packed = header.table(3)
    if packed is None:
        return body + size, size, None
    codec = packed.integer(0, "<b")
    if not 0 <= codec < len(_CODECS):
        raise ValueError(f"an unknown compression, {codec}")
    lengths = [_unpacked(file, body + at, length) for at, length in header.structs(2, "<qq") if length]
    return body + size, sum(lengths), _CODECS[codec]


def _unpacked(file: IO[bytes], at: int, length: int) -> int:
    file.seek(at)
    size = int(struct.unpack("<q", file.read(8))[0])
    if size < -1:
        raise ValueError("a buffer of negative length")
    return length - 8 if size == -1 else size


@dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, cls._read(data, 0, "<I"))

    @staticmethod
    def _read(data: bytes, at: int, kind: str) -> int:
        if at < 0:
            raise ValueError("a header that points outside itself")
        return int(struct.unpack_from(kind, data, at)[0])

    def _field(self, number: int) -> int | None:
        """Return where a field is, None if it has its default."""
        fields = self.at - self._read(self.data, self.at, "<i")
        place = 4 + 2 * number
        if place >= self._read(self.data, fields, "<H"):
            return None
        offset = self._read(self.data, fields + place, "<H")
        return self.at + offset if offset else None

    def integer(self, number: int, kind: str) -> int:
        at = self._field(number)
        return 0 if at is None else self._read(self.data, at, kind)

    def table(self, number: int) -> _Table | None:
        at = self._field(number)
        return None if at is None else _Table(self.data, at + self._read(self.data, at, "<I"))

    def structs(self, number: int, kind: str) -> Iterator[tuple[int, ...]]:
        """Yield the members of each struct of a vector."""
        at = self._field(number)
        if at is not None:
            start = at + self._read(self.data, at, "<I")
            for each in range(self._read(self.data, start, "<I")):
                yield struct.unpack_from(kind, self.data, start + 4 + struct.calcsize(kind) * each)
