"""Arrow files and streams in small batches: sizes are checked before unpacking, offsets before they are used."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from sosie.documents.feather.messages import Layout, read_layout
from sosie.documents.input import Input
from sosie.documents.nested import is_text, path_of, pick
from sosie.documents.tables.names import check_text_names
from sosie.documents.tables.slices import rows_per_slice, text_bytes
from sosie.documents.tables.values import check_values
from sosie.errors import DataError

PIECE_BYTES = 4 << 20
_ROWS = 1 << 16
_OLD = b"FEA1"


def layout_of(source: Input) -> Layout:
    """Return what the headers of a file say; raise if it is damaged, or expands too far."""
    source.check_unchanged()
    with named(source):
        with source.open(1 << 16) as file:
            head = file.read(len(_OLD))
            if head == _OLD:
                raise DataError(
                    f"{source.path}: is Feather of version 1, which is no longer written. Write it again: "
                    "pandas.read_feather(...).to_feather(...)."
                )
            if not head:
                raise ValueError("it is empty")
            layout = read_layout(file, source.size)
    source.check_expansion(layout.expanded)
    return layout


def read_schema(source: Input) -> Any:
    """Return the schema of a file."""
    with open_batches(source, layout_of(source)) as reader:
        return reader.schema


@contextlib.contextmanager
def open_batches(source: Input, layout: Layout, fields: list[int] | None = None) -> Iterator[Any]:
    """Open a file for its record batches, of all columns or of some."""
    with contextlib.ExitStack() as stack:
        with named(source):
            opened = source.openable()
            file = stack.enter_context(pa.OSFile(opened) if isinstance(opened, str) else pa.PythonFile(opened, "r"))
            options = pa.ipc.IpcReadOptions(included_fields=fields)
            make = pa.ipc.open_stream if layout.is_stream else pa.ipc.open_file
            reader = stack.enter_context(make(file, options=options))
            check_text_names(reader.schema)
        yield reader


def read_whole_batches(source: Input, layout: Layout, fields: list[int] | None = None) -> Iterator[Any]:
    """Yield the record batches as they are in the file."""
    with open_batches(source, layout, fields) as reader:
        count = None if layout.is_stream else reader.num_record_batches
        number = 0
        while number != count:
            with named(source):
                try:
                    batch = reader.read_next_batch() if count is None else reader.get_batch(number)
                except StopIteration:
                    return
                check_values(batch)
            yield batch
            number += 1


def read_feather(
    source: Input, names: list[str] | None, watch: Callable[[int], None] = lambda position: None
) -> Iterator[Any]:
    """Yield record batches of the columns, bounded in rows and bytes; `watch` is told how far reading has come."""
    layout = layout_of(source)
    fields = None
    if names is not None:
        with open_batches(source, layout) as reader:
            schema = reader.schema
        fields = sorted({schema.names.index((path_of(schema, name) or [name])[0]) for name in names})
    done = expanded = 0
    for batch in read_whole_batches(source, layout, fields):
        done += batch.nbytes
        watch(min(source.size, source.size * done // max(layout.expanded, 1)))
        chosen = batch if names is None else pick(batch, names)
        step = max(1, min(_ROWS, PIECE_BYTES * chosen.num_rows // max(chosen.nbytes, 1)))
        step = rows_per_slice(chosen, step)
        for start in range(0, chosen.num_rows, step):
            part = chosen.slice(start, step)
            expanded += sum(text_bytes(column) for column in part.columns if is_text(column.type))
            source.check_expansion(expanded)
            yield part
    watch(source.size)
    source.check_unchanged()


@contextlib.contextmanager
def named(source: Input) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException, MemoryError) as error:
        source.check_unchanged()
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{source.path}: is damaged or not an Arrow file ({detail}). Restore the file or leave it out."
        ) from error
