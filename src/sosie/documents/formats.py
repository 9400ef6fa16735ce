"""The table of formats: who reads, decodes and writes which files. A new format is a folder and a row here."""

from __future__ import annotations

import os
from typing import Any

from sosie.documents.csv.format import CSV
from sosie.documents.format import Format
from sosie.documents.input import Input
from sosie.documents.jsonl.format import JSONL
from sosie.documents.parquet.format import ARROW, PARQUET
from sosie.documents.text.format import TEXT
from sosie.documents.warc.format import WARC

_ROWS: tuple[Format[Any], ...] = (JSONL, CSV, WARC, PARQUET, TEXT, ARROW)

# What inputs have as their `format` -> the format; one may read several kinds of files.
FORMATS: dict[str, Format[Any]] = {kind: form for form in _ROWS for kind in sorted(form.kinds)}
SUFFIXES: dict[str, str] = {suffix: kind for form in _ROWS for suffix, kind in form.suffixes.items()}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
# What is piped in, and what stands in a folder and is no file: a document of its own, with a problem.
STANDARD_INPUT, UNREADABLE = JSONL.name, TEXT.name


def format_of(source: Input) -> Format[Any]:
    """Return the format of an input."""
    return FORMATS[source.format]


def kind_of(name: str) -> tuple[str | None, str | None]:
    """Return what an input of this file has as its `format`, None if the suffix is unknown, and its compression.

    >>> kind_of("docs.CSV.gz"), kind_of("notes.txt"), kind_of("docs.parquet.gz"), kind_of("docs")
    (('csv', 'gzip'), ('text', None), (None, 'gzip'), (None, None))
    """
    base, suffix = os.path.splitext(name.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression:
        suffix = os.path.splitext(base)[1]
    kind = SUFFIXES.get(suffix)
    if compression and kind and not FORMATS[kind].is_compressible:
        kind = None
    return kind, compression


def describe(source: Input, line: int) -> str:
    """Say where a record is: file and line or row; `line` counts those of the input from 1."""
    file, number = source.place(line)
    return file if source.files is not None else f"{file}, {format_of(source).unit} {number}"


def readable() -> str:
    """Say which files can be read, by their suffixes."""
    forms = list(dict.fromkeys(FORMATS.values()))
    packed = [_suffixes(form) for form in forms if form.is_compressible]
    others = [_suffixes(form) for form in forms if form.suffixes and not form.is_compressible and not form.is_whole]
    whole = [f"*{suffix}" for form in forms if form.is_whole for suffix in form.suffixes]
    return (
        f"{', '.join(packed)}, each also with {' or '.join(COMPRESSIONS)}, {', '.join(others)}, "
        f"{', '.join(whole[:-1])} and {whole[-1]} (one document per file), folders of these, "
        "and JSON lines from standard input as -"
    )


def _suffixes(form: Format[Any]) -> str:
    return ", ".join(f"*{suffix}" for suffix in form.suffixes) + (f" ({form.remark})" if form.remark else "")
