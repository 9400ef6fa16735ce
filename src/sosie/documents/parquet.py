"""Arrow batches, from Parquet files or from memory, to checked columns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.inputs import Input
from sosie.documents.nested import pick
from sosie.documents.order_column import decode_order
from sosie.documents.parquet_rows import plan_pieces, rows_per_slice, text_bytes, unpack
from sosie.errors import DataError
from sosie.types import Bools


@contextlib.contextmanager
def open_parquet(source: Input, packed: list[str] | None = None) -> Iterator[Any]:
    """Open a Parquet file that must be the one that was listed; damage is a `DataError` naming the file.

    The `packed` columns are read as dictionaries.
    """
    source.check_unchanged()
    with _named(source):
        # Without pre-buffering a column chunk of any size is streamed.
        file = pq.ParquetFile(source.path, read_dictionary=packed, buffer_size=1 << 20, pre_buffer=False)
    with file:
        yield file


def read_schema(source: Input) -> Any:
    """Return the Arrow schema of a Parquet file."""
    with open_parquet(source) as file, _named(source):
        return file.schema_arrow


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
    with open_parquet(source) as file, _named(source):
        plan, schema = plan_pieces(file, source.path, names, batch_size), file.schema_arrow
    done = expanded = 0
    with open_parquet(source, plan.packed) as file:
        with _named(source):
            batches = file.iter_batches(batch_size=plan.rows, columns=names, use_threads=threads != 1)
        for batch in _each_named(source, batches):
            done += batch.num_rows
            watch(source.size * done // file.metadata.num_rows)
            for part in unpack(batch, schema) if plan.packed else [batch]:
                chosen = pick(part, names) if names else part
                expanded += text_bytes(chosen.column(0)) if names else 0
                source.check_expansion(expanded)
                yield chosen
    source.check_unchanged()


def slice_table(table: Any, names: list[str] | None, batch_size: int) -> Iterator[Any]:
    """Yield record batches of a table in memory."""
    chosen = pick(table, names) if names else table
    yield from chosen.to_batches(max_chunksize=rows_per_slice(chosen, batch_size))


def decode_columns(batch: Any, columns: Columns) -> Records:
    """Check the texts, the ids and the order of an Arrow batch.

    >>> decode_columns(pa.record_batch({"text": ["a", None]}), Columns("text")).problems
    {1: "'text' is null"}
    """
    count = batch.num_rows
    problems: dict[int, str] = {}
    texts, ids, order = columns.split(batch.columns)
    texts = _as_text(texts)
    good = _usable_text(texts, columns.text, problems)
    if columns.id is not None:
        if columns.id_type == pa.int64():
            ids, usable = _as_integer(ids, columns.id, problems)
        else:
            ids = _as_text(ids)
            usable = _usable_text(ids, columns.id, problems)
        good &= usable
    if columns.order is not None:
        order, unread = decode_order(order, columns.order)
        problems = {**unread, **problems}
        good[list(unread)] = False
    accepted = np.flatnonzero(good)
    records = Records(count, texts, ids, np.arange(count), {}, None, count, order=order)
    return records if len(accepted) == count else records.without(dict(sorted(problems.items())))


def _as_text(array: Any) -> Any:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if pa.types.is_large_string(array.type) else array.cast(pa.large_string())


def _usable_text(array: Any, name: str, problems: dict[int, str]) -> Bools:
    good = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    for row in np.flatnonzero(~good).tolist():
        problems.setdefault(row, f"{name!r} is null")
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.large_binary())
        for row in np.flatnonzero(good).tolist():
            try:
                raw[row].as_py().decode("utf-8")
            except UnicodeDecodeError as error:
                good[row] = False
                problems.setdefault(row, f"{name!r} has invalid UTF-8 (byte {error.start + 1})")
    return good


def _as_integer(array: Any, name: str, problems: dict[int, str]) -> tuple[Any, Bools]:
    if pa.types.is_uint64(array.type):
        huge = pc.fill_null(pc.greater(array, pa.scalar(2**63 - 1, pa.uint64())), False)
        for row in np.flatnonzero(huge.to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(row, f"the id {name!r} is an integer beyond 64 bits; write it as text")
        array = pc.if_else(huge, None, array)
    array = array.cast(pa.int64())
    good = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    for row in np.flatnonzero(~good).tolist():
        problems.setdefault(row, f"the id {name!r} is null")
    return array, good


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
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        source.check_unchanged()
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{source.path}: is damaged or not Parquet ({detail}). Restore the file or leave it out."
        ) from error
