"""Which columns hold the texts and the ids, and whether an Arrow schema has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sosie.documents.html import Content
from sosie.errors import UsageError


@dataclass(frozen=True)
class Columns:
    """The text column, and the id column with its type (int64 or large_string), None where ids are made.

    Where the text column holds HTML, `html` says how much of it is text.
    """

    text: str
    id: str | None = None
    id_type: Any = None
    html: Content | None = None

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [self.text] if self.id is None else [self.text, self.id]

    @property
    def schema(self) -> Any:
        """The columns as an Arrow schema."""
        types = [pa.large_string(), self.id_type]
        return pa.schema(list(zip(self.names, types, strict=False)))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds texts: any string type, or a dictionary of strings."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def single(column: Any) -> Any:
    """Return a column of a table as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def schema_columns(schema: Any, columns: Columns, place: str, may_find_id: bool = True) -> Columns:
    """Complete the columns from the schema of the first documents."""
    found = may_find_id and "id" in schema.names and columns.text != "id"
    id_column = columns.id or ("id" if found else None)
    if id_column is None:
        check_schema(schema, columns, place)
        return columns
    check_names(schema.names, [columns.text, id_column], place)
    kind = schema.field(id_column).type
    completed = Columns(columns.text, id_column, pa.int64() if pa.types.is_integer(kind) else pa.large_string())
    check_schema(schema, completed, place)
    return completed


def check_schema(schema: Any, columns: Columns, place: str) -> None:
    """Raise unless the columns are there, once each, with types that can be read."""
    check_names(schema.names, columns.names, place)
    kind = schema.field(columns.text).type
    if not is_text(kind):
        raise UsageError(f"{place}: the column {columns.text!r} is {kind}, not text. Name another with --text-column.")
    if columns.id is None:
        return
    kind = schema.field(columns.id).type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise UsageError(f"{place}: the column {columns.id!r} is {kind}; ids are integers or text. See --id-column.")
    if pa.types.is_integer(kind) != pa.types.is_integer(columns.id_type):
        wanted = "integers" if pa.types.is_integer(columns.id_type) else "text"
        raise UsageError(f"{place}: the ids are {kind} here and {wanted} in the first input. Use one type in all.")


def check_names(present: list[str], names: list[str], place: str) -> None:
    """Raise unless each name is present once; the message lists what is there."""
    for name in names:
        found = present.count(name)
        if found != 1:
            problem = f"no column {name!r}" if not found else f"{found} columns {name!r}"
            there = ", ".join(present) or "none"
            raise UsageError(f"{place}: there is {problem}. The columns are: {there}. See --text-column, --id-column.")
