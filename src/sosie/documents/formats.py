"""The table of formats: who reads, decodes and writes which files. A new format is a folder and a row here."""

from __future__ import annotations

import os
from typing import Any

from sosie.documents.csv.format import CSV
from sosie.documents.feather.format import FEATHER
from sosie.documents.format import Format
from sosie.documents.input import Input
from sosie.documents.jsonl.format import JSON, JSONL
from sosie.documents.parquet.format import ARROW, PARQUET
from sosie.documents.text.format import TEXT
from sosie.documents.warc.format import WARC

_ROWS: tuple[Format[Any], ...] = (JSONL, JSON, CSV, WARC, PARQUET, FEATHER, TEXT, ARROW)

# What inputs have as their `format` -> the format; one may read several kinds of files.
FORMATS: dict[str, Format[Any]] = {kind: form for form in _ROWS for kind in sorted(form.kinds)}
SUFFIXES: dict[str, str] = {suffix: kind for form in _ROWS for suffix, kind in form.suffixes.items()}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
# What files can be said to be, whatever their suffix.
CHOICES = tuple(dict.fromkeys(SUFFIXES.values()))
# What is piped in, and what stands in a folder and is no file: a document of its own, with a problem.
STANDARD_INPUT, UNREADABLE = JSONL.name, TEXT.name


def format_of(source: Input) -> Format[Any]:
    """Return the format of an input."""
    return FORMATS[source.format]


def kind_of(name: str, kind: str | None = None) -> tuple[str | None, str | None]:
    """Return what an input of this file has as its `format`, None if the suffix is unknown, and its compression.

    Where the `kind` is given, the suffix says no more than the compression.

    >>> kind_of("docs.CSV.gz"), kind_of("notes.txt"), kind_of("docs.parquet.gz"), kind_of("docs")
    (('csv', 'gzip'), ('text', None), (None, 'gzip'), (None, None))
    >>> kind_of("docs.gz", "csv"), kind_of("main.rs", "text")
    (('csv', 'gzip'), ('text', None))
    """
    base, suffix = os.path.splitext(name.lower())
    compression = COMPRESSIONS.get(suffix)
    if kind is not None:
        return kind, compression if compression in FORMATS[kind].compressions else None
    if compression:
        suffix = os.path.splitext(base)[1]
    kind = SUFFIXES.get(suffix)
    if compression and kind and compression not in FORMATS[kind].compressions:
        kind = None
    return kind, compression


def describe(source: Input, line: int) -> str:
    """Say where a record is: file and line or row; `line` counts those of the input from 1."""
    if source.table is not None:
        return f"{source.path}, row {line - 1} (counted from 0)"
    file, number = source.place(line)
    file = source.path if source.spool is not None else file
    return file if source.files is not None else f"{file}, {format_of(source).unit} {number}"


def readable() -> str:
    """Say which files can be read, by their suffixes."""
    forms = [form for form in dict.fromkeys(FORMATS.values()) if form.suffixes]
    packed: dict[tuple[str, ...], list[str]] = {}
    for form in forms:
        if not form.is_whole:
            packed.setdefault(form.compressions, []).append(_suffixes(form))
    whole = [f"*{suffix}" for form in forms if form.is_whole for suffix in form.suffixes]
    tables = "; ".join(", ".join(names) + _packed(kinds, len(names)) for kinds, names in packed.items())
    return (
        f"{tables}; {', '.join(whole[:-1])} and {whole[-1]} (one document per file); folders of these, "
        "and JSON lines from standard input as -"
    )


def _packed(kinds: tuple[str, ...], count: int) -> str:
    suffixes = [suffix for suffix, kind in COMPRESSIONS.items() if kind in kinds]
    if not suffixes:
        return ""
    return f", {'each ' if count > 1 else ''}also with {', '.join(suffixes[:-1])} or {suffixes[-1]}"


def _suffixes(form: Format[Any]) -> str:
    return ", ".join(f"*{suffix}" for suffix in form.suffixes) + (f" ({form.remark})" if form.remark else "")
