"""The names in the schema of a file, which may be damaged: whether they are text, those inside columns too."""

from __future__ import annotations

from typing import Any


def check_text_names(schema: Any) -> Any:
    """Return a schema; a name that is not UTF-8 raises UnicodeDecodeError, which is a ValueError.

    >>> import pyarrow as pa
    >>> check_text_names(pa.schema({"text": pa.list_(pa.string())})).names
    ['text']
    """
    for field in schema:
        _check(field)
    return schema


def _check(field: Any) -> None:
    _ = field.name
    for place in range(field.type.num_fields):
        _check(field.type.field(place))
