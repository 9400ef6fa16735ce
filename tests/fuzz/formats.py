"""Valid files of every format, and the tokens that each knows."""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from tests.documents.warc.warcs import http, page, record, zstd

ROSE = "a rose is a rose is a rose, and no other flower is one"
TEXTS = [
    ROSE,
    ROSE,
    ROSE + " at all",
    "ein Wort über Größe, ſ und ß: \U0001f339",
    "",
    '"quoted", and\nbroken\tup',
    "日本語の文章 " * 9,
]
ROWS = [{"id": f"d{i}", "text": text, "n": i, "tags": ["x", None]} for i, text in enumerate(TEXTS)]
HTML = (
    b"<!DOCTYPE html><html lang=en><head><meta charset='utf-8'><title>A rose &amp; more</title><style>p{}</style>"
    b"</head><body><nav><a href='/'>home</a></nav><main><h1>Roses</h1><p>A rose is a <b>rose</b> is a rose, and no"
    b" other flower is one.</p><table><tr><td>1</td></tr></table><pre> x </pre><ul><li>one<li>two</ul><!-- c --></main>"
    b"<script>var x = '</p>';</script><footer>&copy; 2024</footer></body></html>"
)


@dataclass(frozen=True)
class Files:
    """The files of one format: suffix, seeds, tokens, and how what was mutated is packed."""

    suffix: str
    seeds: Sequence[bytes]
    tokens: Sequence[bytes]
    pack: Callable[[bytes], bytes] | None = None


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=i % 2 == 0)}\n" for i, row in enumerate(rows)).encode()


def _csv(separator: str) -> bytes:
    quoted = [[f'"{cell}"' for cell in (str(row["id"]), row["text"].replace('"', '""'), str(row["n"]))] for row in ROWS]
    return "\r\n".join(separator.join(cells) for cells in [["id", "text", "n"], *quoted]).encode()


def _parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def _feather(table: pa.Table, compression: str) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink, compression=compression)
    return sink.getvalue()


def _stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return sink.getvalue()


def _tables() -> list[pa.Table]:
    table = pa.Table.from_pylist(ROWS)
    coded = pa.table({"id": list(range(len(TEXTS))), "text": pa.array(TEXTS).dictionary_encode()})
    views = pa.table({"text": pa.array(TEXTS, pa.large_string()), "meta": pa.array([{"body": text} for text in TEXTS])})
    return [table, coded, views]


def _warc() -> bytes:
    text = record(5, ROSE.encode(), "text/plain", "conversion")
    packed = gzip.compress(HTML, mtime=0)
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(HTML), HTML)
    return b"".join(
        (
            record(0, b"software: none\r\n", "application/warc-fields", "warcinfo"),
            page(1, HTML),
            page(2, HTML.replace(b"rose", b"tulip"), "text/html; charset=latin-1"),
            page(3, packed, Content_Encoding="gzip"),
            page(4, chunked, Transfer_Encoding="chunked"),
            text,
            record(6, http(b"{}", "application/json")),
        )
    )


