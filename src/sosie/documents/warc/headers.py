"""One record of a WARC file: its headers, and whether it is a document; nothing else imports FastWARC."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from sosie.documents.input import MAX_RECORD
from sosie.errors import UsageError
from sosie.storage.size import show_size

# The name of the ids, as that of a column is.
RECORD_ID = "WARC-Record-ID"
HEAD_BYTES = 64 << 10
_HEADERS = 32 << 10
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
PAGES = ("text/html", "application/xhtml+xml")
PLAIN = "text/plain"
_ENTITIES = ("resource", "conversion")


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
    Head(size=80, length=6, is_document=True)
    """
    if not head.startswith(b"WARC/"):
        raise BrokenRecordError("no WARC header, which begins with WARC/")
    headers, size = read_headers(head, 0)
    if headers is None:
        raise BrokenRecordError(f"a WARC header without an end within {_HEADERS >> 10} KiB")
    length = headers.get("Content-Length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise BrokenRecordError(f"Content-Length is {length[:20]!r}, not a number")
    media = find_payload(headers, size, head[: size + int(length)]).media
    return Head(size, int(length), media in PAGES or media == PLAIN)


def read_id(record: bytes) -> str:
    """Return the id of a record, without angle brackets and `urn:uuid:`."""
    headers, _ = read_headers(record, 0)
    name: str = "" if headers is None else headers.get(RECORD_ID, "")
    name = name.strip("<> \t").removeprefix("urn:uuid:")
    if not name:
        raise BrokenRecordError(f"no {RECORD_ID}")
    return name


def open_zstd(file: Any) -> Any:
    """Return a stream of what zstd frames hold."""
    return load_fastwarc()[1].ZstdReader(file)


def too_large(most: int) -> BrokenRecordError:
    """Return the error that says that a record has more bytes, packed or unpacked, than are read of one."""
    why = "is read of a record" if most >= MAX_RECORD else "there is memory for (--memory)"
    return BrokenRecordError(f"more than {show_size(most)}, the most that {why}")


def read_headers(record: bytes, start: int) -> tuple[Any, int]:
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
class Payload:
    """What a record carries and where that begins; without a media type where that is unknown."""

    media: str
    charset: str | None
    start: int
    codings: str = ""


def find_payload(headers: Any, start: int, record: bytes) -> Payload:
    """Return what a record with these headers carries after `start`."""
    kind = headers.get("WARC-Type", "").lower()
    media, charset = _content_type(headers)
    if kind in _ENTITIES:
        return Payload(media, charset, start)
    if kind == "response" and media == "application/http":
        http, start = read_headers(record, start)
        if http is not None and (http.status_line or "").startswith("HTTP/"):
            codings = [*http.get_multiple("Content-Encoding"), *http.get_multiple("Transfer-Encoding")]
            return Payload(*_content_type(http), start, ",".join(codings))
    return Payload("", None, start)


def _content_type(headers: Any) -> tuple[str, str | None]:
    media, *parameters = headers.get("Content-Type", "").split(";")
    charset = None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip(" \t\"'")
    return media.strip().lower(), charset
