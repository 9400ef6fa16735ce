"""The text of a document in a WARC file, however its payload is packed and encoded."""

import gzip
import zlib

import brotli
import pytest
from tests.documents.warc.warcs import page, record, zstd

from sosie.documents.warc.headers import BrokenRecordError, read_head
from sosie.documents.warc.payload import read_text

PAGE = "<nav>Menu</nav><p>naïve café</p>".encode()


def chunked(data, size=5):
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])


def raw_deflate(data):
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


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
        ({"Content_Encoding": "gzip"}, gzip.compress(PAGE, mtime=0)[:-9], "not gzip .it is cut short"),
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
def test_bombs_are_bounded(coding, media):
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd}[coding]
    text = b"a " * (1 << 19)
    made = page(1, pack(text), media=media, Content_Encoding=coding)
    assert len(read_text(made[:-4], "all", 1 << 20).strip()) == len(text) - 1
    bomb = page(1, pack(text + b"a"), media=media, Content_Encoding=coding)
    with pytest.raises(BrokenRecordError, match=r"more than 1.0 MB, the most that there is memory for"):
        read_text(bomb[:-4], "all", 1 << 20)


def test_a_real_bomb_stays_small():
    bomb = page(1, gzip.compress(bytes(1 << 20)) * 257, media="text/plain", Content_Encoding="gzip")
    with pytest.raises(BrokenRecordError, match=r"more than 268.4 MB, the most that is read of a record"):
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
