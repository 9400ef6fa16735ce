"""Text put into many records at once: Arrow's string functions over the bytes of a block, and values as text.

Values are written as literals of JSON, or as fields of CSV or TSV.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.columns import single
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


def json_literals(column: Any) -> Any:
    r"""Return the values as JSON.

    >>> json_literals(pa.array([1.0, None, 1e-7])).to_pylist(), json_literals(pa.array(["a", '"\n"'])).to_pylist()
    (['1.0', 'null', '1e-07'], ['"a"', '"\\"\\n\\""'])
    """
    if not _is_text(column):
        return pc.fill_null(_plain(column), "null")
    texts = joined('"', column.cast(TEXT), '"')
    special = pc.fill_null(pc.match_substring_regex(column, r'["\\\x00-\x1f]'), False)
    if pc.any(special).as_py():
        escaped = [json.dumps(value, ensure_ascii=False) for value in column.filter(special).to_pylist()]
        texts = pc.replace_with_mask(texts, special, pa.array(escaped, TEXT))
    return pc.fill_null(texts, "null")


def csv_fields(column: Any, delimiter: bytes) -> Any:
    r"""Return the values as fields, in quotes where they need them; null is an empty field.

    >>> csv_fields(pa.array(["a b", 'a "b", c', None]), b",").to_pylist()
    ['a b', '"a ""b"", c"', '']
    """
    if not _is_text(column):
        return pc.fill_null(_plain(column), "")
    texts = column.cast(TEXT)
    special = pc.match_substring_regex(texts, f'["\n\r{delimiter.decode()}]')
    if pc.any(special).as_py():
        texts = pc.if_else(special, joined('"', pc.replace_substring(texts, '"', '""'), '"'), texts)
    return pc.fill_null(texts, "")


def more_fields(added: Any, delimiter: bytes) -> Any:
    """Return the fields of each row, each after a delimiter."""
    parts = []
    for column in added.columns:
        parts += [delimiter.decode(), csv_fields(single(column), delimiter)]
    return joined(*parts)


def quoted(value: str, delimiter: bytes) -> bytes:
    """Return a value as a field, in quotes where it needs them.

    >>> quoted("a,b", b","), quoted("a b", b",")
    (b'"a,b"', b'a b')
    """
    field = value.encode("utf-8")
    if any(mark in field for mark in (delimiter, b'"', b"\n", b"\r")):
        return b'"' + field.replace(b'"', b'""') + b'"'
    return field


def _is_text(column: Any) -> bool:
    return column.type in (pa.string(), TEXT)


def _plain(column: Any) -> Any:
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, pa.scalar("true", TEXT), pa.scalar("false", TEXT))
    return _shortest(column) if pa.types.is_floating(column.type) else column.cast(TEXT)


def _shortest(column: Any) -> Any:
    """Write floats as Python does, each distinct one once: the fewest digits that give it back."""
    encoded = column.view(pa.int64()).dictionary_encode()
    values = encoded.dictionary.to_numpy().view(np.float64)
    return pa.array([repr(value) for value in values.tolist()], TEXT).take(encoded.indices)
