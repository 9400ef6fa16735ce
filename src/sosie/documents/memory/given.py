"""Anything that may be given as documents: paths, or data in memory as one Arrow table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sosie.documents.memory.listed import HEAD, Paths, are_paths
from sosie.documents.memory.records import (
    TextColumns,
    by_batch,
    columns_table,
    name_kind,
    names_of,
    records_table,
    text_array,
    texts_table,
)
from sosie.documents.memory.spool import gather
from sosie.documents.nested import is_text, without_inner_views
from sosie.errors import UsageError

TEXTS = "sosie.Source.from_texts(texts)"
_ACCEPTED = (
    "documents are a path, a glob or a folder, a list of paths, a list of texts, of dicts or a dict of columns, "
    "a generator, an array, a Series or a table"
)
_ASKED = {
    "Signatures": "sosie.join compares them, an index finds them",
    "Keys": "sosie.join compares them, sosie.KeyIndex finds them",
    "Features": "sosie.join compares them",
    "Deduplication": "its .filter(table) gives the documents that stay",
    "TextIndex": "ask it with .search",
    "DatasetDict": "give one of its splits, as in data['train']",
}


class ArrowStream(Protocol):
    """A table or a column that any Arrow library reads: of PyArrow, Polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the data."""


class ArrowArray(Protocol):
    """A batch or an array that any Arrow library reads."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Export the data."""


class Lazy(Protocol):
    """A query that is not yet run: a Polars LazyFrame."""

    def collect(self) -> Any:
        """Run it."""


# What type checkers let pass as documents, beside a `Source`: `take` says what each is.
Documents = str | os.PathLike[str] | Iterable[Any] | ArrowStream | ArrowArray | Lazy


@dataclass(frozen=True, eq=False)
class Given:
    """Paths, or a table in memory with its title in messages; `bare` if it was made of texts alone."""

    paths: Any
    title: str | None = None
    bare: bool = False


def take(documents: Any, text_column: TextColumns) -> Given:
    """Return paths as they are and anything else as a table; texts without a name become the text column.

    A str or a path is a path. A list of str is a list of paths if every one of them is there, and one of texts if none
    is; otherwise it is refused: `listed.are_paths` has the rule.

    >>> take(["a rose", "is a rose"], "text").paths.to_pydict()
    {'text': ['a rose', 'is a rose']}
    """
    if isinstance(documents, str | os.PathLike | Paths):
        return Given(documents)
    _refuse(documents)
    kind = name_kind(documents)
    if kind == "datasets.Dataset":  # Hugging Face: Arrow inside, without the protocol
        return Given(documents.with_format("arrow")[:], "the dataset")
    if kind == "polars.LazyFrame":
        return Given(_as_table(documents.collect()), "the Polars LazyFrame")
    if _is_column(documents, kind):
        return _from_array(column_of(documents), text_column, _title(kind))
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        table = _as_table(documents)
        if not isinstance(table, pa.Table):
            return _from_array(table, text_column, _title(kind))
        return Given(table, _title(kind))
    if kind == "pandas.DataFrame":  # before 2.2
        return Given(pa.Table.from_pandas(documents), _title(kind))
    if isinstance(documents, Mapping):
        return Given(columns_table(documents, text_column), "the dict of columns")
    if isinstance(documents, Iterable):
        return _from_items(documents, text_column)
    raise UsageError(f"{_ACCEPTED}; got {kind}.")


def take_texts(texts: Any, text_column: TextColumns = "text") -> Given:
    """Return what is known to be texts as a table: nothing in it is taken for a path."""
    if isinstance(texts, str):
        raise UsageError(f"one str is given ({_shown(texts)}) where several texts are expected: put it into a list.")
    kind = name_kind(texts)
    if kind == "pandas.DataFrame" or isinstance(texts, Mapping | pa.Table | pa.RecordBatch | os.PathLike):
        raise UsageError(
            f"texts are expected, a list or one column of them, and {kind} is given, which sosie.Source takes."
        )
    _refuse(texts)
    if isinstance(texts, Sequence):
        return Given(texts_table(texts, text_column), f"the {type(texts).__name__} of texts")
    if _is_column(texts, kind) or not isinstance(texts, Iterable):
        return _from_array(column_of(texts), text_column, _title(kind))
    return Given(gather(texts_table(batch, text_column, first) for first, batch in by_batch(iter(texts))), _title(kind))


def _refuse(documents: Any) -> None:
    """Say what to do with what is no documents, where that is known."""
    name = type(documents).__name__
    if documents is None:
        raise UsageError(f"documents are None. {_ACCEPTED[0].upper()}{_ACCEPTED[1:]}.")
    if isinstance(documents, bytes | bytearray | memoryview):
        raise UsageError(f"{name} are given as documents: decode them to texts, as in data.decode('utf-8').")
    if hasattr(documents, "read") and hasattr(documents, "readline"):
        named = getattr(documents, "name", None)
        raise UsageError(f"an open file is given as documents: give its path{f', {named!r}' if named else ''}.")
    if isinstance(documents, set | frozenset):
        raise UsageError(f"a {name} has no order, and the order decides who stays: give a list, as in sorted(texts).")
    if name in _ASKED and name_kind(documents).partition(".")[0] in ("sosie", "datasets"):
        raise UsageError(f"{name} is given where documents are expected: {_ASKED[name]}.")


