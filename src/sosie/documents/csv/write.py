"""CSV and TSV to their places: records copied byte for byte after the header, or with more columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sosie.documents.csv.blocks import read_csv, read_header
from sosie.documents.csv.record import delimiter_of
from sosie.documents.share import Share, free_names
from sosie.documents.splice import concatenated, joined, more_fields, quoted, spans
from sosie.documents.write_blocks import RecordCut, split_blocks

_RETURN = ord("\r")


def split_records(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the records of one input to their places; return how many it had."""
    delimiter = delimiter_of(share.source)
    header = read_header(share.source)
    heads = (b"", b"")
    if header is not None:
        names = [quoted(name, delimiter) for name in free_names(share.added.names, header.names)]
        heads = (header.raw + header.end, delimiter.join([header.raw, *names]) + header.end)
    blocks = ((block.data, block) for block in read_csv(share.source))
    return split_blocks(share, blocks, partial(widen, delimiter=delimiter), heads, threads, advance)


def widen(cut: RecordCut, added: Any, delimiter: bytes) -> bytes:
    r"""Append fields to some records, leaving the rest of them as it is.

    >>> import pyarrow as pa
    >>> columns = pa.table({"duplicate_of": ["b.csv:4"], "similarity": [0.875]})
    >>> widen(RecordCut(b'1,"a rose"\r\n', np.array([0]), np.array([11])), columns, b",")
    b'1,"a rose",b.csv:4,0.875\r\n'
    """
    last = np.frombuffer(cut.block, np.uint8)[cut.ends - 1]
    at = cut.ends - (last == _RETURN)
    bodies, line_ends = spans(cut.block, cut.starts, at), spans(cut.block, at, cut.ends + 1)
    return concatenated(joined(bodies, more_fields(added, delimiter), line_ends))
