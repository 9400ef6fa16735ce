"""Text put into many records at once: Arrow's string functions over the bytes of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.types import I64

TEXT = pa.large_string()


def spans(block: bytes, starts: I64, stops: I64) -> Any:
    """Return the texts `block[starts[i]:stops[i]]`, which follow each other and do not overlap.

    >>> spans(b"a rose is a rose", np.array([2, 12]), np.array([6, 16])).to_pylist()
    ['rose', 'rose']
    """
    if not len(starts):
        return pa.array([], TEXT)
    # Spans and the gaps between them are one array without a copy; every second one is taken.
    offsets = np.column_stack((starts, stops)).reshape(-1)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
    return pa.Array.from_buffers(TEXT, len(offsets) - 1, buffers).take(pa.array(np.arange(0, len(offsets), 2)))


def joined(*parts: Any) -> Any:
    """Return the parts, arrays of texts or a text for all rows, joined row by row.

    >>> joined("<", pa.array(["a", "b"], TEXT), ">").to_pylist()
    ['<a>', '<b>']
    """
    texts = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar("", TEXT))


def concatenated(texts: Any) -> bytes:
    """Return all texts as one run of bytes.

    >>> concatenated(pa.array(["a", "b"], TEXT)[1:])
    b'b'
    """
    _, offsets, data = texts.buffers()
    if not len(texts):
        return b""
    edges = np.frombuffer(offsets, np.int64)[[texts.offset, texts.offset + len(texts)]]
    return bytes(memoryview(data)[edges[0] : edges[1]])
