"""Fields inside fields: `meta.body` is the field `body` of `meta`, unless a column has that very name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def path_of(schema: Any, name: str) -> list[str] | None:
    """Return the names that lead to a field, None if there is none.

    >>> path_of(pa.schema({"meta": pa.struct({"body": pa.string()})}), "meta.body")
    ['meta', 'body']
    """
    if name in schema.names:
        return [name]
    path = name.split(".")
    fields: Any = schema
    for step in path:
        if fields is None or fields.names.count(step) != 1:
            return None
        kind = fields.field(step).type
        fields = kind if pa.types.is_struct(kind) else None
    return path


def find_field(schema: Any, name: str) -> Any:
    """Return a field of a schema by its dotted name, None if there is none."""
    path = path_of(schema, name)
    if path is None:
        return None
    field = schema.field(path[0])
    for step in path[1:]:
        field = field.type.field(step)
    return field


def pick(batch: Any, names: list[str]) -> Any:
    """Return a batch or table of these columns alone, each under its dotted name."""
    if all(name in batch.schema.names for name in names):
        return batch.select(names)
    arrays = []
    for name in names:
        path = path_of(batch.schema, name) or [name]
        column = batch.column(path[0])
        arrays.append(pc.struct_field(column, path[1:]) if len(path) > 1 else column)
    return type(batch).from_arrays(arrays, names=names)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds texts: any string type, or a dictionary of strings."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def text_fields(kind: Any, name: str) -> Iterator[str]:
    """Yield the dotted names of the texts inside a struct type."""
    for field in kind:
        inside = f"{name}.{field.name}"
        if pa.types.is_struct(field.type):
            yield from text_fields(field.type, inside)
        elif is_text(field.type):
            yield inside


def nested_schema(types: dict[str, Any]) -> Any:
    """Return the schema of objects that hold these fields under either spelling, None if two names exclude each other.

    >>> nested_schema({"meta.body": pa.string()}).names
    ['meta.body', 'meta']
    """
    tree: dict[str, Any] = {}
    for name, kind in types.items():
        for path in ([name], name.split(".")) if "." in name else ([name],):
            level = tree
            for step in path[:-1]:
                level = level.setdefault(step, {})
                if not isinstance(level, dict):
                    return None
            if level.setdefault(path[-1], kind) is not kind:
                return None
    return pa.schema(_fields(tree))


def pick_either(table: Any, name: str) -> Any:
    """Return a column of a table that `nested_schema` describes: the field of the very name, where it is there."""
    column = table.column(name)
    if "." not in name:
        return column
    path = name.split(".")
    return pc.coalesce(column, pc.struct_field(table.column(path[0]), path[1:]))


def without_inner_views(schema: Any) -> Any:
    """Return a schema without views of strings or bytes inside lists, structs and dictionaries (Polars has them).

    Arrow can neither gather nor write these.

    >>> without_inner_views(pa.schema({"tags": pa.list_(pa.string_view())})).field("tags").type
    ListType(list<item: large_string>)
    """
    fields = [field if field.type in _VIEWS else field.with_type(_without_views(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def _without_views(kind: Any) -> Any:
    if kind in _VIEWS:
        return _VIEWS[kind]
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_views(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return kind
    for is_list, make in _LISTS:
        if is_list(kind):
            return make(kind.value_field.with_type(_without_views(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_without_views(kind.value_type)), kind.list_size)
    return kind


_LISTS = ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list))


def _fields(tree: dict[str, Any]) -> list[Any]:
    return [pa.field(name, pa.struct(_fields(kind)) if isinstance(kind, dict) else kind) for name, kind in tree.items()]
