"""Parquet rows, or rows in memory, to kept and dropped: same columns, schema, metadata and compression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.parquet import open_parquet, read_parquet, slice_table
from sosie.documents.share import DROPPED, KEPT, Share, free_names
from sosie.types import Bools

_ROWS = 1 << 16
GROUP_BYTES = 64 << 20


def split_rows(share: Share, table: Any, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the rows of one input where its decisions say; return how many it had."""
    if table is not None:
        schema, compression = table.schema, "zstd"
        batches: Iterator[Any] = slice_table(table, None, _ROWS)
    else:
        with open_parquet(share.source) as file:
            schema, compression = file.schema_arrow, _compressions(file.metadata)
        batches = read_parquet(share.source, None, _ROWS, threads)
    done: int = 0
    dropped: int = 0
    kept_file = RowGroups(share.kept, schema, compression)
    dropped_file = None
    try:
        if share.has_dropped:
            dropped_file = RowGroups(share.dropped, _wider(schema, share), compression)
        for batch in batches:
            state = share.state[done : done + batch.num_rows]
            done += batch.num_rows
            advance(batch.num_rows)
            if len(state) < batch.num_rows:
                raise share.source.changed()
            for part in _choose(batch, state == KEPT):
                kept_file.add(part)
            if dropped_file is None:
                continue
            for part in _choose(batch, state == DROPPED):
                span = slice(dropped, dropped + part.num_rows)
                columns = [*part.columns, share.duplicate_of[span], pa.array(share.similarity[span])]
                dropped_file.add(pa.record_batch(columns, schema=dropped_file.schema))
                dropped += part.num_rows
    finally:
        kept_file.close()
        if dropped_file is not None:
            dropped_file.close()
    return done


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

    def close(self) -> None:
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
    twin, similarity = free_names(schema.names)
    return schema.append(pa.field(twin, share.duplicate_of.type)).append(pa.field(similarity, pa.float64()))


def _compressions(metadata: Any) -> Any:
    """Return the compression of each column in the first row group, as the writer wants it."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    chunks = [group.column(index) for index in range(group.num_columns)]
    names = {chunk.path_in_schema: chunk.compression for chunk in chunks}
    return {path: "NONE" if name == "UNCOMPRESSED" else name for path, name in names.items()}
