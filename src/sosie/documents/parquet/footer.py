"""The footer of a Parquet file: what it says of its row groups and column chunks, checked before anything is decoded.

It is a struct of Apache Thrift in the compact protocol; which fields it has is told by
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift. PyArrow can tell the same, but a
footer that is damaged in the wrong place ends the whole process when its column chunks are asked for one by one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, Any

MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_TAIL = struct.Struct("<I4s")  # at the end of a file: the bytes of the footer, and the magic number
_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4")
_ENCODINGS = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}
_NEAR = 1 << 16  # bytes at the end that are read at once: most footers, and all of a small file, are in them
_DEEPEST = 32  # structs in structs; the format has six
_TRUE_FALSE, _BYTE, _INTS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
# Of the fields by their numbers, those that are looked at; what is in a list, or in a struct, stands behind them.
_META: dict[int, Any] = {1: None, 2: None, 3: None, 4: None, 5: None, 6: None, 7: None, 9: None, 11: None, 12: {}}
_FILE: dict[int, Any] = {3: None, 4: {1: {3: _META}, 3: None}}


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: where it is in the schema, and how it is stored."""

    path: str
    type: str
    compression: str
    encodings: frozenset[str]
    packed: int
    unpacked: int
    has_dictionary: bool
    has_statistics: bool


@dataclass(frozen=True)
class Group:
    """A row group."""

    rows: int
    chunks: list[Chunk]


@dataclass(frozen=True)
class Footer:
    """What a file says of itself."""

    rows: int
    groups: list[Group]


def read_footer(file: IO[bytes], size: int) -> Footer:
    """Read and check the footer of a file of so many bytes; raise ValueError if it cannot be that of one."""
    if size < len(MAGIC) + _TAIL.size:
        raise ValueError("it is too short")
    tail = _last(file, size, _NEAR)
    length, magic = _TAIL.unpack(tail[-_TAIL.size :])
    if magic != MAGIC:
        raise ValueError("it is encrypted" if magic == _ENCRYPTED else "it does not end as it should")
    if length > size - len(MAGIC) - _TAIL.size:
        raise ValueError("its footer is not inside the file")
    if length + _TAIL.size > len(tail):
        tail = _last(file, size, length + _TAIL.size)
    try:
        footer = tail[-_TAIL.size - length : -_TAIL.size]
        return _footer(_Compact(footer).struct(_FILE), size - _TAIL.size - length)
    except (IndexError, struct.error) as error:
        raise ValueError("its footer is cut short") from error


def _last(file: IO[bytes], size: int, count: int) -> bytes:
    """Return the last bytes of a file, so many or all."""
    file.seek(max(0, size - count))
    found = file.read(min(size, count))
    if len(found) < min(size, count):
        raise ValueError("it is cut short")
    return bytes(found)


def _footer(said: dict[int, Any], end: int) -> Footer:
    groups = [_group(each, end) for each in _listed(said, 4, dict)]
    rows = _number(said, 3)
    if sum(group.rows for group in groups) != rows:
        raise ValueError(f"its footer tells of {rows:,} rows, and its row groups do not hold as many")
    return Footer(rows, groups)


def _group(said: dict[int, Any], end: int) -> Group:
    return Group(_number(said, 3), [_chunk(each, end) for each in _listed(said, 1, dict)])


def _chunk(said: dict[int, Any], end: int) -> Chunk:
    meta = said.get(3)
    if not isinstance(meta, dict):
        raise ValueError("a column without metadata, or an encrypted one")
    path = ".".join(part.decode("utf-8") for part in _listed(meta, 3, bytes))
    kind, codec = _number(meta, 1), _number(meta, 4)
    if kind >= len(_TYPES) or codec >= len(_CODECS):
        raise ValueError(f"{path!r} has an unknown type ({kind}) or compression ({codec})")
    packed, first = _number(meta, 7), _number(meta, 9)
    if 11 in meta:
        first = min(first, _number(meta, 11) or first)  # some writers say 0 where there is no dictionary
    if first + packed > end:
        raise ValueError(f"{path!r} is not inside the file")
    encodings = frozenset(_ENCODINGS.get(each, "UNKNOWN") for each in _listed(meta, 2, int))
    sizes = packed, _number(meta, 6)
    return Chunk(path, _TYPES[kind], _CODECS[codec], encodings, *sizes, 11 in meta, 12 in meta)


def _number(said: dict[int, Any], field: int) -> int:
    value = said.get(field)
    if type(value) is not int or value < 0:
        raise ValueError(f"its footer has {value!r} where a number should be")
    return value


def _listed(said: dict[int, Any], field: int, kind: type) -> list[Any]:
    value = said.get(field)
    if not isinstance(value, list) or not all(type(each) is kind for each in value):
        raise ValueError("its footer has something else where a list should be")
    return value


class _Compact:
    """Bytes in Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, wanted: dict[int, Any], depth: int = 0) -> dict[int, Any]:
        """Read a struct; return the wanted fields by number."""
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            kind = head & 15
            field = field + (head >> 4) if head >> 4 else self._signed()
            if kind in _INTS:
                value: Any = self._signed()
            elif kind in _TRUE_FALSE:
                value = kind
            else:
                value = self._value(kind, wanted.get(field) or {}, depth)
            if field in wanted:
                found[field] = value
        return found

    def _value(self, kind: int, wanted: dict[int, Any], depth: int) -> Any:
        if kind == _BINARY:
            return self._take(self._unsigned())
        if kind == _STRUCT:
            return self.struct(wanted, depth + 1)
        if kind in _LISTS:
            return self._list(wanted, depth)
        if kind in _INTS:
            return self._signed()
        if kind == _DOUBLE:
            return self._take(8)
        if kind == _BYTE or kind in _TRUE_FALSE:
            return self._byte()
        if kind == _MAP:
            return self._map(depth)
        raise ValueError(f"its footer has a value of an unknown kind ({kind})")

    def _list(self, wanted: dict[int, Any], depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        self._check(count)
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        if head & 15 in _INTS:
            return [self._signed() for _ in range(count)]
        return [self._value(head & 15, wanted, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> None:
        if count := self._unsigned():
            self._check(count)
            kinds = self._byte()
            for _ in range(count):
                self._value(kinds >> 4, {}, depth + 1)
                self._value(kinds & 15, {}, depth + 1)

    def _check(self, count: int) -> None:
        """Refuse more values than there are bytes: each takes one at least."""
        if count > len(self._data) - self._at:
            raise ValueError("its footer has a list that is longer than itself")

    def _byte(self) -> int:
        at = self._at
        self._at = at + 1
        return self._data[at]

    def _take(self, count: int) -> bytes:
        self._check(count)
        self._at += count
        return self._data[self._at - count : self._at]

    def _unsigned(self) -> int:
        data, at = self._data, self._at
        value = data[at]
        if value & 128:
            value, shift = value & 127, 7
            while True:
                at += 1
                byte = data[at]
                value |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
                if shift > 63:
                    raise ValueError("its footer has a number of more than 64 bits")
        self._at = at + 1
        return value

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
