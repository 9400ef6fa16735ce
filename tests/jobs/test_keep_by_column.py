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


@pytest.mark.parametrize(
    "scores", [[0.25, 0.75], [1, 0.5, 2], ["3.5", "1"], [True, False], [None, 0.5], [1e300, 2e300]]
)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_fractions_decide_and_the_report_shows_the_texts_again(tmp_path, scores, suffix):
    rows = [{"id": i, "text": FOX, "score": score} for i, score in enumerate(scores)]
    path, values = tmp_path / f"docs.{suffix}", [float(score) if score is not None else -1.0 for score in scores]
    if suffix == "csv":
        lines = [f"{row['id']},{row['text']},{'' if row['score'] is None else float(row['score'])}" for row in rows]
        path.write_text("\n".join(["id,text,score", *lines]) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = sosie.dedup(path, keep="max:score", output=tmp_path / "out")
    assert [int(kept) for kept in result.kept.to_pylist()] == [max(range(len(values)), key=lambda i: values[i])]
    assert FOX in (tmp_path / "out/report.html").read_text(encoding="utf-8")


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
