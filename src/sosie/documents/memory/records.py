"""Texts, dicts and columns of Python objects as Arrow tables; what is no text is told by its place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from sosie.errors import DataError, UsageError

TextColumns = str | Sequence[str]

_BATCH = 1 << 14
_BATCH_CHARACTERS = 1 << 24


def texts_table(texts: Sequence[Any], text_column: TextColumns, first: int = 0) -> Any:
    """Return texts as a table of one column; `first` is the number of the first one in messages."""
    return pa.table({names_of(text_column)[0]: text_array(texts, "the list", first)})


def text_array(texts: Sequence[Any], of: str, first: int = 0) -> Any:
    """Return texts as an Arrow array; None is null, and anything else is refused.

    >>> text_array(["a rose", None], "the list").to_pylist()
    ['a rose', None]
    """
    for place, text in enumerate(texts):
        if not isinstance(text, str) and text is not None:
            raise UsageError(f"{of} holds {type(text).__name__} (item {first + place}, counted from 0){_remedy(text)}")
    return _encoded(texts, f"{of}, item", first)


def records_table(records: Sequence[Any], text_column: TextColumns, first: int = 0) -> Any:
    """Return dicts as a table with all their keys as columns, null where a dict lacks one."""
    for place, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise UsageError(
                f"item {first + place} (counted from 0) is {type(record).__name__}, and the others are dicts: "
                "give a dict for each document, as in {'id': 1, 'text': 'a rose'}, or texts alone."
            )
    names, texts = dict.fromkeys(name for record in records for name in record), names_of(text_column)
    return pa.table(
        {_checked(name): _column(name, [each.get(name) for each in records], name in texts, first) for name in names}
    )


def columns_table(columns: Mapping[Any, Any], text_column: TextColumns) -> Any:
    """Return a dict of columns as a table."""
    if not columns:
        raise UsageError("no documents: the dict is empty. A dict holds columns, as in {'text': ['a rose', 'a nose']}.")
    made = {}
    for name, values in columns.items():
        _checked(name)
        if isinstance(values, str | bytes | Mapping | set | frozenset) or not isinstance(values, Iterable):
            raise UsageError(
                f"a dict holds columns, and {name!r} is {type(values).__name__}. Give a list for each column, as in "
                "{'text': ['a rose', 'a nose']}, or a list with a dict for each document."
            )
        is_arrow = hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
        if is_arrow:
            made[name] = pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
        else:
            made[name] = _column(name, list(values), name in names_of(text_column), 0)
    lengths = {name: len(column) for name, column in made.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise UsageError(f"the columns of the dict differ in length: {said}. Give one value for each document.")
    return pa.table(made)


def by_batch(items: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield items in lists that are bounded in number and in characters, each with the number of its first one."""
    stream, first = iter(items), 0
    while head := list(islice(stream, 1)):
        batch, characters = head, 0
        for item in islice(stream, _BATCH - 1):
            batch.append(item)
            characters += _characters(item)
            if characters > _BATCH_CHARACTERS:
                break
        yield first, batch
        first += len(batch)


def names_of(text_column: TextColumns) -> tuple[str, ...]:
    """Return the names of the text columns, of which there may be several."""
    return (text_column,) if isinstance(text_column, str) else tuple(text_column)


def name_kind(value: Any) -> str:
    """Return what something is, by its library and its class.

    >>> name_kind([]), name_kind(pa.table({}))
    ('builtins.list', 'pyarrow.Table')
    """
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"


def _column(name: str, values: list[Any], is_text: bool, first: int) -> Any:
    if is_text:
        for place, value in enumerate(values):
            if not isinstance(value, str) and value is not None:
                where = f"item {first + place} (counted from 0)"
                raise UsageError(f"{name!r} of {where} is {type(value).__name__}{_remedy(value)}")
        return _encoded(values, f"{name!r} of item", first)
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kinds = dict.fromkeys(type(value).__name__ for value in values if value is not None)
        mixed = f"values of several types ({', '.join(kinds)})" if len(kinds) > 1 else f"{', '.join(kinds)}"
        raise UsageError(
            f"the column {name!r} holds {mixed}, which Arrow cannot hold. Give it one type, or leave it out."
        ) from error


def _encoded(texts: Sequence[Any], of: str, first: int) -> Any:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        place = next(place for place, text in enumerate(texts) if text is not None and not _is_unicode(text))
        raise DataError(
            f"{of} {first + place} (counted from 0) is not valid Unicode ({error.reason}): replace its lone "
            "surrogates, as in text.encode('utf-8', 'replace').decode('utf-8')."
        ) from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _remedy(value: Any) -> str:
    if isinstance(value, bytes | bytearray):
        return ": decode it to text, as in value.decode('utf-8')."
    if isinstance(value, os.PathLike):
        return ", a path among texts. Give either."
    return ", and texts are str: convert it, as in str(value)."


def _checked(name: Any) -> str:
    if not isinstance(name, str):
        raise UsageError(f"columns have names of type str, got {name!r} ({type(name).__name__}).")
    return name


def _characters(item: Any) -> int:
    values = item.values() if isinstance(item, Mapping) else (item,)
    return sum(len(value) for value in values if isinstance(value, str | bytes))
