"""A look at the first documents: which columns a collection has, before anything is read for good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa

from sosie.documents.blocks import find_lines, read_blocks
from sosie.documents.columns import Columns, check_names, check_schema, schema_columns
from sosie.documents.csv_blocks import read_header
from sosie.documents.inputs import Input
from sosie.documents.line import members_of, parse_line
from sosie.documents.order import Order
from sosie.documents.parquet import read_schema
from sosie.documents.warc import RECORD_ID
from sosie.errors import UsageError

# So many JSON objects without the column, and the name is wrong rather than the data.
PATIENCE = 100
# So many without the member that decides the order, likewise.
SPARSE = 10_000
TABULAR = ("jsonl", "csv", "tsv", "parquet")
_PROBE_BYTES = 1 << 16
# Formats without columns, whose documents have names of their own.
_NAMED = ("text", "warc")
_JSON_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def find_columns(inputs: list[Input], wanted: Columns, patient: bool) -> Columns:
    """Decide the columns of a collection from its first usable document, and check every schema.

    Without an id column, the column `id` is used if the first document has one, or the record ids of WARC files that
    stand beside nothing but text files. `patient` looks beyond documents that will be skipped; otherwise the reader
    raises at the first one.
    """
    inputs = [source for source in inputs if source.files is None or source.files.are_readable]
    schemas = {source.path: _schema(source) for source in inputs if source.format not in ("jsonl", *_NAMED)}
    if wanted.order is not None:
        wanted = replace(wanted, order_type=_order_type(inputs, wanted.order))
    columns = _from_first_documents(inputs, schemas, wanted, patient)
    if columns.id is not None and columns.id_type is None:
        columns = replace(columns, id_type=pa.large_string())
    if columns.id is None and all(source.format in _NAMED for source in inputs) and _first(inputs, "warc"):
        columns = replace(columns, id=RECORD_ID, id_type=pa.large_string())
    if named := _first(inputs, *_NAMED):
        _check_text_ids(named, columns)
    for path, schema in schemas.items():
        if schema is not None:
            check_schema(schema, columns, path)
    return columns


def _first(inputs: list[Input], *formats: str) -> Input | None:
    return next((source for source in inputs if source.format in formats), None)


def _check_text_ids(source: Input, columns: Columns) -> None:
    if columns.id_type == pa.int64():
        path = source.path
        if source.files is not None:
            path = next(entry.path for entry in source.files.entries if entry.problem is None)
        kind, ids = ("WARC files", "record ids") if source.files is None else ("text files", "their names")
        raise UsageError(
            f"{path}: the ids of {kind} are {ids}, and those of the first input are integers ({columns.id!r}). "
            f"Name a column of text with --id-column, or give the {kind} alone."
        )


def _schema(source: Input) -> Any:
    """Return the Arrow schema of a Parquet file, or of a CSV file by its header: all text; None if it is empty."""
    if source.format == "parquet":
        return read_schema(source)
    header = read_header(source)
    return None if header is None else pa.schema([pa.field(name, pa.large_string()) for name in header.names])


def _from_first_documents(inputs: list[Input], schemas: dict[str, Any], columns: Columns, patient: bool) -> Columns:
    objects, complete = 0, False
    lacking: tuple[str, list[str], list[str]] | None = None
    for source in inputs:
        if source.format in _NAMED:
            if columns.id is None and not objects:
                return columns
            continue
        if source.path in schemas:
            if schemas[source.path] is None:
                continue
            return schema_columns(schemas[source.path], columns, source.path, may_find_id=not objects)
        for line in _lines(source):
            found = members_of(line)
            if found is None:
                if not patient:
                    return columns
                continue
            objects += 1
            present = found.names()
            if objects == 1 and columns.id is None and columns.text != "id" and "id" in present:
                columns = replace(columns, id="id")
            missing = [name for name in (columns.text, columns.id) if name is not None and not found.find(name)]
            if missing:
                lacking = lacking or (source.path, present, missing)
            else:
                complete = True
                outcome = parse_line(line, columns)
                if not isinstance(outcome, str):
                    return replace(columns, id_type=_id_type(outcome[1]))
                if not patient:
                    return columns
            if objects == PATIENCE and not complete:
                break
        if objects >= PATIENCE and not complete:
            break
    if lacking and not complete:
        path, present, missing = lacking
        _refuse(path, present, missing)
    return columns


def _order_type(inputs: list[Input], order: Order) -> Any:
    """Return the type of the first value in JSON lines; objects may lack it, but not all of the first ones."""
    for source in inputs:
        if source.format not in TABULAR:
            raise UsageError(
                f"{source.path}: has no column {order.column!r}, because it is not a table. "
                "Use --keep first or longest, or leave it out."
            )
    lines = (line for source in inputs if source.format == "jsonl" for line in _lines(source))
    first, found = None, False
    for members in islice(filter(None, map(members_of, lines)), SPARSE):
        first = first or members.names()
        values = members.find(order.column)
        found = found or bool(values)
        if values and values[0] is not None:
            return _JSON_TYPES.get(type(values[0]), pa.large_string())
    if first is not None and not found:
        _refuse(next(source.path for source in inputs if source.format == "jsonl"), first, [order.column])
    return pa.int64()


def _refuse(path: str, present: list[str], names: list[str]) -> None:
    check_names(pa.schema([pa.field(name, pa.null()) for name in present]), names, path)


def _id_type(value: object) -> Any:
    return None if value is None else pa.int64() if isinstance(value, int) else pa.large_string()


def _lines(source: Input) -> Iterator[bytes]:
    for block in read_blocks(source, _PROBE_BYTES):
        lines = find_lines(block)
        yield from (block[start:end] for start, end in zip(lines.starts, lines.ends, strict=True))
