"""Columns inside columns, by dotted names, in every format that nests."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source
from sosie.documents.columns import Columns
from sosie.documents.fetch import fetch_texts
from sosie.documents.jsonl.blocks import find_lines
from sosie.documents.jsonl.decode import parse_each, parse_whole
from sosie.documents.jsonl.record import members_of
from sosie.documents.order import Order
from sosie.errors import DataError, UsageError

ROWS = [
    {"n": 1, "meta": {"key": "a", "at": {"body": "a rose", "day": "2024-01-01"}, "tags": ["x"]}},
    {"n": 2, "meta": {"key": "b", "at": {"body": "is a rose", "day": None}, "tags": []}},
]


def write(form, rows, path):
    if form == "arrow":
        return pa.Table.from_pylist(rows)
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow"])
def test_texts_ids_and_order_inside_structs(tmp_path, form):
    source = Source(write(form, ROWS, tmp_path / f"a.{form}"), text_column="meta.at.body", id_column="meta.key")
    reading = source.batches(1, Order("meta.at.day", "newest"))
    (batch,) = reading
    assert batch.texts.to_pylist() == ["a rose", "is a rose"] and batch.ids.to_pylist() == ["a", "b"]
    assert batch.order.to_pylist() == [1704067200_000000, None]
    assert fetch_texts(reading, [1]) == {1: "is a rose"}


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow"])
def test_a_column_of_the_very_name_wins(tmp_path, form):
    rows = [{"meta.body": "literal", "meta": {"body": "nested"}}]
    (batch,) = Source(write(form, rows, tmp_path / f"a.{form}"), text_column="meta.body").batches()
    assert batch.texts.to_pylist() == ["literal"]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow"])
def test_what_is_not_there_is_null_or_missing(tmp_path, form):
    rows = [{"meta": {"body": "a"}}, {"meta": None}, {"meta": {"body": None}}]
    source = Source(write(form, rows, tmp_path / f"a.{form}"), text_column="meta.body", on_error="skip")
    (batch,) = source.batches()
    assert batch.texts.to_pylist() == ["a"]
    assert all("'meta.body'" in reject.reason for reject in batch.rejects) and len(batch.rejects) == 2


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_struct_says_which_texts_are_inside_and_a_list_that_it_is_one(tmp_path, form):
    source = write(form, ROWS, tmp_path / f"a.{form}")
    for column, message in [
        ("meta", r"'meta' is a struct. The text fields inside are: meta.key, meta.at.body, meta.at.day. Name one with"),
        ("meta.at", r"'meta.at' is a struct. The text fields inside are: meta.at.body, meta.at.day"),
        ("meta.tags", r"'meta.tags' is list<.*string>: several values for each document. Join them"),
        ("meta.nope", r"no column 'meta.nope'. The columns are: n, meta"),
        ("n.nope", r"no column 'n.nope'"),
    ]:
        with pytest.raises(UsageError, match=message):
            Source(source, text_column=column).batches()


def test_the_same_in_json_lines(tmp_path):
    path = write("jsonl", ROWS, tmp_path / "a.jsonl")
    for column, kind, message in [
        (
            "meta",
            DataError,
            r"line 1: 'meta' is an object, not text; the texts inside are: meta.key, meta.at.body, meta.at.day",
        ),
        ("meta.tags", DataError, r"line 1: 'meta.tags' is a list, not text"),
        ("meta.nope", UsageError, r"no column 'meta.nope'. The columns are: n, meta"),
    ]:
        with pytest.raises(kind, match=message):
            list(Source(path, text_column=column).batches())


value = st.sampled_from(["x", None, 3, {"body": "y"}, {"body": None}, {"body": {"z": 1}}, {"other": 1}, ["w"]])
line = st.lists(st.tuples(st.sampled_from(["meta", "meta.body", "more"]), value), max_size=3)


def spell(members):
    return "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in members) + "}\n"


@given(lines=st.lists(line, min_size=1, max_size=4), with_order=st.booleans())
def test_arrow_and_the_lines_agree(lines, with_order):
    block = "".join(map(spell, lines)).encode()
    order, kind = (Order("meta.body", "max"), pa.large_string()) if with_order else (None, None)
    columns = Columns("meta.body", order=order, order_type=kind)
    each = parse_each(block, find_lines(block), columns)
    whole = parse_whole(block, find_lines(block), columns)
    assert all(members_of(one) is not None for one in block.splitlines())
    if whole is not None:
        assert (whole.texts.to_pylist(), whole.accepted.tolist()) == (each.texts.to_pylist(), each.accepted.tolist())
        assert whole.problems == each.problems
