"""Bytes of a file in blocks, decompressed and decoded; and whether they are UTF-8."""

from __future__ import annotations

import bz2
import contextlib
import lzma
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.dialect import Transcoder
from sosie.documents.input import Input
from sosie.errors import DataError

BLOCK_BYTES = 4 << 20
MOST_RECORDS = 1 << 16  # of a piece: each of them may be a bad one, which takes some hundred bytes, whatever its length
# What unpacking xz may need: its strongest usual setting takes 65 MiB.
XZ_MEMORY = 512 << 20
_PACKED = 1 << 16
BOM = b"\xef\xbb\xbf"
# In this order: the mark of UTF-32 begins like one of UTF-16.
_FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_chunks(source: Input, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the bytes of a file, decompressed and as UTF-8, and how far in the file reading has come.

    At most `size` bytes come at a time, as they are in the file.
    """
    coder = Transcoder(source.encoding, source.path) if source.encoding else None
    position = 0
    for chunk, position in _raw_chunks(source, size):
        yield (chunk if coder is None else coder.decode(chunk)), position
    if coder is not None and (rest := coder.decode(b"", final=True)):
        yield rest, position


def coder_of(source: Input) -> Transcoder | None:
    """Return what turns UTF-8 into the encoding of a file, as its first bytes say; None if that is UTF-8."""
    if source.encoding is None:
        return None
    coder = Transcoder(source.encoding, source.path)
    for chunk, _ in _raw_chunks(source, 1 << 16):
        coder.decode(chunk)
        break
    return coder


def _raw_chunks(source: Input, size: int) -> Iterator[tuple[bytes, int]]:
    try:
        with contextlib.ExitStack() as stack:
            raw: Any = stack.enter_context(source.open())
            stream = raw
            if source.compression in UNPACKERS:
                stream = PackedStream(raw, UNPACKERS[source.compression])
            elif source.compression:
                file = stack.enter_context(pa.PythonFile(raw, "r"))
                stream = stack.enter_context(pa.CompressedInputStream(file, source.compression))
            expanded = 0
            while chunk := stream.read(size):
                if not expanded and source.encoding is None and (encoding := foreign_encoding(chunk)):
                    raise DataError(
                        f"{source.path}: is {encoding} by its byte order mark, and Sosie reads UTF-8. Pass --encoding "
                        f"{encoding.lower()} where that is an option, or convert it: iconv -f {encoding} -t UTF-8."
                    )
                expanded += len(chunk)
                position = raw.tell()
                if position > source.size:
                    raise source.changed()
                if source.compression:
                    source.check_expansion(expanded)
                yield chunk, position
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        source.check_unchanged()
        damaged = f"damaged or cut short {source.compression}: " if source.compression else ""
        raise DataError(
            f"{source.path}: cannot be read ({damaged}{error}). Restore the file or leave it out."
        ) from error


class PackedStream:
    """Reads a file of bz2 or xz, which may have several streams, a bounded number of bytes at a time.

    Arrow knows no xz, and of bz2 no stream that is empty.
    """

    def __init__(self, raw: Any, make: Callable[[], Any]) -> None:
        self._raw = raw
        self._make = make
        self._unpacker: Any = None
        self._waiting = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""
        while True:
            if self._unpacker is None:
                self._waiting = self._waiting.lstrip(b"\0") or self._next()
                if not self._waiting:
                    return b""
                self._unpacker = self._make()
            part: bytes = self._unpacker.decompress(self._waiting, size)
            self._waiting = b""
            if self._unpacker.eof:
                self._waiting, self._unpacker = self._unpacker.unused_data, None
            elif not part and self._unpacker.needs_input:
                self._waiting = self._next()
                if not self._waiting:
                    raise EOFError("it ends inside a stream")
            if part:
                return part

    def _next(self) -> bytes:
        """Return the next packed bytes; zeros between streams are padding."""
        while (packed := self._raw.read(_PACKED)) and self._unpacker is None:
            packed = packed.lstrip(b"\0")
            if packed:
                break
        return bytes(packed)


def _xz() -> Any:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


# What Arrow does not unpack, or not all of it.
UNPACKERS: dict[str, Callable[[], Any]] = {"bz2": bz2.BZ2Decompressor, "xz": _xz}


def foreign_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a file say it has, None if they do not or say UTF-8."""
    return next((encoding for mark, encoding in _FOREIGN.items() if head.startswith(mark)), None)


def is_utf8(block: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    offsets = np.array([0, len(block)], np.int64)
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(block)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
