"""The text of a document in a WARC file: its payload, unpacked and decoded."""

from __future__ import annotations

import io
import zlib
from typing import Any

from sosie.documents.html import Content, PageError, decode_bytes, read_page
from sosie.documents.input import MAX_RECORD
from sosie.documents.warc.headers import PLAIN, BrokenRecordError, find_payload, load_fastwarc, read_headers, too_large

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"


def read_text(record: bytes, content: Content | None, most: int = MAX_RECORD) -> str:
    """Return the text of a document, given its whole record; what its payload is packed in is unpacked.

    Of that, there may be `most` bytes.
    """
    payload = find_payload(*read_headers(record, 0), record)
    data = record[payload.start :]
    for coding in reversed(payload.codings.lower().split(",")):
        data = _unpack(data, coding.strip(), most)
    if payload.media == PLAIN:
        return decode_bytes(data, payload.charset, markup=False)
    try:
        return read_page(data, content, payload.charset)
    except PageError as error:
        raise BrokenRecordError(str(error)) from error


def _unpack(data: bytes, coding: str, most: int) -> bytes:
    """Undo one encoding of a payload; the result is bounded."""
    if not data or coding in ("", "identity"):
        return data
    streams = load_fastwarc()[1]
    readers = {"br": streams.BrotliReader, "zstd": streams.ZstdReader, "chunked": streams.ChunkedReader}
    try:
        if coding in ("gzip", "x-gzip"):
            return _inflate(data, 31, most)
        if coding == "deflate":
            # Some servers leave out the header of zlib.
            return _inflate(data, 15 if data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0 else -15, most)
        if coding in readers:
            return _read_all(readers[coding](io.BytesIO(data)), most)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BrokenRecordError(f"a payload that is not {coding} ({error})") from error
    raise BrokenRecordError(f"a payload with an unknown encoding, {coding!r}")


def _inflate(data: bytes, window: int, most: int) -> bytes:
    parts: list[bytes] = []
    left = most + 1
    while data and left > 0 and (not parts or data.startswith(_GZIP)):
        stream = zlib.decompressobj(window)
        parts.append(stream.decompress(data, left))
        left -= len(parts[-1])
        if left > 0 and not stream.eof:
            raise EOFError("it is cut short")
        data = stream.unused_data
    if left <= 0:
        raise too_large(most)
    return b"".join(parts)


def _read_all(stream: Any, most: int) -> bytes:
    parts: list[bytes] = []
    left = most + 1
    while left > 0 and (part := stream.read(min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise too_large(most)
    return b"".join(parts)
