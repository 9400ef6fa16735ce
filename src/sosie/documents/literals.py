"""Columns of values as text: as literals of JSON, and as fields of CSV or TSV."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.splice import TEXT, joined


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
