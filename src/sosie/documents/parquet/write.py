"""Parquet rows, or rows in memory, to their places: same columns, schema, metadata and compression."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.parquet.read import open_parquet, read_parquet, slice_table
from sosie.documents.parquet.settings import read_settings
from sosie.documents.share import ANNOTATED, COPIED, LEFT_OUT, Share
from sosie.documents.tables.choose import choose_rows, widen_rows, wider_schema

_ROWS = 1 << 16
GROUP_BYTES = 64 << 20


def split_parquet(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the rows of a Parquet file to their places; return how many it had."""
    with open_parquet(share.source) as file:
        schema = file.schema_arrow
    written = share.place != LEFT_OUT if share.copies is None else share.place == COPIED
    settings = read_settings(share.source, float(written.mean()) if len(written) else 1.0)
    return _split_rows(share, read_parquet(share.source, None, _ROWS, threads), schema, settings, advance)


def split_table(share: Share, advance: Callable[[int], None]) -> int:
    """Write the rows of a table in memory to their places; return how many it had."""
    table = share.source.table
    return _split_rows(share, slice_table(table, None, _ROWS), table.schema, {"compression": "zstd"}, advance)


def _split_rows(
    share: Share, batches: Iterator[Any], schema: Any, settings: dict[str, Any], advance: Callable[[int], None]
) -> int:
    done = 0
    with contextlib.ExitStack() as stack:
        copies = annotated = None
        if share.copies is not None:
            copies = stack.enter_context(RowGroups(share.copies, schema, settings))
        if share.annotated is not None:
            annotated = stack.enter_context(RowGroups(share.annotated, wider_schema(schema, share), settings))
        for batch in batches:
            place = share.places(done, batch.num_rows)
            if copies is not None:
                for part in choose_rows(batch, place == COPIED):
                    copies.add(part)
            if annotated is not None:
                for part in widen_rows(batch, place == ANNOTATED, share.columns(done, place), annotated.schema):
                    annotated.add(part)
            done += batch.num_rows
            advance(batch.num_rows)
    return done


class RowGroups:
    """A Parquet file written in row groups of about `GROUP_BYTES` as rows come."""

    def __init__(self, path: Path, schema: Any, settings: dict[str, Any]) -> None:
        self.schema = schema
        self._writer = pq.ParquetWriter(path, schema, **settings)
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
            # In one piece: pages end where chunks do, and more of them are larger.
            self._writer.write_table(pa.Table.from_batches(self._waiting, self.schema).combine_chunks())
            self._waiting, self._bytes = [], 0
