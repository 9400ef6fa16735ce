"""CSV and TSV to their places: records copied byte for byte after the header, or with more columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sosie.documents.added import free_names
from sosie.documents.columns import single
from sosie.documents.csv_blocks import read_csv, read_header
from sosie.documents.csv_record import quoted
from sosie.documents.literals import csv_fields
from sosie.documents.share import Share
from sosie.documents.splice import concatenated, joined, spans
from sosie.documents.write_blocks import Cut, split_blocks

_RETURN = ord("\r")


def split_records(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the records of one input to their places; return how many it had."""
    delimiter = share.source.delimiter
    header = read_header(share.source)
    heads = (b"", b"")
    if header is not None:
        names = [quoted(name, delimiter) for name in free_names(share.added.names, header.names)]
        heads = (header.raw + header.end, delimiter.join([header.raw, *names]) + header.end)
    blocks = ((block.data, block) for block in read_csv(share.source))
    return split_blocks(share, blocks, partial(widen, delimiter=delimiter), heads, threads, advance)


def widen(cut: Cut, added: Any, delimiter: bytes) -> bytes:
    r"""Append fields to some records, leaving the rest of them as it is.

    >>> import pyarrow as pa
    >>> columns = pa.table({"duplicate_of": ["b.csv:4"], "similarity": [0.875]})
    >>> widen(Cut(b'1,"a rose"\r\n', np.array([0]), np.array([11])), columns, b",")
    b'1,"a rose",b.csv:4,0.875\r\n'
    """
    last = np.frombuffer(cut.block, np.uint8)[cut.ends - 1]
    at = cut.ends - (last == _RETURN)
    bodies, line_ends = spans(cut.block, cut.starts, at), spans(cut.block, at, cut.ends + 1)
    return concatenated(joined(bodies, more_fields(added, delimiter), line_ends))


def more_fields(added: Any, delimiter: bytes) -> Any:
    """Return the fields of each row, each after a delimiter."""
    parts = []
    for column in added.columns:
        parts += [delimiter.decode(), csv_fields(single(column), delimiter)]
    return joined(*parts)
