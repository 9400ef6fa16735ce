"""Files of true pairs: every format, every kind of id, and what is no truth file."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.errors import DataError, UsageError
from sosie.evaluation.truth_file import read_truth

TEXT, WHOLE = pa.large_string(), pa.int64()
PAIRS = [("x", "y"), ("2020-01-01", "z, w")]


def written(path, name, content):
    file = path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def pairs_of(path, id_type=TEXT):
    table = read_truth(path, id_type)
    assert table.column_names == ["a", "b"] and table["a"].type == table["b"].type == id_type
    return list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.tsv", "x\ty\n2020-01-01\tz, w\n"),
        ("t.TSV", "\ufeffx\ty\n2020-01-01\tz, w"),
        ("t.tsv", "score\tb\ta\n1\ty\tx\n0\tz, w\t2020-01-01\n"),
        ("t.tsv", "a\tb\nx\ty\n2020-01-01\tz, w\n"),
        ("t.csv", 'x,y,0.9\n2020-01-01,"z, w",0.8\n'),
        ("t.csv", 'a,b\nx,y\n2020-01-01,"z, w"\n'),
        ("t.jsonl", '{"b": "y", "n": 1, "a": "x"}\n\n{"a": "2020-01-01", "b": "z, w"}\n'),
        ("t.ndjson", '{"left": "x", "right": "y"}\n{"left": "2020-01-01", "right": "z, w", "more": []}\n'),
    ],
)
def test_text_formats(tmp_path, name, content):
    assert pairs_of(written(tmp_path, name, content)) == PAIRS


def test_a_byte_order_mark_is_no_part_of_an_id(tmp_path):
    assert pairs_of(written(tmp_path, "t.csv", "\ufeffa,b\n1,2\n")) == [("1", "2")]


@pytest.mark.parametrize("names", [("a", "b"), ("first", "second"), ("b", "a")])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet(tmp_path, names, kind):
    a, b = (pa.array(side, pa.string()).cast(kind) for side in zip(*PAIRS, strict=True))
    sides = {"a": a, "b": b} if "a" in names else dict(zip(names, (a, b), strict=True))
    folder = tmp_path / "year=2020"  # not a column
    folder.mkdir()
    pq.write_table(pa.table({name: sides[name] for name in names} | {"n": [1, 2]}), folder / "t.parquet")
    assert pairs_of(folder / "t.parquet") == PAIRS


def test_ids_become_what_the_result_has(tmp_path):
    assert pairs_of(written(tmp_path, "t.tsv", "7\t-8\n 007\t+9\n"), WHOLE) == [(7, -8), (7, 9)]
    assert pairs_of(written(tmp_path, "t.tsv", "7\t8\n007\t9\n"), TEXT) == [("7", "8"), ("007", "9")]
    lines = "\n".join(json.dumps({"a": a, "b": a + 1}) for a in (2**60, -3))
    assert pairs_of(written(tmp_path, "t.jsonl", lines), WHOLE) == [(2**60, 2**60 + 1), (-3, -2)]
    assert pairs_of(written(tmp_path, "t.jsonl", lines), TEXT)[1] == ("-3", "-2")
    pq.write_table(pa.table({"a": pa.array([1], pa.uint8()), "b": ["2"]}), tmp_path / "t.parquet")
    assert pairs_of(tmp_path / "t.parquet", WHOLE) == [(1, 2)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.tsv", "", "no pairs"),
        ("t.tsv", "a\tb\n", "no pairs"),
        ("t.csv", "\n\n", "no pairs"),
        ("t.jsonl", "\n", "no pairs"),
        ("t.tsv", "x\ny\n", "1 column"),
        ("t.csv", "x\ty\n", "1 column"),
        ("t.jsonl", '{"a": "x"}\n', "1 column"),
        ("t.csv", "x,y\nz\n", "truth file"),
        ("t.csv", b"x,\xff\n", "truth file"),
        ("t.jsonl", '["x", "y"]\n', "object"),
        ("t.jsonl", "{x\n", "not JSON"),
        ("t.jsonl", '{"a": "x", "b": "y"}\n{"a": "x"}\n', "pair 2 lacks an id"),
        ("t.jsonl", '{"a": "x", "b": "y"}\n{"a": 1, "b": "y"}\n', "truth file"),
        ("t.parquet", b"PAR1", "truth file"),
    ],
)
def test_what_is_no_truth(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_truth(written(tmp_path, name, content), TEXT)
    assert name in str(caught.value)


def test_parquet_that_is_no_truth(tmp_path):
    for columns, message in (
        ({"a": ["x"]}, "1 column"),
        ({"a": [1.5], "b": [2.5]}, "not double"),
        ({"a": ["x", None], "b": ["y", "z"]}, "pair 2 lacks"),
    ):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        with pytest.raises(DataError, match=message):
            read_truth(tmp_path / "t.parquet", TEXT)


def test_ids_that_are_no_integers_are_named(tmp_path):
    with pytest.raises(DataError, match=r"2 here are not: 'id1', '1\.5'\. .*header"):
        read_truth(written(tmp_path, "t.tsv", "id1\t2\n1.5\t3\n"), WHOLE)


@pytest.mark.parametrize("name", ["none.tsv", "none.parquet", "none.jsonl", "t.xlsx"])
def test_files_that_are_not_there_or_not_read(tmp_path, name):
    written(tmp_path, "t.xlsx", "x")
    with pytest.raises(UsageError, match=name):
        read_truth(tmp_path / name, TEXT)


def test_brackets_without_end_are_no_line_of_pairs(tmp_path):
    with pytest.raises(DataError, match=r"t\.jsonl: the first line is not JSON"):
        read_truth(written(tmp_path, "t.jsonl", '{"a":' * 100_000), TEXT)


def test_ids_of_a_table_that_are_not_utf_8(tmp_path):
    broken = pa.array([b"\xff\xfe"]).view(pa.string())
    pq.write_table(pa.table({"a": broken, "b": ["y"]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet: is not a truth file of its kind .*UTF8"):
        read_truth(tmp_path / "t.parquet", TEXT)
