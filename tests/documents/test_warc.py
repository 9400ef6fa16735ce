"""One record of a WARC file: which are documents, and the text in them, however it is packed."""

import gzip
import zlib

import brotli
import pytest
from tests.documents.warcs import http, page, record, zstd

from sosie.documents import warc
from sosie.documents.warc import BrokenRecordError, read_head, read_id, read_text

PAGE = "<nav>Menu</nav><p>naïve café</p>".encode()


def chunked(data, size=5):
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])


def raw_deflate(data):
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (page(1, b""), True),
        (page(1, b"", media="TEXT/HTML"), True),
        (page(1, b"", media="application/xhtml+xml"), True),
        (page(1, b"", media="text/plain"), True),
        (page(1, b"", media="image/png"), False),
        (record(1, b"HTTP/1.1 200 OK\r\n\r\n<p>"), False),
        (record(1, http(b"").replace(b"\r\n", b"\n")), True),
        (record(1, b"no http"), False),
        (record(1, http(b""), media="text/dns"), False),
        (record(1, http(b""), kind="revisit"), False),
        (record(1, http(b""), kind="request"), False),
        (record(1, b"", media="text/html", kind="resource"), True),
        (record(1, b"", media="text/plain", kind="conversion"), True),
        (record(1, b"", media="text/plain", kind="metadata"), False),
        (record(1, b"", media="application/warc-fields", kind="warcinfo"), False),
        (page(1, b"").replace(b"Content-Length", b"CONTENT-length").replace(b"WARC-Type", b"warc-type"), True),
        (page(1, b"", **{"X": "a" * 40000}), False),
    ],
)
def test_which_records_are_documents(made, expected):
    head = read_head(made)
    assert head.is_document is expected
    assert head.size + head.length + len(b"\r\n\r\n") == len(made)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"WARC/1.1", b"WORC/1.1", "no WARC header"),
        (b"Content-Length: ", b"Content-Length: x", "Content-Length is 'x"),
        (b"Content-Length: ", b"Content-Length: -", "Content-Length is '-"),
        (b"Content-Length: ", b"Content-Length: " + b"9" * 20, "Content-Length is '999"),
        (b"Content-Length: ", b"Other: ", "Content-Length is ''"),
        (b"WARC-Type", b"x" * 40000, "a WARC header without an end within 32 KiB"),
    ],
)
def test_broken_headers(old, new, reason):
    with pytest.raises(BrokenRecordError, match=reason):
        read_head(page(1, b"").replace(old, new))


def test_ids():
    made = page(7, b"")
    assert read_id(made) == "00000007"
    assert read_id(made.replace(b"<urn:uuid:00000007>", b"http://x/7")) == "http://x/7"
    with pytest.raises(BrokenRecordError, match="no WARC-Record-ID"):
        read_id(made.replace(b"WARC-Record-ID", b"WARC-Other-ID"))


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("br", brotli.compress),
        ("zstd", zstd),
        ("identity", bytes),
        ("deflate, gzip", lambda data: gzip.compress(zlib.compress(data))),
    ],
)
def test_payloads_are_unpacked(coding, pack):
    packed = pack(PAGE)
    whole = page(1, packed, Content_Encoding=coding)
    pieces = page(1, chunked(packed), Content_Encoding=coding, Transfer_Encoding="chunked")
    for made in (whole, pieces):
        head = read_head(made)
        assert read_text(made[: head.size + head.length], None) == "naïve café"


@pytest.mark.parametrize(
    ("headers", "payload", "reason"),
    [
        ({"Content_Encoding": "gzip"}, PAGE, "a payload that is not gzip"),
        ({"Content_Encoding": "gzip"}, gzip.compress(PAGE)[:-9], "not gzip .it is cut short"),
        ({"Content_Encoding": "deflate"}, zlib.compress(PAGE)[:-5], "not deflate"),
        ({"Content_Encoding": "br"}, brotli.compress(PAGE)[:-3], "a payload that is not br"),
        ({"Content_Encoding": "zstd"}, PAGE, "a payload that is not zstd"),
        ({"Content_Encoding": "compress"}, PAGE, "an unknown encoding, 'compress'"),
        ({"Transfer_Encoding": "chunked"}, PAGE, "a payload that is not chunked"),
    ],
)
def test_payloads_that_cannot_be_unpacked(headers, payload, reason):
    with pytest.raises(BrokenRecordError, match=reason):
        read_text(page(1, payload, **headers), None)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("media", ["text/plain", "text/html"])
def test_bombs_are_bounded(monkeypatch, coding, media):
    monkeypatch.setattr(warc, "RECORD_LIMIT", 1 << 20)
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd}[coding]
    text = b"a " * (1 << 19)
    made = page(1, pack(text), media=media, Content_Encoding=coding)
    assert len(read_text(made[:-4], "all").strip()) == len(text) - 1
    bomb = page(1, pack(text + b"a"), media=media, Content_Encoding=coding)
    with pytest.raises(BrokenRecordError, match="more than 1 MiB, the most that is read of a record"):
        read_text(bomb[:-4], "all")


def test_a_real_bomb_stays_small():
    bomb = page(1, gzip.compress(bytes(1 << 20)) * 257, media="text/plain", Content_Encoding="gzip")
    with pytest.raises(BrokenRecordError, match="more than 256 MiB, the most that is read of a record"):
        read_text(bomb, None)


@pytest.mark.parametrize(
    ("media", "payload", "expected"),
    [
        ("text/html; charset=windows-1251", "<p>Москва".encode("cp1251"), "Москва"),
        ('text/html; Charset="Shift_JIS"', "<p>日本".encode("shift_jis"), "日本"),
        ("text/html", "<meta charset=gbk><p>中文网页".encode("gbk"), "中文网页"),
        ("text/html", "<p>naïve".encode(), "naïve"),
        ("text/plain; charset=iso-8859-1", "naïve <p>".encode("latin-1"), "naïve <p>"),
        ("text/plain", "naïve <p>".encode(), "naïve <p>"),
        ("text/plain; charset=utf-8", b"caf\xe9 au lait", "caf\ufffd au lait"),
    ],
)
def test_charsets(media, payload, expected):
    made = page(1, payload, media=media)[:-4]
    assert read_text(made, None) == expected
    made = record(1, payload, media=media, kind="resource")[:-4]
    assert read_text(made, "all") == expected
