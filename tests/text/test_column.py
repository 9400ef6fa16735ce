"""Columns from all that holds texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sosie.errors import DataError, UsageError
from sosie.text import TextColumn, as_column

TEXTS = ["one", "", "zwei äöü", "三", "five 😀"]


def listed(column: TextColumn) -> list[str]:
    return [column.text(row) for row in range(len(column))]


class Stream:
    """What Polars and pandas give: only the Arrow C stream."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.array.__arrow_c_stream__(requested_schema)


class Single:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.array.__arrow_c_array__(requested_schema)


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_arrow_arrays_whole_sliced_chunked_and_from_elsewhere(kind: Any) -> None:
    array = pa.array([text.encode() for text in TEXTS], pa.binary()).cast(pa.string()).cast(kind)
    assert listed(as_column(array)) == TEXTS
    assert listed(as_column(array[1:4])) == TEXTS[1:4]
    assert listed(as_column(array[5:])) == []
    chunked = pa.chunked_array([array[2:], array[:0], array[1:3]])
    assert listed(as_column(chunked)) == TEXTS[2:] + TEXTS[1:3]
    assert listed(as_column(pa.chunked_array([array[1:]]))) == TEXTS[1:]
    assert listed(as_column(pa.chunked_array([], kind))) == []
    assert listed(as_column(Stream(chunked))) == TEXTS[2:] + TEXTS[1:3]
    assert listed(as_column(Single(array[1:4]))) == TEXTS[1:4]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
def test_dictionaries(kind: Any) -> None:
    array = pa.array(["b", "a", "b"]).cast(kind).dictionary_encode()
    assert listed(as_column(array)) == ["b", "a", "b"]
    assert listed(as_column(pa.chunked_array([array, array[1:]]))) == ["b", "a", "b", "a", "b"]


def test_lists_and_columns() -> None:
    column = as_column(TEXTS)
    assert listed(column) == TEXTS
    assert as_column(column) is column
    assert listed(as_column(tuple(TEXTS))) == TEXTS
    assert len(as_column([])) == 0


def test_no_copy_where_none_is_needed() -> None:
    array = pa.array(["some text", "more"], pa.large_string())
    column = as_column(array[1:])
    assert column.data.ctypes.data == array.buffers()[2].address
    assert column.offsets.ctypes.data == array.buffers()[1].address + 8
    assert not column.data.flags.writeable
    assert not column.offsets.flags.writeable


@pytest.mark.parametrize("make", [list, pa.array, lambda texts: pa.chunked_array([texts[:2], texts[2:]])])
def test_a_missing_text_is_named(make: Any) -> None:
    with pytest.raises(DataError, match="text 3 is"):
        as_column(make(["a", "b", "c", None, "e", None]))


def test_a_null_inside_a_dictionary_is_named() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    with pytest.raises(DataError, match="text 1 is null"):
        as_column(array)


def test_a_lone_surrogate_is_named() -> None:
    with pytest.raises(DataError, match="text 1 is not valid Unicode"):
        as_column(["fine", "a\ud800"])


@pytest.mark.parametrize(
    "texts",
    [
        *("one text", b"bytes", 7, None, ["a", 7], ["a", b"b"], {"a": 1}, iter([7]), np.array([7])),
        *(pa.array([1, 2]), pa.chunked_array([[1.0]]), pa.array([1, 2]).dictionary_encode(), pa.array([["a"]])),
        *(pa.table({"text": ["a"]}), pa.scalar("a")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_types_are_refused(texts: Any) -> None:
    with pytest.raises(UsageError, match="text"):
        as_column(texts)


@pytest.mark.parametrize("offsets", [[0, 9], [2, 1], [-1, 2]])
def test_offsets_outside_the_data_are_refused(offsets: list[int]) -> None:
    with pytest.raises(DataError, match="offsets"):
        TextColumn(np.zeros(8, np.uint8), np.array(offsets))
    with pytest.raises(UsageError, match="offsets"):
        TextColumn(np.zeros(8, np.uint8), np.array([], np.int64))


def test_texts_of_every_kind():
    import pandas as pd
    import polars as pl

    texts = ["one", "", "thrée"]
    expected = as_column(texts).offsets.tolist()
    given = [iter(texts), (text for text in texts), np.array(texts), np.array(texts, object), pd.Series(texts)]
    for column in [*given, pl.Series(texts), pd.Series(texts, dtype=object), pa.chunked_array([texts])]:
        assert as_column(column).offsets.tolist() == expected


def test_what_is_no_texts_says_what_to_do():
    from pathlib import Path

    from sosie.documents import Source

    for wrong, message in (
        ("one text", "put it into a list"),
        (["a", b"b"], r"text 1 is of type bytes.*decode"),
        (Path("a.txt"), "names documents"),
        (Source(["a"]), "names documents"),
        (np.array([1]), "not texts"),
    ):
        with pytest.raises(UsageError, match=message):
            as_column(wrong)
