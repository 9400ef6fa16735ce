"""How many rows make a piece, so that it is small in memory however well a file is packed.

The footer says how large the pages are, not how large the rows: a dictionary may hold one long text that every row
stands for. So the dictionaries are looked at before rows are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PIECE_BYTES = 4 << 20
# What the rows of a piece may take if each of them is the longest that there may be.
WORST_BYTES = 64 << 20
# Prefixes that rows share (DELTA_BYTE_ARRAY) can be measured only by decoding them.
_PREFIX_ROWS = 64


def rows_per_piece(file: Any, path: str, names: list[str] | None, most: int) -> int:
    """Return how many rows of a Parquet file make a piece of about `PIECE_BYTES` in the largest row group."""
    metadata = file.metadata
    rows, suspects = most, {}
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        chunks = [group.column(column) for column in range(group.num_columns)]
        chunks = [chunk for chunk in chunks if names is None or chunk.path_in_schema in names]
        size = max(1, sum(chunk.total_uncompressed_size for chunk in chunks))
        rows = min(rows, PIECE_BYTES * group.num_rows // size)
        if min(most, group.num_rows) * size <= WORST_BYTES:
            continue
        texts = [chunk for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"]
        if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in texts):
            rows = min(rows, max(_PREFIX_ROWS, WORST_BYTES // size))
        suspects[index] = [chunk.path_in_schema for chunk in texts if chunk.has_dictionary_page]
    longest = max(_longest_values(path, suspects), default=0)
    return max(1, min(rows, WORST_BYTES // max(longest, 1)))


def rows_per_slice(table: Any, most: int) -> int:
    """Return how many rows of a table in memory make a piece that is small when its dictionaries are decoded."""
    chunks = [chunk for column in table.columns if pa.types.is_dictionary(column.type) for chunk in column.chunks]
    longest = max((length for chunk in chunks for length in _dictionaries(chunk)), default=0)
    return max(1, min(most, WORST_BYTES // max(longest, 1)))


def text_bytes(array: Any) -> int:
    """Return how many bytes texts have when they are decoded.

    >>> text_bytes(pa.array(["a rose", "a rose", None]).dictionary_encode())
    12
    """
    if pa.types.is_dictionary(array.type):
        return int(pc.sum(_lengths(array.dictionary).take(array.indices)).as_py() or 0)
    return int(pc.sum(_lengths(array)).as_py() or 0)


def _lengths(array: Any) -> Any:
    return pc.binary_length(array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array)


def _longest_values(path: str, suspects: dict[int, list[str]]) -> Iterator[int]:
    """Yield the length of the longest value in each dictionary; one row is enough to have it read."""
    leaves = sorted({leaf for group in suspects.values() for leaf in group})
    if not leaves:
        return
    with pq.ParquetFile(path, read_dictionary=leaves, pre_buffer=False) as file:
        for group, here in suspects.items():
            if here:
                batches = file.iter_batches(batch_size=1, row_groups=[group], columns=here, use_threads=False)
                for column in next(batches).columns:
                    yield from _dictionaries(column)


def _dictionaries(array: Any) -> Iterator[int]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        if is_bytes(kind.value_type):
            yield int(pc.max(pc.binary_length(array.dictionary)).as_py() or 0)
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _dictionaries(array.field(place))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        yield from _dictionaries(array.values)


def is_bytes(kind: Any) -> bool:
    """Whether values are texts or bytes with offsets."""
    types = pa.types
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )
