"""Columns that are added: what is refused, and the names that they get."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents.share import TYPES, AddedColumns, free_names
from sosie.errors import MismatchError


def test_columns_are_asked_for_these_rows_only():
    asked = []

    def columns(rows):
        asked.append(rows.tolist())
        return pa.table({kind: pa.nulls(len(rows), kind) for kind in map(str, TYPES)} | {"row": rows})

    added = AddedColumns(columns)
    assert added.names == ["string", "large_string", "int64", "double", "bool", "row"]
    assert added.take(np.array([4, 2]))["row"].to_pylist() == [4, 2]
    assert added.take(np.empty(0, np.int64)).schema == added.schema
    assert asked == [[], [4, 2]]


def test_chunks_become_one():
    added = AddedColumns(lambda rows: pa.table({"row": pa.chunked_array([[row] for row in rows], pa.int64())}))
    assert added.take(np.array([1, 2]))["row"].num_chunks == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (lambda rows: pa.table({}), r"there must be one: \[\]"),
        (lambda rows: pa.table([rows, rows], names=["a", "a"]), r"distinct names.*\['a', 'a'\]"),
        (lambda rows: pa.table({"a": rows.astype(np.int32)}), r"'a' is int32. Use one of: string, large_string, int64"),
    ],
)
def test_what_cannot_be_added(columns, message):
    with pytest.raises(MismatchError, match=message):
        AddedColumns(columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (lambda rows: pa.table({"a": rows[1:]}), r"2 documents were to get the columns a \(int64\).* 1 rows of a"),
        (lambda rows: pa.table({"a" if len(rows) == 0 else "b": rows}), r"2 rows of b \(int64\)"),
        (lambda rows: pa.table({"a": rows if len(rows) == 0 else rows / 2}), r"2 rows of a \(double\)"),
        (lambda rows: pa.table({"a": rows / 0.0}), "'a' holds a number that is not finite. Use null"),
    ],
)
def test_columns_that_are_not_what_was_promised(columns, message):
    added = AddedColumns(columns)
    with np.errstate(divide="ignore"), pytest.raises(MismatchError, match=message):
        added.take(np.array([1, 2]))


@given(
    st.lists(st.sampled_from(["a", "a_1", "a_2", "b"]), unique=True), st.sets(st.sampled_from(["a", "a_1", "a_1_1"]))
)
def test_free_names_are_free_and_distinct(wanted, taken):
    names = free_names(wanted, taken)
    assert len(set(names)) == len(wanted) and not taken & set(names)
    assert all(name == free or free.startswith(f"{name}_") for name, free in zip(wanted, names, strict=True))
    if not taken & set(wanted):
        assert names == wanted
