"""Bytes of a file in blocks, decompressed; and whether they are UTF-8."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.input import Input
from sosie.errors import DataError

BLOCK_BYTES = 4 << 20
BOM = b"\xef\xbb\xbf"
# In this order: the mark of UTF-32 begins like one of UTF-16.
_FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_chunks(source: Input, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the decompressed bytes of a file, at most `size` at a time, and how far in the file reading has come."""
    try:
        with contextlib.ExitStack() as stack:
            raw: Any = stack.enter_context(open(source.path, "rb", buffering=0))
            stream = raw
            if source.compression:
                file = stack.enter_context(pa.PythonFile(raw, "r"))
                stream = stack.enter_context(pa.CompressedInputStream(file, source.compression))
            expanded = 0
            while chunk := stream.read(size):
                if not expanded and (encoding := foreign_encoding(chunk)):
                    raise DataError(
                        f"{source.path}: is {encoding} by its byte order mark, and Sosie reads UTF-8. Convert it: "
                        f"iconv -f {encoding} -t UTF-8."
                    )
                expanded += len(chunk)
                position = raw.tell()
                if position > source.size:
                    raise source.changed()
                if source.compression:
                    source.check_expansion(expanded)
                yield chunk, position
    except (OSError, pa.ArrowException) as error:
        source.check_unchanged()
        damaged = f"damaged or cut short {source.compression}: " if source.compression else ""
        raise DataError(
            f"{source.path}: cannot be read ({damaged}{error}). Restore the file or leave it out."
        ) from error


def foreign_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a file say it has, None if they do not or say UTF-8."""
    return next((encoding for mark, encoding in _FOREIGN.items() if head.startswith(mark)), None)


def is_utf8(block: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    offsets = np.array([0, len(block)], np.int64)
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(block)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
