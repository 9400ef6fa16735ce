"""How many rows make a piece, so that it is small in memory however well a file is packed.

The footer says how large the pages are, not how large the rows: a dictionary may hold one long text that every row
stands for. So the dictionaries are looked at before rows are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.input import Input
from sosie.documents.parquet.footer import Footer
from sosie.documents.tables import slices
from sosie.documents.tables.slices import dictionary_lengths, is_bytes, rows_per_slice

PIECE_BYTES = 4 << 20
# Prefixes that rows share (DELTA_BYTE_ARRAY) can be measured only by decoding them.
_PREFIX_ROWS = 64
# Smaller column chunks are mostly dictionary: looking at that first would be reading them twice.
_SMALL_BYTES = 4 << 20


@dataclass(frozen=True)
class Plan:
    """How many rows of a Parquet file make a piece, and which columns are read as dictionaries and unpacked later."""

    rows: int
    packed: list[str]


def claimed_bytes(footer: Footer, names: list[str] | None) -> int:
    """Return how many bytes of text there are at least once pages are unpacked, as the footer says, but for lengths."""
    return sum(
        max(0, chunk.unpacked - 4 * group.rows)
        for group in footer.groups
        for chunk in group.chunks
        if chunk.type == "BYTE_ARRAY" and (names is None or chunk.path in names)
    )


def plan_pieces(footer: Footer, schema: Any, source: Input, names: list[str] | None, most: int) -> Plan:
    """Plan pieces of about `PIECE_BYTES` in the largest row group, and at most about `WORST_BYTES` in any case."""
    rows, packed, suspects = most, set(), {}
    for index, group in enumerate(footer.groups):
        chunks = [chunk for chunk in group.chunks if names is None or chunk.path in names]
        size = max(1, sum(chunk.unpacked for chunk in chunks))
        rows = min(rows, PIECE_BYTES * group.rows // size)
        if min(most, group.rows) * size <= slices.WORST_BYTES:
            continue
        texts = [chunk for chunk in chunks if chunk.type == "BYTE_ARRAY"]
        if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in texts):
            rows = min(rows, max(_PREFIX_ROWS, slices.WORST_BYTES // size))
        texts = [chunk for chunk in texts if chunk.has_dictionary]
        small = {chunk.path for chunk in texts if chunk.unpacked <= _SMALL_BYTES}
        packed |= {leaf for leaf in small if schema.names.count(leaf) == 1 and is_bytes(schema.field(leaf).type)}
        suspects[index] = {chunk.path for chunk in texts}
    longest = max(_longest_values(source, {group: leaves - packed for group, leaves in suspects.items()}), default=0)
    return Plan(max(1, min(rows, slices.WORST_BYTES // max(longest, 1))), sorted(packed))


def unpack(batch: Any, schema: Any) -> Iterator[Any]:
    """Yield the rows of a batch with columns as the schema says, in slices that are small when they are decoded."""
    step = rows_per_slice(batch, max(1, batch.num_rows))
    fields = [schema.field(field.name) if schema.names.count(field.name) == 1 else field for field in batch.schema]
    for start in range(0, batch.num_rows, step):
        part = batch.slice(start, step)
        columns = [
            column.dictionary_decode().cast(field.type)
            if pa.types.is_dictionary(column.type) and is_bytes(field.type)
            else column
            for column, field in zip(part.columns, fields, strict=True)
        ]
        # A struct that was read in part has another type than the whole.
        typed = [field.with_type(column.type) for column, field in zip(columns, fields, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(typed, schema.metadata))


def _longest_values(source: Input, suspects: dict[int, set[str]]) -> Iterator[int]:
    """Yield the length of the longest value in each dictionary; one row is enough to have it read."""
    leaves = sorted({leaf for group in suspects.values() for leaf in group})
    if not leaves:
        return
    with pq.ParquetFile(source.openable(), read_dictionary=leaves, pre_buffer=False) as file:
        for group, here in suspects.items():
            if here:
                batches = file.iter_batches(batch_size=1, row_groups=[group], columns=sorted(here), use_threads=False)
                for column in next(batches).columns:
                    yield from dictionary_lengths(column)
