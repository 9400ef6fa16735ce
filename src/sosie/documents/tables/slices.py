"""How many rows of Arrow data make a small piece: a dictionary may hold one long text that every row stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# What the rows of a piece may take if each of them is the longest that there may be.
WORST_BYTES = 64 << 20


def rows_per_slice(rows: Any, most: int) -> int:
    """Return how many rows of a table or a batch are small when their dictionaries are decoded."""
    columns = [column for column in rows.columns if pa.types.is_dictionary(column.type)]
    chunks = [chunk for column in columns for chunk in getattr(column, "chunks", [column])]
    longest = max((length for chunk in chunks for length in dictionary_lengths(chunk)), default=0)
    return max(1, min(most, WORST_BYTES // max(longest, 1)))


def text_bytes(array: Any) -> int:
    """Return how many bytes texts have when they are decoded.

    >>> text_bytes(pa.array(["a rose", "a rose", None]).dictionary_encode())
    12
    """
    if pa.types.is_dictionary(array.type):
        return int(pc.sum(_lengths(array.dictionary).take(array.indices)).as_py() or 0)
    return int(pc.sum(_lengths(array)).as_py() or 0)


def dictionary_lengths(array: Any) -> Iterator[int]:
    """Yield the length of the longest value in each dictionary of a column."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if is_bytes(kind.value_type):
            yield int(pc.max(pc.binary_length(array.dictionary)).as_py() or 0)
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from dictionary_lengths(array.field(place))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        yield from dictionary_lengths(array.values)


def is_bytes(kind: Any) -> bool:
    """Whether values are texts or bytes with offsets."""
    types = pa.types
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )


def _lengths(array: Any) -> Any:
    return pc.binary_length(array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array)
