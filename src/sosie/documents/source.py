"""A collection of texts: which files or Arrow data, which columns, and what to do with bad records."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

import pyarrow as pa

from sosie.documents.bounded import bounded_input
from sosie.documents.columns import Columns
from sosie.documents.dialect import checked_delimiter, checked_encoding
from sosie.documents.formats import format_of
from sosie.documents.html import Content, load_resiliparse
from sosie.documents.input import MAX_EXPANSION, Input, Inputs
from sosie.documents.inputs import list_inputs
from sosie.documents.memory.given import Documents as Documents
from sosie.documents.memory.given import Given, take, take_texts
from sosie.documents.memory.listed import Paths, check_paths
from sosie.documents.order import Order
from sosie.documents.places.selection import FileOptions
from sosie.documents.probe import find_columns
from sosie.documents.reading import Reading
from sosie.errors import UsageError
from sosie.parallel import thread_count
from sosie.shown import counted

# The id column that is none: documents are numbered, even if they have a column `id`.
NUMBERED = "none"
MEMORY = Input("the Arrow table", "documents.parquet", "arrow")


@dataclass(frozen=True, eq=False)
class Source:
    """Where texts come from: a path, a glob, a folder, "-", a list of them, or data in memory.

    Data in memory are texts or dicts in a list or a generator, a dict of columns, an array or a Series of texts, or a
    table: anything with the Arrow C stream (PyArrow, Polars, pandas, DuckDB), a Polars LazyFrame or a Hugging Face
    dataset. A str is a path. A list of str is a list of paths if all of them are there and one of texts if none is; if
    that is not what you mean, or texts come from others, say so: `from_texts`, `from_paths`.

    Several text columns are joined by newlines, in the order of `text_column`. `id_column` defaults to the column `id`
    if the first document has one, else documents are numbered: their ids are file and line ("name.jsonl:17"; for a
    text file its name, for Arrow data the row from 0); "none" always numbers them. `on_error` is "raise", or "skip"
    to reject bad records and go on. `batch_size` bounds the documents of a batch and never changes results. A stream
    that can be read only once is kept, beyond 64 MiB in a temporary file. A compressed file may expand to
    `max_expansion` times its size plus 64 MiB; beyond that it is taken for damaged or malicious.

    With `html` the text column holds HTML: "main" compares the main content of each page, "all" all of its text. Files
    of HTML and WARC files are always extracted; there None means "main".

    `format` reads all files as one format, whatever their suffix: "text" makes a document of every file. `include` and
    `exclude` are globs over the paths inside folders. `delimiter` separates the fields of CSV; `encoding` is that of
    CSV, JSON and text files that are not UTF-8. An option that no input heeds is refused, unless `strict` is False.

    >>> source = Source(pa.table({"text": ["a rose", "is a rose"]}), batch_size=1)
    >>> [(batch.rows.tolist(), batch.texts.to_pylist()) for batch in source.batches()]
    [([0], ['a rose']), ([1], ['is a rose'])]
    """

    paths: Any
    text_column: str | Sequence[str] = "text"
    id_column: str | None = None
    on_error: str = "raise"
    batch_size: int = 1 << 16
    html: Content | None = None
    max_expansion: int = MAX_EXPANSION
    format: str | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str | None = None
    strict: bool = True
    _given: Given = field(default=Given(None), init=False, repr=False)

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise UsageError(f"on_error is 'raise' or 'skip', got {self.on_error!r}")
        if self.batch_size < 1:
            raise UsageError(f"batch_size must be at least 1, got {self.batch_size}")
        if self.html not in (None, *get_args(Content)):
            raise UsageError(f"html is 'main', 'all' or None, got {self.html!r}")
        if self.max_expansion < 1:
            raise UsageError(f"max_expansion must be at least 1, got {self.max_expansion}")
        for name in ("include", "exclude"):
            globs = getattr(self, name)
            object.__setattr__(self, name, (globs,) if isinstance(globs, str) else tuple(globs))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        object.__setattr__(self, "text_column", _text_columns(self.text_column))
        if self.id_column in self._wanted().texts:
            raise UsageError(f"the column {self.id_column!r} cannot hold both the texts and the ids: name another")
        given = take(self.paths, self.text_column)
        if given.bare and self.id_column not in (None, NUMBERED):
            raise UsageError(
                f"id_column={self.id_column!r}: {given.title} has no columns. Give dicts or a table, or "
                "Source.from_texts(texts, ids=...)."
            )
        object.__setattr__(self, "paths", given.paths)
        object.__setattr__(self, "_given", given)
        if isinstance(self.paths, pa.Table):
            for name in ("format", "include", "exclude", "delimiter", "encoding"):
                if getattr(self, name):
                    raise UsageError(f"{name} says how files are read, and these documents are in memory: leave it out")

    @classmethod
    def from_texts(cls, texts: Any, ids: Any = None, **options: Any) -> Source:
        """Return texts as a source, with ids if there are any: nothing in them is taken for a path.

        >>> Source.from_texts(["notes.txt", "a rose"], ids=["x", "y"])
        Source(the list of texts: 2 documents)
        """
        given = take_texts(texts, options.get("text_column", "text"))
        table = given.paths if ids is None else given.paths.append_column("id", _ids(ids, given.paths.num_rows))
        source = cls(table, **options)
        object.__setattr__(source, "_given", given)
        return source

    @classmethod
    def from_paths(cls, paths: Any, **options: Any) -> Source:
        """Return files, globs and folders as a source, whatever they are called: what is not there is an error."""
        return cls(paths if isinstance(paths, str | os.PathLike) else Paths(paths), **options)

    @property
    def has_columns(self) -> bool:
        """Whether there may be other columns than the texts: texts in memory have none."""
        return not self._given.bare

    def __repr__(self) -> str:
        if isinstance(self.paths, pa.Table):
            what = f"{self._given.title or MEMORY.path}: {counted(self.paths.num_rows, 'document')}"
        else:
            what = repr(self.paths if isinstance(self.paths, str | os.PathLike) else list(self.paths))
        return f"Source({', '.join([what, *self._options()])})"

    def _options(self) -> list[str]:
        """Say what is not as by default."""
        others = [
            each
            for each in fields(self)
            if each.init and each.name != "paths" and getattr(self, each.name) != each.default
        ]
        return [f"{each.name}={getattr(self, each.name)!r}" for each in others]

    def batches(
        self,
        threads: int | None = None,
        order: Order | None = None,
        memory: int | None = None,
        choose: Callable[[Inputs], Inputs] | None = None,
    ) -> Reading:
        """Read the source: an iterator of `Batch`, which also knows the ids, the inputs and their counts.

        With an order, its column is read as well: see `Batch.order`. What `memory`, in bytes, is too little for is
        rejected; without it, the machine's or the container's counts. With `choose`, only some of the inputs are read;
        their columns are still those of all.
        The inputs are listed and the columns found now; texts are read as the batches are asked for.
        """
        threads = thread_count(threads)
        skip = self.on_error == "skip"
        listed = self.inputs()
        inputs = Inputs([bounded_input(place, memory) for place in listed], listed.passed_over)
        columns = find_columns(inputs, self._wanted(order), patient=skip)
        inputs = inputs if choose is None else choose(inputs)
        self._load_extras(inputs)
        return Reading(inputs, columns, skip, self.batch_size, memory).start(threads)

    def inputs(self) -> Inputs:
        """List the inputs as they are now, each with how it is read."""
        if isinstance(self.paths, pa.Table):
            return Inputs([replace(MEMORY, path=self._given.title or MEMORY.path, table=self.paths)])
        check_paths(self.paths)
        return list_inputs(self.paths, self._file_options())

    def described(self) -> dict[str, Any]:
        """Return the options that say how files are found and read, as far as they are given, as plain data."""
        given = {name: getattr(self, name) for name in ("format", "include", "exclude", "delimiter", "encoding")}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value}

    def _file_options(self) -> FileOptions:
        return FileOptions(
            format=self.format,
            include=tuple(self.include),
            exclude=tuple(self.exclude),
            delimiter=self.delimiter,
            encoding=self.encoding,
            max_expansion=self.max_expansion,
            texts=self._wanted().texts,
            strict=self.strict,
        )

    def _wanted(self, order: Order | None = None) -> Columns:
        """Return the columns as far as they are known before anything is read."""
        text = self.text_column if isinstance(self.text_column, str) else tuple(self.text_column)
        numbered = self.id_column == NUMBERED
        return Columns(text, None if numbered else self.id_column, order=order, html=self.html, numbered=numbered)

    def _load_extras(self, inputs: list[Input]) -> None:
        """Load what the formats need before anything is read, or say what to install."""
        for place in inputs:
            format_of(place).load(place)
        if self.html:
            load_resiliparse()


def as_source(documents: Documents | Source, **options: Any) -> Source:
    """Return a source, made of whatever documents are; a source has its own options, and takes no others."""
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(documents, Source):
        return Source(documents, **given)
    if given:
        names = " and ".join(given)
        raise UsageError(f"{names}: a Source says that itself, as in Source(documents, {next(iter(given))}=...).")
    return documents


def _text_columns(names: str | Sequence[str]) -> str | tuple[str, ...]:
    """Return one name as it is, several as a tuple; each may be there once."""
    columns = (names,) if isinstance(names, str) else tuple(names)
    if not columns or not all(isinstance(name, str) for name in columns):
        raise UsageError(f"text_column is the name of a column, or several names; got {names!r}")
    for name in columns:
        if columns.count(name) > 1:
            raise UsageError(f"the text column {name!r} is named twice. Name each column once.")
    return columns[0] if len(columns) == 1 else columns


def _ids(ids: Any, count: int) -> Any:
    array = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
    if len(array) != count:
        raise UsageError(f"{len(array):,} ids for {count:,} texts: give one for each.")
    return array
