"""Several text columns, and documents that are numbered though they have ids."""

import json

import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import sosie
from sosie.cli import sosie as cli
from sosie.documents import Source
from sosie.documents.columns import Columns, joined_columns
from sosie.documents.jsonl.blocks import find_lines
from sosie.documents.jsonl.decode import parse_each, parse_whole
from sosie.errors import DataError, UsageError

ROWS = [("A title", "and a body", "x"), ("", "only a body", "y"), ("Another", "with another", "z")]


def make(folder, form):
    rows = [dict(zip(("title", "body", "note"), row, strict=True)) for row in ROWS]
    path = folder / f"a.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "json":
        path.write_text(json.dumps(rows))
    elif form == "csv":
        path.write_text("note,body,title\n" + "".join(f"{c},{b},{a}\n" for a, b, c in ROWS))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif form == "feather":
        pf.write_feather(pa.Table.from_pylist(rows), path)
    else:
        table = pa.Table.from_pylist(rows)
        return table.set_column(0, "title", table["title"].combine_chunks().dictionary_encode())
    return path


def texts_of(source, order=None):
    return [text for batch in source.batches(order=order) for text in batch.texts.to_pylist()]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet", "feather", "table"])
def test_texts_of_several_columns_are_joined_in_their_order(tmp_path, form):
    found = make(tmp_path, form)
    assert texts_of(Source(found, text_column=["title", "body"])) == [f"{a}\n{b}" for a, b, _ in ROWS]
    assert texts_of(Source(found, text_column=("body", "note", "title"))) == [f"{b}\n{c}\n{a}" for a, b, c in ROWS]
    assert texts_of(Source(found, text_column=["body"])) == [b for _, b, _ in ROWS]
    with pytest.raises(UsageError, match=r"there is no column 'text'"):
        texts_of(Source(found, text_column=["title", "text"]))


def test_a_column_that_is_null_adds_nothing(tmp_path):
    lines = ['{"a": "x", "b": "y"}', '{"a": null, "b": "y"}', '{"b": "y"}', '{"a": null}', '{"a": 5, "b": "y"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    batches = list(Source(tmp_path / "a.jsonl", text_column=["a", "b"], on_error="skip").batches())
    assert [text for batch in batches for text in batch.texts.to_pylist()] == ["x\ny", "y", "y"]
    reasons = [reject.reason for batch in batches for reject in batch.rejects]
    assert reasons == ["each of 'a', 'b' is null or not there (there are: a)", "'a' is a number, not text"]
    table = pa.table({"a": ["x", None, None], "b": ["y", "z", None]})
    with pytest.raises(DataError, match=r"row 2 \(counted from 0\): each of 'a', 'b' is null"):
        texts_of(Source(table, text_column=["a", "b"]))


def test_columns_that_no_document_has_together(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": "x"}\n{"b": "y"}\n')
    assert texts_of(Source(tmp_path / "a.jsonl", text_column=["a", "b"])) == ["x", "y"]


MEMBER = st.none() | st.text() | st.integers()


@given(st.lists(st.dictionaries(st.sampled_from("ab"), MEMBER)))
def test_arrow_reads_several_columns_as_the_standard_library_does(documents):
    block = "".join(json.dumps(document) + "\n" for document in documents).encode()
    lines, columns = find_lines(block), Columns(("a", "b"))
    whole, each = parse_whole(block, lines, columns), parse_each(block, lines, columns)
    if whole is not None:
        assert whole.texts.to_pylist() == each.texts.to_pylist() and whole.problems == each.problems


@given(st.lists(st.tuples(*[st.none() | st.text()] * 3)))
def test_joining_agrees_with_python(rows):
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(3)]
    expected = [
        "\n".join(part for part in row if part is not None) if any(p is not None for p in row) else None for row in rows
    ]
    assert joined_columns(columns).to_pylist() == expected


@pytest.mark.parametrize(
    ("names", "message"), [([], "name of a column"), (["a", "a"], "named twice"), ([1], "name of")]
)
def test_names_that_are_none(names, message):
    with pytest.raises(UsageError, match=message):
        Source("a.jsonl", text_column=names)


def test_the_command_line_takes_it_twice(tmp_path):
    make(tmp_path, "csv")
    arguments = [
        str(tmp_path / "a.csv"),
        "-o",
        str(tmp_path / "out"),
        "--text-column",
        "title",
        "--text-column",
        "body",
    ]
    done = CliRunner().invoke(cli, ["dedup", *arguments])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["parameters"]["text_column"] == ["title", "body"]
    assert report["text_bytes"] == sum(len(f"{a}\n{b}") for a, b, _ in ROWS)
    again = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "out"), "--sample", "2"])
    assert again.exit_code == 0, again.output


TEXT = "a rose is a rose is a rose"
IDS = {"repeated": [7, 7], "null": [7, None], "float": [0.5, 1.5], "mixed": [7, "b"]}


@pytest.mark.parametrize("kind", IDS)
def test_ids_that_cannot_be_used_and_how_to_do_without(tmp_path, kind):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": TEXT}) + "\n" for name in IDS[kind]))
    with pytest.raises(DataError, match=r"Name another --id-column, or none to number the documents\."):
        sosie.dedup(path)
    result = sosie.dedup(Source(path, id_column="none"), output=tmp_path / "out")
    assert result.dropped.to_pylist() == [{"id": "a.jsonl:2", "duplicate_of": "a.jsonl:1", "similarity": 1.0}]
    assert result.report.parameters.id_column is None
    assert CliRunner().invoke(cli, ["evaluate", str(tmp_path / "out"), "--sample", "2"]).exit_code == 0


@pytest.mark.parametrize("kind", ["repeated", "null", "float"])
def test_the_same_for_tables(tmp_path, kind):
    table = pa.table({"id": IDS[kind], "text": [TEXT, TEXT]})
    pq.write_table(table, tmp_path / "a.parquet")
    for documents in (table, tmp_path / "a.parquet"):
        with pytest.raises((DataError, UsageError), match=r"Name another --id-column, or none to number"):
            sosie.dedup(documents)
    assert sosie.dedup(Source(table, id_column="none")).dropped["id"].to_pylist() == [1]
    assert sosie.dedup(Source(tmp_path / "a.parquet", id_column="none")).dropped["id"].to_pylist() == ["a.parquet:2"]


def test_inputs_of_several_types_of_ids(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "a"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "x", "text": "b"}\n')
    (tmp_path / "c.txt").write_text("c")
    with pytest.raises(UsageError, match="none to number the documents"):
        Source(tmp_path).batches()
    assert texts_of(Source(tmp_path, id_column="none")) == ["a", "b", "c"]
