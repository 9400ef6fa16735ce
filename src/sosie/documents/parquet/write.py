"""Parquet rows, or rows in memory, to their places: same columns, schema, metadata and compression."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.columns import single
from sosie.documents.parquet.read import open_parquet, read_parquet, slice_table
from sosie.documents.share import ANNOTATED, COPIED, Share, free_names
from sosie.types import Bools

_ROWS = 1 << 16
GROUP_BYTES = 64 << 20


def split_parquet(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the rows of a Parquet file to their places; return how many it had."""
    with open_parquet(share.source) as file:
        schema, compression = file.schema_arrow, _compressions(file.metadata)
    return _split_rows(share, read_parquet(share.source, None, _ROWS, threads), schema, compression, advance)


def split_table(share: Share, advance: Callable[[int], None]) -> int:
    """Write the rows of a table in memory to their places; return how many it had."""
    table = share.source.table
    return _split_rows(share, slice_table(table, None, _ROWS), table.schema, "zstd", advance)


def _split_rows(
    share: Share, batches: Iterator[Any], schema: Any, compression: Any, advance: Callable[[int], None]
) -> int:
    done = 0
    with contextlib.ExitStack() as stack:
        copies = annotated = None
        if share.copies is not None:
            copies = stack.enter_context(RowGroups(share.copies, schema, compression))
        if share.annotated is not None:
            annotated = stack.enter_context(RowGroups(share.annotated, _wider(schema, share), compression))
        for batch in batches:
            place = share.places(done, batch.num_rows)
            if copies is not None:
                for part in _choose(batch, place == COPIED):
                    copies.add(part)
            if annotated is not None:
                for part in _widen(batch, place == ANNOTATED, share.columns(done, place), annotated.schema):
                    annotated.add(part)
            done += batch.num_rows
            advance(batch.num_rows)
    return done


def _widen(batch: Any, chosen: Bools, added: Any, schema: Any) -> Iterator[Any]:
    """Yield the chosen rows with the columns that are added to them."""
    done = 0
    for part in _choose(batch, chosen):
        more = [single(column) for column in added.slice(done, part.num_rows).columns]
        yield pa.record_batch([*part.columns, *more], schema=schema)
        done += part.num_rows


def _choose(batch: Any, chosen: Bools) -> list[Any]:
    """Return the chosen rows; as slices of neighbours where a column's type (views) has no filter in Arrow."""
    try:
        return [batch.filter(pa.array(chosen))]
    except pa.ArrowNotImplementedError:
        edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
        return [batch.slice(start, stop - start) for start, stop in edges.tolist()]


class RowGroups:
    """A Parquet file written in row groups of about `GROUP_BYTES` as rows come."""

    def __init__(self, path: Path, schema: Any, compression: Any) -> None:
        self.schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression=compression)
        self._waiting: list[Any] = []
        self._bytes = 0

    def add(self, batch: Any) -> None:
        """Append rows."""
        if batch.num_rows:
            self._waiting.append(batch)
            self._bytes += batch.nbytes
        if self._bytes >= GROUP_BYTES:
            self._flush()

    def __enter__(self) -> RowGroups:
        return self

    def __exit__(self, *error: object) -> None:
        """Write what is waiting and the footer."""
        try:
            self._flush()
        finally:
            self._writer.close()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self.schema))
            self._waiting, self._bytes = [], 0


def _wider(schema: Any, share: Share) -> Any:
    for name, kind in zip(free_names(share.added.names, schema.names), share.added.schema.types, strict=True):
        schema = schema.append(pa.field(name, kind))
    return schema


def _compressions(metadata: Any) -> Any:
    """Return the compression of each column in the first row group, as the writer wants it."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    chunks = [group.column(index) for index in range(group.num_columns)]
    names = {chunk.path_in_schema: chunk.compression for chunk in chunks}
    return {path: "NONE" if name == "UNCOMPRESSED" else name for path, name in names.items()}
