"""Parquet files, or tables in memory, in Arrow batches that are small however well a file is packed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.input import Input
from sosie.documents.nested import is_text, pick
from sosie.documents.parquet.footer import Footer, read_footer
from sosie.documents.parquet.rows import claimed_bytes, plan_pieces, unpack
from sosie.documents.tables.names import check_text_names
from sosie.documents.tables.slices import rows_per_slice, text_bytes
from sosie.errors import DataError

_WORTH = 8  # times what is wanted of a row group that are read to have it from all over the group


@contextlib.contextmanager
def open_parquet(source: Input, packed: list[str] | None = None) -> Iterator[Any]:
    """Open a Parquet file that must be the one that was listed; damage is a `DataError` naming the file.

    The `packed` columns are read as dictionaries.
    """
    source.check_unchanged()
    with _named(source):
        file = pq.ParquetFile(
            source.openable(),
            read_dictionary=packed,
            buffer_size=1 << 20,
            pre_buffer=False,  # so that a column chunk of any size is streamed
            page_checksum_verification=True,  # of the pages that have one
        )
    with file:
        yield file


def footer_of(source: Input) -> Footer:
    """Return what the footer of a Parquet file says of its row groups and columns."""
    source.check_unchanged()
    with _named(source), source.open() as file:
        return read_footer(file, source.size)


def read_schema(source: Input) -> Any:
    """Return the Arrow schema of a Parquet file."""
    with open_parquet(source) as file, _named(source):
        return check_text_names(file.schema_arrow)


def read_parquet(
    source: Input,
    names: list[str] | None,
    batch_size: int,
    threads: int | None,
    watch: Callable[[int], None] = lambda position: None,
) -> Iterator[Any]:
    """Yield record batches of the columns, bounded in rows and bytes; the texts come first if columns are named.

    `watch` is told how far in the file reading has come, judged by the rows.
    """
    footer, schema = footer_of(source), read_schema(source)
    source.check_expansion(claimed_bytes(footer, names))
    with _named(source):
        plan = plan_pieces(footer, schema, source, names, batch_size)
    done = expanded = 0
    with open_parquet(source, plan.packed) as file:
        with _named(source):
            batches = file.iter_batches(batch_size=plan.rows, columns=names, use_threads=threads != 1)
        for batch in _each_named(source, batches):
            done += batch.num_rows
            watch(source.size * done // max(footer.rows, 1))
            for part in unpack(batch, schema) if plan.packed else [batch]:
                chosen = pick(part, names) if names else part
                expanded += sum(text_bytes(column) for column in chosen.columns if is_text(column.type)) if names else 0
                source.check_expansion(expanded)
                yield chosen
    source.check_unchanged()
    if done != footer.rows:
        raise DataError(
            f"{source.path}: is damaged: it has {done:,} rows, not {footer.rows:,} as its footer says. Restore the "
            "file or leave it out."
        )


def parquet_at(source: Input, names: list[str] | None, places: Sequence[float], size: int) -> Iterator[tuple[Any, int]]:
    """Yield record batches of about `size` bytes from some places of a file, with what they take of it, judged by rows.

    Row groups can only be read from their beginning: a small one is read through for a place in it, and of a large one
    the first rows are taken.
    """
    footer = footer_of(source)
    firsts = np.cumsum([0, *(group.rows for group in footer.groups)])
    unpacked = [
        sum(chunk.unpacked for chunk in group.chunks if names is None or chunk.path in names) for group in footer.groups
    ]
    rows_of: dict[int, list[int]] = {}
    for place in places:
        row = min(int(place * footer.rows), max(footer.rows - 1, 0))
        group = int(np.searchsorted(firsts, row, side="right")) - 1
        rows_of.setdefault(group, []).append(row - int(firsts[group]))
    with open_parquet(source) as file:
        for group, wanted in rows_of.items():
            if not 0 <= group < len(footer.groups) or not footer.groups[group].rows:
                continue
            many = footer.groups[group].rows
            step = max(1, min(many, size * many // max(unpacked[group], 1)))
            through = unpacked[group] <= len(wanted) * _WORTH * size
            left = sorted({row // step for row in wanted}) if through else list(range(len(wanted)))
            with _named(source):
                batches = file.iter_batches(batch_size=step, row_groups=[group], columns=names, use_threads=False)
            for number, batch in enumerate(_each_named(source, batches)):
                if not left:
                    break
                if number == left[0]:
                    left.pop(0)
                    yield pick(batch, names) if names else batch, source.size * batch.num_rows // max(footer.rows, 1)


def table_at(table: Any, names: list[str] | None, places: Sequence[float], size: int) -> Iterator[tuple[Any, int]]:
    """Yield slices of about `size` bytes from some places of a table in memory."""
    chosen = pick(table, names) if names else table
    step = max(1, min(chosen.num_rows, size * chosen.num_rows // max(chosen.nbytes, 1)))
    for place in places:
        for batch in chosen.slice(int(place * chosen.num_rows), step).to_batches():
            yield batch, batch.num_rows


def slice_table(table: Any, names: list[str] | None, batch_size: int) -> Iterator[Any]:
    """Yield record batches of a table in memory."""
    chosen = pick(table, names) if names else table
    yield from chosen.to_batches(max_chunksize=rows_per_slice(chosen, batch_size))


def _each_named(source: Input, batches: Iterator[Any]) -> Iterator[Any]:
    while True:
        with _named(source):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@contextlib.contextmanager
def _named(source: Input) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        source.check_unchanged()
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{source.path}: is damaged or not Parquet ({detail}). Restore the file or leave it out."
        ) from error
