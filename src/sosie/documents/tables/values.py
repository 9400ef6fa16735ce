"""Whether the values of an Arrow batch lie inside it: a file has no checksums, and a batch of it is not trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.tables.slices import is_bytes


def check_values(batch: Any) -> None:
    """Raise ValueError if a value, or the index of one, leads outside its batch; whether texts are UTF-8 is not asked.

    >>> check_values(pa.record_batch({"text": ["a rose"], "tags": [["red"]]}))
    """
    batch.validate()
    for column in batch.columns:
        _check(column)


def _check(column: Any) -> None:
    kind, types = column.type, pa.types
    if not len(column):
        return
    if types.is_dictionary(kind):
        bounds = pc.min_max(column.indices)
        values = column.dictionary
        if bounds["max"].is_valid and not 0 <= bounds["min"].as_py() <= bounds["max"].as_py() < len(values):
            raise ValueError("an index beyond its dictionary")
        _check(values)
    elif is_bytes(kind):
        _, offsets, data = column.buffers()
        wide = types.is_large_string(kind) or types.is_large_binary(kind)
        _check_edges(column, offsets, wide, data.size if data is not None else 0, "texts that lead outside the batch")
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        values = column.keys if types.is_map(kind) else column.values
        _check_edges(
            column, column.buffers()[1], types.is_large_list(kind), len(values), "lists that lead outside the batch"
        )
        for each in (column.keys, column.items) if types.is_map(kind) else (values,):
            _check(each)
    elif types.is_struct(kind):
        for place in range(kind.num_fields):
            _check(column.field(place))
    elif types.is_string_view(kind):
        column.view(pa.binary_view()).validate(full=True)
    else:
        column.validate(full=True)


def _check_edges(column: Any, offsets: Any, wide: bool, size: int, problem: str) -> None:
    """Refuse offsets that do not ascend, or leave what they lead to."""
    edges: Any = np.frombuffer(offsets, np.int64 if wide else np.int32)[column.offset : column.offset + len(column) + 1]
    if len(edges) <= len(column) or edges[0] < 0 or edges[-1] > size or np.any(edges[1:] < edges[:-1]):
        raise ValueError(problem)
