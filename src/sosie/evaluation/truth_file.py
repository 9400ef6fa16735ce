"""A file of true pairs: TSV, CSV, JSON lines or Parquet with two columns of ids."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from sosie.errors import DataError, UsageError

READ = "*.tsv, *.csv, *.jsonl (also .ndjson, .json) and *.parquet"


def read_truth(path: str | os.PathLike[str], id_type: Any, b_type: Any = None) -> Any:
    """Return the pairs of a truth file as a table a, b, with ids of type `id_type` (int64 or large_string).

    `b_type` is the type of the ids b where it is another one: of two collections, one may have numbers alone. The
    columns are `a` and `b` where both are there, else the first two. The first line of a TSV or CSV file is a header
    only if it names `a` and `b`.
    """
    path = os.fspath(path)
    read = _READERS.get(os.path.splitext(path.lower())[1])
    if read is None:
        raise UsageError(f"{path}: unknown kind of file. A truth file is one of {READ}.")
    try:
        table = read(path)
        table.validate(full=True)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file. Check the path.") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}). Check the path.") from error
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: is not a truth file of its kind ({error}).") from error
    if not table.num_rows:
        raise DataError(f"{path}: holds no pairs. Give at least one pair of ids.")
    kinds = {"a": id_type, "b": b_type or id_type}
    return pa.table({side: _ids(table[i], kind, path) for i, (side, kind) in enumerate(kinds.items())})


def _ids(column: Any, id_type: Any, path: str) -> Any:
    """Return ids as the result has them."""
    column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise DataError(f"{path}: pair {row + 1} lacks an id ({column.null_count} in all). Give two ids in each.")
    integers = pa.types.is_integer(column.type)
    if not (integers or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise DataError(f"{path}: ids are integers or text, not {column.type}.")
    if integers or pa.types.is_large_string(id_type):
        return column.cast(id_type)
    whole = pc.match_substring_regex(column, r"^\s*[+-]?[0-9]{1,18}\s*$")
    if not pc.all(whole, min_count=0).as_py():
        wrong = column.filter(pc.invert(whole))
        raise DataError(
            f"{path}: the ids of the result are integers, and {len(wrong):,} here are not: {_some(wrong)}."
            " A first line that is a header names the columns a and b."
        )
    return pc.replace_substring(pc.utf8_trim_whitespace(column), "+", "").cast(pa.int64())


def _some(ids: Any) -> str:
    """Return the first few of some ids, for a message."""
    shown = ", ".join(repr(value) for value in ids[:5].to_pylist())
    return shown + (", ..." if len(ids) > 5 else "")


def _delimited(delimiter: str) -> Callable[[str], Any]:
    def read(path: str) -> Any:
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = next(csv.reader(file, delimiter=delimiter), [])
        if not first:
            return pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())})
        header = "a" in first and "b" in first
        _two(first, path)
        names = [f"f{i}" for i in range(len(first))]
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=int(header)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.large_string() for name in names}, strings_can_be_null=False
            ),
        )
        return table.select([first.index("a"), first.index("b")] if header else [0, 1])

    return read


def _read_jsonl(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        line = next((line for line in file if line.strip()), "")
    if not line:
        return pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())})
    try:
        first = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: the first line is not JSON ({error}).") from error
    if not isinstance(first, dict):
        raise DataError(f"{path}: each line is a JSON object with two ids, for example {{'a': 1, 'b': 2}}.")
    # Types are given, because Arrow's guess makes dates of texts that look like one.
    kinds = {name: pa.int64() if isinstance(first[name], int) else pa.large_string() for name in _two([*first], path)}
    options = pyarrow.json.ParseOptions(explicit_schema=pa.schema(kinds), unexpected_field_behavior="ignore")
    return pyarrow.json.read_json(path, parse_options=options).select(list(kinds))


def _read_parquet(path: str) -> Any:
    with pq.ParquetFile(path) as file:
        return file.read(_two(file.schema_arrow.names, path))


def _two(names: list[str], path: str) -> list[str]:
    """Return the names of the columns of ids."""
    if len(names) < 2:
        raise DataError(f"{path}: has {len(names)} column, expected two columns of ids.")
    return ["a", "b"] if "a" in names and "b" in names else names[:2]


_READERS: dict[str, Callable[[str], Any]] = {
    ".tsv": _delimited("\t"),
    ".csv": _delimited(","),
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_jsonl,
    ".parquet": _read_parquet,
}
