"""CSV and TSV to kept and dropped: kept records byte for byte after the header; dropped ones with two more columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sosie.documents.csv_blocks import read_csv, read_header
from sosie.documents.csv_record import quoted, without_return
from sosie.documents.share import Share, free_names
from sosie.documents.write_blocks import split_blocks


def split_records(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the records of one input where its decisions say; return how many it had."""
    delimiter = share.source.delimiter
    header = read_header(share.source)
    heads = (b"", b"")
    if header is not None:
        names = [quoted(name, delimiter) for name in free_names(header.names)]
        heads = (header.raw + header.end, delimiter.join([header.raw, *names]) + header.end)
    blocks = ((block.data, block) for block in read_csv(share.source))
    return split_blocks(share, blocks, partial(widen, delimiter=delimiter), heads, threads, advance)


def widen(record: bytes, duplicate_of: str | int, similarity: float, delimiter: bytes) -> bytes:
    r"""Append two fields to a record, leaving the rest of it as it is.

    >>> widen(b'1,"a rose"\r', "b.csv:4", 0.875, b",")
    b'1,"a rose",b.csv:4,0.875\r\n'
    """
    body = without_return(record)
    fields = [body, quoted(str(duplicate_of), delimiter), repr(similarity).encode()]
    return delimiter.join(fields) + record[len(body) :] + b"\n"
