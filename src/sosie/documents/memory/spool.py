"""What comes in a stream, kept as one table: in memory while it is small, beyond that in a temporary file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from sosie.errors import UsageError
from sosie.storage.durable import naming

IN_MEMORY = 64 << 20  # bytes beyond which tables are written to a file


def gather(tables: Iterable[Any]) -> Any:
    """Return tables, one after the other, as one; what is beyond IN_MEMORY is mapped from a file that has no name.

    Columns that a table lacks are null there.

    >>> gather(iter([pa.table({"text": ["a"]}), pa.table({"text": ["b"], "id": [1]})])).to_pydict()
    {'text': ['a', 'b'], 'id': [None, 1]}
    """
    held: list[Any] = []
    done: list[Any] = []
    size = 0
    for table in tables:
        held.append(table)
        size += table.nbytes
        if size > IN_MEMORY:
            done += [_written(run) for run in _runs(held)]
            held, size = [], 0
    try:
        return pa.concat_tables([*done, *held], promote_options="permissive")
    except pa.ArrowException as error:
        raise UsageError(f"{_clash([*done, *held])}. Give it one type, or leave it out.") from error


def _runs(tables: list[Any]) -> Iterator[list[Any]]:
    """Yield tables of one schema that follow each other."""
    run: list[Any] = []
    for table in tables:
        if run and not table.schema.equals(run[0].schema):
            yield run
            run = []
        run.append(table)
    if run:
        yield run


def _written(tables: list[Any]) -> Any:
    """Write tables to a temporary file, and map it; the file is gone with the map."""
    with naming(tempfile.gettempdir()):
        descriptor, path = tempfile.mkstemp(".arrow", "sosie-")
    try:
        with naming(path), open(descriptor, "wb") as file, pa.ipc.new_file(file, tables[0].schema) as writer:
            for table in tables:
                writer.write_table(table)
        return pa.ipc.open_file(pa.memory_map(path)).read_all()
    finally:
        os.unlink(path)


def _clash(tables: list[Any]) -> str:
    """Say which column has two types that do not go together."""
    kinds: dict[str, Any] = {}
    for table in tables:
        for field in table.schema:
            known = kinds.setdefault(field.name, field.type)
            if known != field.type and not pa.types.is_null(field.type):
                if not pa.types.is_null(known):
                    return f"the column {field.name!r} holds {known} at first and {field.type} later"
                kinds[field.name] = field.type
    return "the documents do not have the same columns"
