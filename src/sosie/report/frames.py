"""A result in the libraries of others: as a pandas or Polars frame, and the rows that stay of a table of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import MismatchError, UsageError
from sosie.shown import counted
from sosie.types import Bools

_FILTERED = "a PyArrow, pandas or Polars table or column, a Hugging Face dataset, a list, an array or a dict of columns"


def as_pandas(table: Any) -> Any:
    """Return an Arrow table as a pandas DataFrame: integers that may be missing are Int64, texts are texts."""
    pandas = _library("pandas", "pandas")
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    missing = {field.type for field in table.schema if table.column(field.name).null_count}
    return table.to_pandas(types_mapper=lambda kind: nullable.get(kind) if kind in missing else None)


def as_polars(table: Any) -> Any:
    """Return an Arrow table as a Polars DataFrame."""
    return _library("polars", "Polars").from_arrow(table)


def filter_rows(data: Any, mask: Bools) -> Any:
    """Return the rows where the mask is true, in the type that the data have.

    >>> filter_rows(["a", "b", "c"], np.array([True, False, True]))
    ['a', 'c']
    >>> filter_rows({"text": ["a", "b"], "n": [1, 2]}, np.array([False, True]))
    {'text': ['b'], 'n': [2]}
    """
    if isinstance(data, Mapping):
        return {name: filter_rows(column, mask) for name, column in data.items()}
    kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
    if kind == "polars.LazyFrame":
        return filter_rows(data.collect(), mask).lazy()
    if isinstance(data, str) or not hasattr(data, "__len__"):
        raise UsageError(f"{kind.removeprefix('builtins.')} cannot be filtered: give {_FILTERED}.")
    if len(data) != len(mask):
        given, read = counted(len(data), "row"), counted(len(mask), "document")
        raise MismatchError(f"{given} to filter, and {read} were de-duplicated: give all of them, in their order.")
    if isinstance(data, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return data.filter(pa.array(mask))
    if kind in ("pandas.DataFrame", "pandas.Series"):
        return data.loc[mask]
    if kind in ("polars.DataFrame", "polars.Series"):
        return data.filter(_library("polars", "Polars").Series(mask))
    if kind == "datasets.Dataset":
        return data.select(np.flatnonzero(mask))
    if isinstance(data, np.ndarray):
        return data[mask]
    if isinstance(data, list | tuple):
        return type(data)(row for row, stays in zip(data, mask.tolist(), strict=True) if stays)
    raise UsageError(f"{kind} cannot be filtered: give {_FILTERED}.")


def _library(module: str, name: str) -> Any:
    """Import a library that Sosie does not need itself."""
    try:
        return __import__(module)
    except ImportError as error:
        raise UsageError(f"this needs {name}, which is not installed: pip install {module}.") from error
