"""One record of CSV or TSV: what is accepted, and the exact reason where it is not.

This defines what a document is; the fast path in `decode` must agree with it. RFC 4180, with one liberty that every
reader takes: a quote is special only at the beginning of a field, so `5" disk` needs none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sosie.documents.columns import Columns, Parsed
from sosie.documents.input import Input
from sosie.documents.order import order_value
from sosie.errors import DataError

_QUOTED = re.compile(rb'"([^"]*+(?:""[^"]*+)*+)"')


@dataclass(frozen=True)
class CsvHeader:
    """The first record of a file: the names of its columns, its bytes without the line end, and the line end."""

    names: list[str]
    raw: bytes
    end: bytes
    delimiter: bytes


def parse_record(record: bytes, header: CsvHeader, columns: Columns) -> Parsed | str:
    """Return text, id (None where ids are made) and order of a record, or the reason why it is not a document.

    >>> header = CsvHeader(["id", "text"], b"id,text", b"", b",")
    >>> parse_record(b'007,"a ""rose"", red"', header, Columns("text", "id"))
    ('a "rose", red', '007', None)
    >>> parse_record(b"007,a rose, red", header, Columns("text", "id"))
    '3 fields instead of 2'
    """
    fields = _fields(record, header.delimiter)
    if isinstance(fields, str):
        return fields
    if len(fields) != len(header.names):
        return f"{len(fields)} field{'s' if len(fields) > 1 else ''} instead of {len(header.names)}"
    values = {name: fields[header.names.index(name)].decode("utf-8") for name in columns.names}
    text = "\n".join(values[name] for name in columns.texts)
    identifier = None if columns.id is None else values[columns.id]
    order = None if columns.order is None else order_value(values[columns.order.column], columns.order)
    return order if isinstance(order, str) else (text, identifier, order)


def parse_header(source: Input, record: bytes, end: bytes, line: int) -> CsvHeader:
    """Return the header of a file; raise if it is not a record."""
    delimiter = delimiter_of(source)
    fields = _fields(record, delimiter)
    if isinstance(fields, str):
        raise DataError(
            f"{source.path}, line {line}: the header has {fields}. Write the names of the columns there, in UTF-8."
        )
    return CsvHeader([field.decode("utf-8") for field in fields], record, end, delimiter)


def delimiter_of(source: Input) -> bytes:
    """Return what separates the fields of a record."""
    if source.delimiter is not None:
        return source.delimiter.encode("ascii")
    return b"\t" if source.format == "tsv" else b","


def without_return(record: bytes) -> bytes:
    """Return a record without the carriage return of its line end."""
    return record[:-1] if record.endswith(b"\r") else record


def _fields(record: bytes, delimiter: bytes) -> list[bytes] | str:
    """Cut a record, without its line end, into the values of its fields; or say why that cannot be done."""
    try:
        record.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 (byte {error.start + 1} of the record)"
    if (at := record.find(b"\0")) >= 0:
        return f"a NUL byte (byte {at + 1} of the record)"
    if b'"' not in record and b"\r" not in record:
        return record.split(delimiter)
    fields: list[bytes] = []
    start = 0
    while True:
        if record.startswith(b'"', start):
            found = _QUOTED.match(record, start)
            if found is None:
                return f"a quote that is not closed (field {len(fields) + 1})"
            stop = found.end()
            if stop < len(record) and record[stop : stop + 1] != delimiter:
                return f"text after the closing quote (field {len(fields) + 1}; a quote inside quotes is written twice)"
            fields.append(found[1].replace(b'""', b'"'))
        else:
            stop = record.find(delimiter, start)
            stop = len(record) if stop < 0 else stop
            fields.append(record[start:stop])
            if b"\r" in fields[-1]:
                return f"a carriage return outside quotes (field {len(fields)})"
        if stop >= len(record):
            return fields
        start = stop + 1
