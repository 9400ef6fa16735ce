"""WARC files made by FastWARC, for tests."""

import gzip
import io
from functools import partial

from sosie.documents.warc.headers import load_fastwarc

RECORDS, STREAMS = load_fastwarc()


def record(number, content, media="application/http; msgtype=response", kind="response"):
    """Return the bytes of a record; its id ends with the number."""
    made = RECORDS.WarcRecord()
    made.init_headers(record_type=getattr(RECORDS.WarcRecordType, kind), record_urn=f"uuid:{number:08}".encode())
    # The clock would change the size of packed records.
    made.headers["WARC-Date"] = "2024-05-01T10:00:00Z"
    made.headers["WARC-Target-URI"] = f"http://example.org/{number}"
    made.headers["Content-Type"] = media
    made.set_bytes_content(content)
    stream = io.BytesIO()
    made.write(stream)
    return stream.getvalue()


def http(payload, media="text/html; charset=utf-8", **headers):
    """Return a response of HTTP."""
    lines = [f"Content-Type: {media}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + payload


def page(number, payload, media="text/html; charset=utf-8", **headers):
    return record(number, http(payload, media, **headers))


def zstd(content, dictionary=None):
    stream = io.BytesIO()
    writer = STREAMS.ZstdWriter(stream, dictionary=dictionary)
    writer.write(content)
    writer.finish()
    writer.flush()
    return stream.getvalue()


PACK = {".warc": bytes, ".warc.gz": partial(gzip.compress, mtime=0), ".warc.zst": zstd}