_JSON_TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\n", b"\r", b"null", b"true", b"NaN", b"-Infinity", b"1e999"),
    *(
        b'"text"',
        b'"id"',
        b'{"text": "x"}\n',
        b'"text": "y", ',
        b'"k%d": 1, ',
        b"\\ud800",
        b"\\u0000",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\0",
    ),
    *(b'{"a":', b"9" * 400, b"-", b"//", b"\xc3", b"\xed\xa0\x80", b"\xff\xfe", b'{"text": {"text": 1}}\n'),
)
_CSV_TOKENS = (
    *(b'"', b'""', b",", b"\t", b";", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"text", b"id"),
    *(
        b'"\n"',
        b",,,,,,,,",
        b"=1+1",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x1a",
        b"'",
        b'\n"x',
        b'x"y',
        b"\xc3",
        b"id,text\n",
        b"c%d,",
    ),
)
_HTML_TOKENS = (
    *(b"<div>", b"</div>", b"<", b">", b"<!--", b"-->", b"<![CDATA[", b"<table>", b"<td>", b"<script>", b"</script>"),
    *(
        b"<p ",
        b"<a<a",
        b"<div>x</div>",
        b"<p>x",
        b"</div><div>x",
        b"='",
        b"&",
        b"&#x110000;",
        b"&#0;",
        b"&nbsp",
        b"<svg><math>",
        b"<template>",
        b"<select>",
        b"<b c=%d>",
    ),
    *(b"<title>", b"<textarea>", b"<meta charset=utf-7>", b"<meta charset=x>", b"<frameset>", b"<a>", b"<plaintext>"),
    *(
        b"<form>",
        b"<nobr>",
        b"<font a=%d>",
        b"\xff\xfe",
        b"\0",
        b"\xff",
        b"<?xml encoding='utf-16'?>",
        b"<br><br>",
        b" ",
    ),
)
_WARC_TOKENS = (
    *(b"WARC/1.0\r\n", b"WARC/1.1\r\n", b"WARC-Type: response\r\n", b"Content-Length: 0\r\n", b"\r\n\r\n", b"\r\n"),
    *(b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n", b"HTTP/1.1 200 OK\r\n", b": ", b"\0"),
    *(b"Content-Encoding: gzip, br\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Type: text/html; charset=x\r\n"),
    *(b"WARC-Record-ID: <urn:uuid:00000001>\r\n", b"ffffffffffffffff\r\n", b"-1\r\n", b"WARC-Type: conversion\r\n"),
)
_BINARY_TOKENS = (
    *(b"\0" * 8, b"\xff" * 4, b"\xff" * 8, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"PAR1", b"PARE", b"ARROW1\0\0"),
    *(
        b"ARROW:schema",
        b"text",
        b"\x28\xb5\x2f\xfd",
        b"\x04\x22\x4d\x18",
        b"\x80\x80\x80\x80\x01",
        b"\xff\xff\xff\xff\x0f",
    ),
)

_JSONL = (
    _lines(ROWS),
    _lines([{**row, "text": None} if row["n"] == 3 else row for row in ROWS]),
    b"\xef\xbb\xbf" + _lines(ROWS[:2]),
)
_ARRAY = tuple(json.dumps(ROWS, indent=indent, ensure_ascii=False).encode() for indent in (None, 1))

FORMATS = {
    "jsonl": Files(".jsonl", _JSONL, _JSON_TOKENS),
    "jsonl-gz": Files(".jsonl.gz", _JSONL, _JSON_TOKENS, partial(gzip.compress, compresslevel=1, mtime=0)),
    "jsonl-xz": Files(".jsonl.xz", _JSONL[:1], _JSON_TOKENS, partial(lzma.compress, preset=0)),
    "json-array": Files(".json", _ARRAY, _JSON_TOKENS),
    "csv": Files(".csv", (_csv(","), _csv(";"), _csv(",").replace(b'"', b"")), _CSV_TOKENS),
    "tsv": Files(".tsv", (_csv("\t"),), _CSV_TOKENS),
    "text": Files(".txt", (ROSE.encode(), TEXTS[3].encode(), b"\xef\xbb\xbfx"), _CSV_TOKENS),
    "html": Files(".html", (HTML, HTML.replace(b"utf-8", b"utf-16"), HTML.decode().encode("utf-16")), _HTML_TOKENS),
    "warc": Files(".warc", (_warc(),), (*_WARC_TOKENS, *_HTML_TOKENS[:12])),
    "warc-gz": Files(".warc.gz", (_warc(),), _WARC_TOKENS, lambda data: gzip.compress(data, 1, mtime=0)),
    "warc-zst": Files(".warc.zst", (_warc(),), _WARC_TOKENS, zstd),
    "parquet": Files(
        ".parquet",
        (
            _parquet(_tables()[0], compression="none", row_group_size=3),
            _parquet(_tables()[1], compression="snappy"),
            _parquet(_tables()[2], compression="zstd", use_dictionary=False, data_page_version="2.0"),
            _parquet(_tables()[2], compression="lz4", write_page_index=True),
        ),
        _BINARY_TOKENS,
    ),
    "feather": Files(
        ".feather",
        (
            *(_feather(table, kind) for table in _tables() for kind in ("uncompressed", "lz4")),
            _feather(_tables()[0], "zstd"),
        ),
        _BINARY_TOKENS,
    ),
    "arrow-stream": Files(".arrow", tuple(map(_stream, _tables())), _BINARY_TOKENS),
}