def _is_column(documents: Any, kind: str) -> bool:
    return kind in ("pandas.Series", "polars.Series") or isinstance(documents, pa.Array | pa.ChunkedArray | np.ndarray)


def column_of(data: Any) -> Any:
    """Return a column of another library as an Arrow array."""
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return data
    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise UsageError(f"the array has {data.ndim} dimensions, and documents have one: give one column of it.")
        if data.dtype.kind in "UTO":
            return text_array(data.tolist(), "the array")
        what = "bytes: decode them, as in np.char.decode(array, 'utf-8')" if data.dtype.kind == "S" else "not texts"
        raise UsageError(f"the array holds {data.dtype}, {what}.")
    if name_kind(data) == "pandas.Series" and data.dtype == object:
        return text_array(data.where(data.notna(), None).tolist(), "the Series")
    try:
        return pa.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else pa.array(data)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"{name_kind(data)} holds no texts ({_first_line(error)}). {_ACCEPTED}.") from error


def _from_array(array: Any, text_column: TextColumns, title: str) -> Given:
    kind = array.type
    if pa.types.is_struct(kind):
        return Given(_plain(pa.Table.from_struct_array(array)), title)
    if pa.types.is_null(kind) and not len(array):
        array = array.cast(pa.large_string())
    elif not is_text(kind):
        what = "bytes: decode them to texts" if "binary" in str(kind) else "not texts. Give the column of the texts"
        raise UsageError(f"{title} holds {kind}, {what}.")
    return Given(pa.table({names_of(text_column)[0]: array}), title, bare=True)


def _as_table(data: Any) -> Any:
    """Return Arrow data as a table, or as an array where it is a single column."""
    try:
        return _plain(data if isinstance(data, pa.Table) else pa.table(data))
    except (TypeError, ValueError, pa.ArrowException) as error:
        try:
            return pa.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else pa.array(data)
        except (TypeError, ValueError, pa.ArrowException):
            title, detail = _title(name_kind(data)), "; ".join(map(str, error.args))
            raise UsageError(
                f"{title} is not a table that Arrow can hold ({detail}). Mend it, or give texts alone."
            ) from error


def _plain(table: Any) -> Any:
    schema = without_inner_views(table.schema)
    return table if schema.equals(table.schema) else table.cast(schema)


def _from_items(documents: Iterable[Any], text_column: TextColumns) -> Given:
    """Tell a list, or a stream, by its items; of a stream, its first ones are looked at."""
    kind = name_kind(documents)
    streamed = not isinstance(documents, Sequence)
    items = iter(documents)
    head = list(islice(items, HEAD if streamed else None))
    if not head:
        spent = " (it gives its documents once: was it used before?)" if isinstance(documents, Iterator) else ""
        raise UsageError(f"no documents: the {_kind_of(kind)} is empty{spent}. Give at least one path or text.")
    first = next((item for item in head if item is not None), None)
    rest = chain(head, items)
    title = f"the {_kind_of(kind)} of {'dicts' if isinstance(first, Mapping) else 'texts'}"
    if isinstance(first, Mapping):
        if not streamed:
            return Given(records_table(head, text_column), title)
        return Given(gather(records_table(batch, text_column, start) for start, batch in by_batch(rest)), title)
    if not isinstance(first, str | os.PathLike | None):
        raise UsageError(_strange(first, _kind_of(kind), head.index(first)))
    if are_paths(head[:HEAD]):
        return Given(Paths(rest))
    if not streamed:
        return Given(texts_table(head, text_column), title, bare=True)
    return Given(gather(texts_table(batch, text_column, start) for start, batch in by_batch(rest)), title, bare=True)


def _strange(item: Any, of: str, place: int) -> str:
    what = f"the {of} holds {type(item).__name__} (item {place}, counted from 0)"
    if isinstance(item, bytes | bytearray):
        return f"{what}: decode it to text, as in item.decode('utf-8')."
    if isinstance(item, tuple | list):
        return f"{what}: give a dict for each document, as in {{'id': 1, 'text': 'a rose'}}."
    return f"{what}, which is neither a path nor a text nor a dict with a text. {_ACCEPTED[0].upper()}{_ACCEPTED[1:]}."


def _title(kind: str) -> str:
    library, _, name = kind.partition(".")
    if library == "pyarrow":
        return "the Arrow table" if name in ("Table", "RecordBatch", "RecordBatchReader") else "the Arrow array"
    if library == "numpy":
        return "the array"
    if library in ("pandas", "polars"):
        return f"the {'Polars' if library == 'polars' else library} {name}"
    return f"the {_kind_of(kind)}" if library == "builtins" else "the Arrow table"


def _kind_of(kind: str) -> str:
    return kind.removeprefix("builtins.")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
