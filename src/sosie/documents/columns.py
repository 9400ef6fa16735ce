"""Which columns hold the texts, the ids and what decides who stays, and whether an Arrow schema has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.html import Content
from sosie.documents.nested import find_field, is_text, text_fields
from sosie.documents.order import Order, is_orderable, order_array
from sosie.errors import UsageError

# What to do about ids that cannot be used.
OTHER_IDS = "Name another --id-column, or none to number the documents."


@dataclass(frozen=True)
class Columns:
    """The text column, the id column with its type (int64 or large_string) or None where ids are made, and the order.

    `text` may be several columns, whose texts are joined by newlines: one that is null adds nothing, and a document
    has no text if all of them are. `numbered` makes ids even where there is a column `id`. `order_type` is the type
    that the first value of the order column suggests, where no schema says it. Where the text column holds HTML,
    `html` says how much of it is text.
    """

    text: str | tuple[str, ...]
    id: str | None = None
    id_type: Any = None
    order: Order | None = None
    order_type: Any = None
    html: Content | None = None
    numbered: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of the text, in their order."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @property
    def label(self) -> str:
        """The text column as a message names it; where there are several, the verb that follows is still `is`.

        >>> Columns("text").label, Columns(("title", "body")).label
        ("'text'", "each of 'title', 'body'")
        """
        return repr(self.text) if isinstance(self.text, str) else f"each of {', '.join(map(repr, self.text))}"

    @property
    def names(self) -> list[str]:
        """The columns to read: the texts, the id, the order; each once."""
        order = self.order.column if self.order else None
        return list(dict.fromkeys(name for name in (*self.texts, self.id, order) if name is not None))

    def split(self, arrays: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return the texts, the ids and the order of arrays that come as `names` says; None where there are none."""
        by_name = dict(zip(self.names, arrays, strict=True))
        ids = None if self.id is None else by_name[self.id]
        texts = joined_columns([by_name[name] for name in self.texts])
        return texts, ids, None if self.order is None else by_name[self.order.column]


def joined_columns(columns: list[Any]) -> Any:
    r"""Return one column of texts, joined by newlines row by row; one column is returned as it is.

    >>> joined_columns([pa.array(["a", None, None]), pa.array(["b", "c", None])]).to_pylist()
    ['a\nb', 'c', None]
    """
    if len(columns) == 1:
        return columns[0]
    decoded = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in columns]
    texts = [column.cast(pa.large_string()) for column in decoded]
    newline = pa.scalar("\n", pa.large_string())
    joined = texts[0]
    for column in texts[1:]:
        # Null where either is; Arrow's own way to skip nulls loses rows in which all are (seen in 26.0).
        both = pc.binary_join_element_wise(joined, column, newline)
        joined = pc.coalesce(both, joined, column)
    return joined


# The text, the id (None where ids are made) and the order of one record.
Parsed = tuple[str, "str | int | None", "int | float | None"]


def parsed_columns(parsed: list[Parsed], columns: Columns) -> tuple[Any, Any, Any]:
    """Return the texts, the ids and the order of records as Arrow arrays, None where there are none."""
    texts = pa.array([text for text, _, _ in parsed], pa.large_string())
    ids = None if columns.id is None else pa.array([identifier for _, identifier, _ in parsed], columns.id_type)
    return texts, ids, None if columns.order is None else order_array([order for _, _, order in parsed])


def single(column: Any) -> Any:
    """Return a column of a table as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def schema_columns(schema: Any, columns: Columns, place: str, may_find_id: bool = True) -> Columns:
    """Complete the columns from the schema of the first documents."""
    found = may_find_id and not columns.numbered and "id" in schema.names and "id" not in columns.texts
    id_column = columns.id or ("id" if found else None)
    if id_column is not None:
        check_names(schema, [*columns.texts, id_column], place)
        kind = find_field(schema, id_column).type
        id_type = pa.int64() if pa.types.is_integer(kind) else pa.large_string()
        columns = replace(columns, id=id_column, id_type=id_type)
    check_schema(schema, columns, place)
    return columns


def check_schema(schema: Any, columns: Columns, place: str) -> None:
    """Raise unless the columns are there, once each, with types that can be read."""
    check_names(schema, columns.names, place)
    for name in columns.texts:
        kind = find_field(schema, name).type
        if not is_text(kind):
            raise UsageError(f"{place}: the column {name!r} {_not_text(kind, name)}")
    if columns.id is not None:
        _check_ids(find_field(schema, columns.id).type, columns, place)
    if columns.order is not None:
        kind = find_field(schema, columns.order.column).type
        if not is_orderable(kind, columns.order):
            wanted = "times or numbers" if columns.order.kind == "newest" else "numbers"
            raise UsageError(f"{place}: the column {columns.order.column!r} is {kind}, not {wanted}. See --keep.")


def _not_text(kind: Any, name: str) -> str:
    if pa.types.is_struct(kind):
        inside = ", ".join(text_fields(kind, name)) or "none"
        return f"is a struct. The text fields inside are: {inside}. Name one with --text-column."
    if "binary" in str(kind):
        return f"is {kind}: bytes, not text. Decode them to text first, or name another --text-column."
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return f"is {kind}: several values for each document. Join them into one text, or name another --text-column."
    return f"is {kind}, not text. Name another with --text-column."


def _check_ids(kind: Any, columns: Columns, place: str) -> None:
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise UsageError(f"{place}: the column {columns.id!r} is {kind}; ids are integers or text. {OTHER_IDS}")
    if pa.types.is_integer(kind) != pa.types.is_integer(columns.id_type):
        wanted = "integers" if pa.types.is_integer(columns.id_type) else "text"
        raise UsageError(
            f"{place}: the ids are {kind} here and {wanted} in the first input. Use one type in all. {OTHER_IDS}"
        )


_NAME_ANOTHER = "Name another: --text-column, --id-column, --keep (in Python text_column=, id_column=, keep=)."


def check_names(schema: Any, names: list[str], place: str) -> None:
    """Raise unless each name is there once; the message lists what is there."""
    present = schema.names
    for name in names:
        found = present.count(name)
        if found == 1 or (not found and find_field(schema, name) is not None):
            continue
        problem = f"is no column {name!r}" if not found else f"are {found} columns {name!r}"
        there = f"The columns are: {', '.join(present) or 'none'}."
        texts = [field.name for field in schema if is_text(field.type) and field.name not in names]
        if texts and len(texts) < len(present):
            there += f" Texts are in: {', '.join(texts)}."
        raise UsageError(f"{place}: there {problem}. {there} {_remedy(name, present)}")


def _remedy(name: str, present: list[str]) -> str:
    """Say what to do about a column that is not there."""
    packed = next((mark for mark in ";\t|" if len(present) == 1 and mark in present[0]), None)
    if packed is not None:
        return f"If {packed!r} separates them, pass --delimiter {packed!r}."
    near = get_close_matches(name, present, 1)
    return f"Did you mean {near[0]!r}? {_NAME_ANOTHER}" if near else _NAME_ANOTHER
