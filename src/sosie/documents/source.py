"""A collection of texts: which files or Arrow data, which columns, and what to do with bad records."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from sosie.documents.columns import Columns, schema_columns
from sosie.documents.inputs import MAX_EXPANSION, Input, list_inputs
from sosie.documents.order import Order
from sosie.documents.probe import find_columns
from sosie.documents.reading import Reading
from sosie.errors import UsageError
from sosie.kernels.parallel import thread_count

MEMORY = Input("the Arrow table", "documents.parquet", "arrow")


@dataclass(frozen=True, eq=False)
class Source:
    """Where texts come from: a path, a glob, a folder, "-", a list of them, or anything with the Arrow C stream.

    `id_column` defaults to the column `id` if the first document has one, else ids are file and line
    ("name.jsonl:17"; for a text file its name, for Arrow data the row from 0). `on_error` is "raise", or "skip" to
    reject bad records and go on. `batch_size` bounds the documents of a batch and never changes results. A stream that
    can be read only once is read into memory. A compressed file may expand to `max_expansion` times its size plus
    64 MiB; beyond that it is taken for damaged or malicious.

    >>> source = Source(pa.table({"text": ["a rose", "is a rose"]}), batch_size=1)
    >>> [(batch.rows.tolist(), batch.texts.to_pylist()) for batch in source.batches()]
    [([0], ['a rose']), ([1], ['is a rose'])]
    """

    paths: Any
    text_column: str = "text"
    id_column: str | None = None
    on_error: str = "raise"
    batch_size: int = 1 << 16
    max_expansion: int = MAX_EXPANSION

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise UsageError(f"on_error is 'raise' or 'skip', got {self.on_error!r}")
        if self.batch_size < 1:
            raise UsageError(f"batch_size must be at least 1, got {self.batch_size}")
        if self.max_expansion < 1:
            raise UsageError(f"max_expansion must be at least 1, got {self.max_expansion}")
        if self.text_column == self.id_column:
            raise UsageError(f"the column {self.id_column!r} cannot hold both the texts and the ids: name another")
        if not isinstance(self.paths, pa.Table) and _is_arrow(self.paths):
            object.__setattr__(self, "paths", _as_table(self.paths))

    def batches(self, threads: int | None = None, order: Order | None = None) -> Reading:
        """Read the source: an iterator of `Batch`, which also knows the ids, the inputs and their counts.

        With an order, its column is read as well: see `Batch.order`.
        The inputs are listed and the columns found now; texts are read as the batches are asked for.
        """
        threads = thread_count(threads)
        skip = self.on_error == "skip"
        wanted = Columns(self.text_column, self.id_column, order=order)
        if isinstance(self.paths, pa.Table):
            columns = schema_columns(self.paths.schema, wanted, MEMORY.path)
            reading = Reading([MEMORY], columns, self.paths, skip, self.batch_size)
        else:
            inputs = [replace(place, max_expansion=self.max_expansion) for place in list_inputs(self.paths)]
            columns = find_columns(inputs, wanted, patient=skip)
            reading = Reading(inputs, columns, None, skip, self.batch_size)
        return reading.start(threads)


def _is_arrow(paths: Any) -> bool:
    if isinstance(paths, str | os.PathLike):
        return False
    return hasattr(paths, "__arrow_c_stream__") or hasattr(paths, "__arrow_c_array__")


def _as_table(data: Any) -> Any:
    try:
        return pa.table(data)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"the Arrow data is not a table ({error}). Give a table with a text column.") from error
