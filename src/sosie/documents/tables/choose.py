"""Rows of a batch to their places: those that are chosen, with the columns that are added to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.columns import single
from sosie.documents.share import Share, free_names
from sosie.types import Bools

# Where datasets keeps what it knows of the columns.
_FEATURES = b"huggingface"


def widen_rows(batch: Any, chosen: Bools, added: Any, schema: Any) -> Iterator[Any]:
    """Yield the chosen rows with the columns that are added to them."""
    done = 0
    for part in choose_rows(batch, chosen):
        more = [single(column) for column in added.slice(done, part.num_rows).columns]
        yield pa.record_batch([*part.columns, *more], schema=schema)
        done += part.num_rows


def choose_rows(batch: Any, chosen: Bools) -> list[Any]:
    """Return the chosen rows; as slices of neighbours where a column's type (views) has no filter in Arrow."""
    try:
        return [batch.filter(pa.array(chosen))]
    except pa.ArrowNotImplementedError:
        edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
        return [batch.slice(start, stop - start) for start, stop in edges.tolist()]


def wider_schema(schema: Any, share: Share) -> Any:
    """Return a schema with the columns that are added, under names that are free."""
    fields = [
        pa.field(name, kind)
        for name, kind in zip(free_names(share.added.names, schema.names), share.added.schema.types, strict=True)
    ]
    for field in fields:
        schema = schema.append(field)
    return schema.with_metadata(_with_features(schema.metadata, fields))


def _with_features(metadata: Any, fields: list[Any]) -> Any:
    """Add columns to what datasets knows of them, which otherwise refuses the file."""
    try:
        known = json.loads((metadata or {})[_FEATURES])
        known["info"]["features"] |= {field.name: _feature(field.type) for field in fields}
    except (KeyError, TypeError, ValueError):
        return metadata
    return {**metadata, _FEATURES: json.dumps(known).encode()}


def _feature(kind: Any) -> dict[str, str]:
    return {"dtype": "float64" if pa.types.is_float64(kind) else str(kind), "_type": "Value"}
