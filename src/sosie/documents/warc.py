"""One record of a WARC file: what it is, and the text in it; FastWARC reads headers and encodings, only here."""

from __future__ import annotations

import io
import re
import warnings
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from sosie.documents.html import Content, PageError, decode_bytes, read_page
from sosie.errors import UsageError

# The name of the ids, as that of a column is.
RECORD_ID = "WARC-Record-ID"
# The most that is read of a record, packed or unpacked.
RECORD_LIMIT = 256 << 20
HEAD_BYTES = 64 << 10
_HEADERS = 32 << 10
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_PAGES = ("text/html", "application/xhtml+xml")
_ENTITIES = ("resource", "conversion")
_CHUNK = 1 << 20


class BrokenRecordError(Exception):
    """A record that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Head:
    """The sizes of a record's header and of its block, and whether the record is a document."""

    size: int
    length: int
    is_document: bool


@cache
def load_fastwarc() -> tuple[Any, Any]:
    """Return the modules that read headers and streams; raise if the extra is not installed."""
    try:
        # The package warns of its own old names when it is imported.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import fastwarc.stream_io as streams
            import fastwarc.warc as records
    except ImportError as error:
        raise UsageError(f"WARC needs the package fastwarc ({error}). Run: pip install 'sosie[html]'") from error
    return records, streams


def read_head(head: bytes) -> Head:
    r"""Read the beginning of a record, which holds its header and, of a response, that of HTTP.

    >>> read_head(b"WARC/1.1\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\na rose")
    Head(size=82, length=6, is_document=True)
    """
    if not head.startswith(b"WARC/"):
        raise BrokenRecordError("no WARC header, which begins with WARC/")
    headers, size = _headers(head, 0)
    if headers is None:
        raise BrokenRecordError(f"a WARC header without an end within {_HEADERS >> 10} KiB")
    length = headers.get("Content-Length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise BrokenRecordError(f"Content-Length is {length!r}, not a number")
    media = _payload(headers, size, head[: size + int(length)]).media
    return Head(size, int(length), media in _PAGES or media == "text/plain")


def read_id(record: bytes) -> str:
    """Return the id of a record, without angle brackets and `urn:uuid:`."""
    headers, _ = _headers(record, 0)
    name: str = "" if headers is None else headers.get(RECORD_ID, "")
    name = name.strip("<> \t").removeprefix("urn:uuid:")
    if not name:
        raise BrokenRecordError(f"no {RECORD_ID}")
    return name


def read_text(record: bytes, content: Content | None) -> str:
    """Return the text of a document, given its whole record; what its payload is packed in is unpacked."""
    payload = _payload(*_headers(record, 0), record)
    data = record[payload.start :]
    for coding in reversed(payload.codings.lower().split(",")):
        data = _unpack(data, coding.strip())
    if payload.media == "text/plain":
        return decode_bytes(data, payload.charset, markup=False)
    try:
        return read_page(data, content, payload.charset)
    except PageError as error:
        raise BrokenRecordError(str(error)) from error


def open_zstd(file: Any) -> Any:
    """Return a stream of what zstd frames hold."""
    return load_fastwarc()[1].ZstdReader(file)


def too_large() -> BrokenRecordError:
    """Return the error that says so."""
    return BrokenRecordError(f"more than {RECORD_LIMIT >> 20} MiB, the most that is read of a record")


def _headers(record: bytes, start: int) -> tuple[Any, int]:
    """Return the headers that begin at `start` and where they end; None if they do not end."""
    end = _BLANK_LINE.search(record, start, start + _HEADERS)
    if end is None:
        return None, start
    headers = load_fastwarc()[0].HeaderMap()
    lines = record[start : end.end()].replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    try:
        headers.parse(io.BytesIO(lines))
    except OSError:
        return None, start
    return headers, end.end()


@dataclass(frozen=True, slots=True)
class _Payload:
    """What a record carries and where that begins; without a media type where that is unknown."""

    media: str
    charset: str | None
    start: int
    codings: str = ""


def _payload(headers: Any, start: int, record: bytes) -> _Payload:
    kind = headers.get("WARC-Type", "").lower()
    media, charset = _content_type(headers)
    if kind in _ENTITIES:
        return _Payload(media, charset, start)
    if kind == "response" and media == "application/http":
        http, start = _headers(record, start)
        if http is not None and (http.status_line or "").startswith("HTTP/"):
            codings = [*http.get_multiple("Content-Encoding"), *http.get_multiple("Transfer-Encoding")]
            return _Payload(*_content_type(http), start, ",".join(codings))
    return _Payload("", None, start)


def _content_type(headers: Any) -> tuple[str, str | None]:
    media, *parameters = headers.get("Content-Type", "").split(";")
    charset = None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip(" \t\"'")
    return media.strip().lower(), charset


def _unpack(data: bytes, coding: str) -> bytes:
    """Undo one encoding of a payload; the result is bounded."""
    if not data or coding in ("", "identity"):
        return data
    streams = load_fastwarc()[1]
    readers = {"br": streams.BrotliReader, "zstd": streams.ZstdReader, "chunked": streams.ChunkedReader}
    try:
        if coding in ("gzip", "x-gzip"):
            return _inflate(data, 31)
        if coding == "deflate":
            # Some servers leave out the header of zlib.
            return _inflate(data, 15 if data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0 else -15)
        if coding in readers:
            return _read_all(readers[coding](io.BytesIO(data)))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BrokenRecordError(f"a payload that is not {coding} ({error})") from error
    raise BrokenRecordError(f"a payload with an unknown encoding, {coding!r}")


def _inflate(data: bytes, window: int) -> bytes:
    parts: list[bytes] = []
    left = RECORD_LIMIT + 1
    while data and left > 0 and (not parts or data.startswith(b"\x1f\x8b")):
        stream = zlib.decompressobj(window)
        parts.append(stream.decompress(data, left))
        left -= len(parts[-1])
        if left > 0 and not stream.eof:
            raise EOFError("it is cut short")
        data = stream.unused_data
    if left <= 0:
        raise too_large()
    return b"".join(parts)


def _read_all(stream: Any) -> bytes:
    parts: list[bytes] = []
    left = RECORD_LIMIT + 1
    while left > 0 and (part := stream.read(min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise too_large()
    return b"".join(parts)
