"""A collection of texts: which files or Arrow data, which columns, and what to do with bad records."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

import pyarrow as pa

from sosie.documents.columns import Columns
from sosie.documents.formats import format_of
from sosie.documents.html import Content, load_resiliparse
from sosie.documents.input import MAX_EXPANSION, Input
from sosie.documents.inputs import list_inputs
from sosie.documents.nested import without_inner_views
from sosie.documents.order import Order
from sosie.documents.probe import find_columns
from sosie.documents.reading import Reading
from sosie.errors import UsageError
from sosie.parallel import thread_count

MEMORY = Input("the Arrow table", "documents.parquet", "arrow")
REMEDIES = {
    "datasets.DatasetDict": "give one of its splits, as in data['train']",
    "datasets.IterableDataset": "it can be read only once; load it without streaming",
    "polars.LazyFrame": "give what .collect() returns",
}


@dataclass(frozen=True, eq=False)
class Source:
    """Where texts come from: a path, a glob, a folder, "-", a list of them, or a table in memory.

    A table is anything with the Arrow C stream (PyArrow, Polars, pandas, DuckDB) or a Hugging Face dataset.

    `id_column` defaults to the column `id` if the first document has one, else ids are file and line
    ("name.jsonl:17"; for a text file its name, for Arrow data the row from 0). `on_error` is "raise", or "skip" to
    reject bad records and go on. `batch_size` bounds the documents of a batch and never changes results. A stream that
    can be read only once is read into memory. A compressed file may expand to `max_expansion` times its size plus
    64 MiB; beyond that it is taken for damaged or malicious.

    With `html` the text column holds HTML: "main" compares the main content of each page, "all" all of its text. Files
    of HTML and WARC files are always extracted; there None means "main".

    >>> source = Source(pa.table({"text": ["a rose", "is a rose"]}), batch_size=1)
    >>> [(batch.rows.tolist(), batch.texts.to_pylist()) for batch in source.batches()]
    [([0], ['a rose']), ([1], ['is a rose'])]
    """

    paths: Any
    text_column: str = "text"
    id_column: str | None = None
    on_error: str = "raise"
    batch_size: int = 1 << 16
    html: Content | None = None
    max_expansion: int = MAX_EXPANSION

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise UsageError(f"on_error is 'raise' or 'skip', got {self.on_error!r}")
        if self.batch_size < 1:
            raise UsageError(f"batch_size must be at least 1, got {self.batch_size}")
        if self.html not in (None, *get_args(Content)):
            raise UsageError(f"html is 'main', 'all' or None, got {self.html!r}")
        if self.max_expansion < 1:
            raise UsageError(f"max_expansion must be at least 1, got {self.max_expansion}")
        if self.text_column == self.id_column:
            raise UsageError(f"the column {self.id_column!r} cannot hold both the texts and the ids: name another")
        object.__setattr__(self, "paths", _table_or_paths(self.paths))

    def batches(self, threads: int | None = None, order: Order | None = None) -> Reading:
        """Read the source: an iterator of `Batch`, which also knows the ids, the inputs and their counts.

        With an order, its column is read as well: see `Batch.order`.
        The inputs are listed and the columns found now; texts are read as the batches are asked for.
        """
        threads = thread_count(threads)
        skip = self.on_error == "skip"
        if isinstance(self.paths, pa.Table):
            inputs = [replace(MEMORY, table=self.paths)]
        else:
            inputs = [replace(place, max_expansion=self.max_expansion) for place in list_inputs(self.paths)]
        wanted = Columns(self.text_column, self.id_column, order=order, html=self.html)
        columns = find_columns(inputs, wanted, patient=skip)
        self._load_extras(inputs)
        return Reading(inputs, columns, skip, self.batch_size).start(threads)

    def _load_extras(self, inputs: list[Input]) -> None:
        """Load what the formats need before anything is read, or say what to install."""
        for place in inputs:
            format_of(place).load(place)
        if self.html:
            load_resiliparse()


def _table_or_paths(documents: Any) -> Any:
    """Return data in memory as a table, and paths as they are; anything else is refused."""
    if isinstance(documents, str | os.PathLike):
        return documents
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        return _as_table(documents)
    kind = f"{type(documents).__module__.partition('.')[0]}.{type(documents).__name__}"
    if kind == "datasets.Dataset":  # Hugging Face: Arrow inside, without the protocol
        return documents.with_format("arrow")[:]
    if kind in REMEDIES:
        raise UsageError(f"{kind} cannot be read: {REMEDIES[kind]}")
    paths = list(documents) if isinstance(documents, Iterable) else [documents]
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            found = f"{kind} with {type(path).__name__}"
            raise UsageError(f"documents are paths or a table with a text column, got {found}")
    return paths


def _as_table(data: Any) -> Any:
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
        schema = without_inner_views(table.schema)
        return table if schema.equals(table.schema) else table.cast(schema)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"the Arrow data is not a table ({error}). Give a table with a text column.") from error
