"""The main job with a column that decides who stays, from end to end."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

import sosie
from sosie.cli.dedup import command

FOX = "the quick brown fox jumps over the lazy dog and runs away"
ROWS = [
    {"id": "old", "text": FOX, "date": "2023-01-01", "stars": 3},
    {"id": "other", "text": "something else entirely which is not about any animal", "date": "", "stars": 1},
    {"id": "new", "text": FOX + "!", "date": "2024-05-01T10:00:00+02:00", "stars": None},
    {"id": "late", "text": FOX + "?", "date": "2024-05-01T08:00:00Z", "stars": 2**60},
    {"id": "undated", "text": FOX + ".", "stars": 2**60 + 1},
]


@pytest.mark.parametrize(
    ("keep", "stays"),
    [("first", "old"), ("longest", "new"), ("newest:date", "new"), ("max:stars", "undated"), ("max:id", None)],
)
def test_the_column_decides_who_stays(tmp_path, keep, stays):
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    if stays is None:
        with pytest.raises(sosie.DataError, match=r"docs.jsonl, line 1: 'id' is 'old', not a number"):
            sosie.dedup(path, keep=keep)
        return
    result = sosie.dedup(path, keep=keep, output=tmp_path / "out")
    assert result.kept.to_pylist() == [row["id"] for row in ROWS if row["id"] in (stays, "other")]
    assert set(result.dropped["duplicate_of"].to_pylist()) == {stays}
    assert result.report["parameters"]["keep"] == keep
    table = pa.Table.from_pylist([{"date": None, **row} for row in ROWS])
    assert sosie.dedup(table, keep=keep).kept.to_pylist() == result.kept.to_pylist()


def test_the_column_of_the_ids_may_decide():
    table = pa.table({"id": [3, 9, 7], "text": [FOX] * 3})
    assert sosie.dedup(table, keep="max:id").kept.to_pylist() == [9]


def test_the_command_line_and_the_report(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps({**row, "<b>": row.get("stars")}) + "\n" for row in ROWS))
    run = CliRunner().invoke(command, [str(path), "-o", str(tmp_path / "out"), "--keep", "max:<b>"])
    assert run.exit_code == 0, run.output
    assert "the greatest one by the column <bdi><code>&lt;b&gt;</code></bdi> stays" in (
        tmp_path / "out/report.html"
    ).read_text(encoding="utf-8")
    assert "newest:COLUMN" in CliRunner().invoke(command, ["--help"]).output


@pytest.mark.parametrize("keep", ["newest", "newest:", "oldest:date", "max", "first:x", "", None])
def test_other_rules_are_refused(keep):
    with pytest.raises(sosie.UsageError, match="keep must be one of first, longest, newest:COLUMN or max:COLUMN"):
        sosie.dedup(pa.table({"text": [FOX]}), keep=keep)
