"""One record of a WARC file: which are documents, and what is wrong with others."""

import pytest
from tests.documents.warc.warcs import http, page, record

from sosie.documents.warc.headers import BrokenRecordError, read_head, read_id


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
