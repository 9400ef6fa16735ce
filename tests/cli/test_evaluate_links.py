"""`sosie evaluate links`: what the library measures, in words and as JSON; messages for what cannot be evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, refused, run, write_jsonl


def write_links(rows, parameters, folder="out"):
    Path(folder).mkdir(exist_ok=True)
    names = ("a", "b", "rank", "similarity")
    kinds = (pa.large_string(), pa.int64(), pa.int32(), pa.float64())
    columns = zip(*rows, strict=True) if rows else ([],) * 4
    table = {name: pa.array(list(column), kind) for name, kind, column in zip(names, kinds, columns, strict=True)}
    pq.write_table(pa.table(table), f"{folder}/links.parquet")
    Path(folder, "report.json").write_text(json.dumps({"format": "sosie-link", "parameters": parameters}), "utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """`out` has links of d0, d1 and d2; the truth has pairs of d0, d1 and d3."""
    monkeypatch.chdir(tmp_path)
    rows = [("d0", 10, 1, 0.6), ("d0", 11, 2, 0.7), ("d1", 12, 1, 0.45), ("d1", 11, 2, 0.4), ("d2", 10, 1, 0.9)]
    write_links(rows, {"threshold": 0.4})
    Path("truth.tsv").write_text("d0\t10\nd0\t10\nd1\t11\nd3\t13\n", "utf-8")
    write_jsonl("de.jsonl", {f"d{i}": "wort" for i in range(4)})
    write_jsonl("en.jsonl", {10 + i: "word" for i in range(4)})


def test_as_data():
    said = done("evaluate", "links", "out", "--truth", "truth.tsv")
    assert said["links"] == "out" and [stage["stage"] for stage in said["stages"]] == ["truth"]
    truth = said["truth"]
    bounds = truth.pop("bounds")
    assert [(bound["bits"], bound["radius"]) for bound in bounds] == [(1000, 369), (2000, 738), (3000, 1107)]
    assert all(0.5 < bound["recall"] < 1 for bound in bounds)
    assert truth == {
        "asked": 3,
        "unlinked": 1,
        "ranks": 2,
        "precision_at_1": pytest.approx(1 / 3),
        "precision_at_10": pytest.approx(2 / 3),
        "mean_reciprocal_rank": 0.5,
        "threshold": 0.4,
        "true_pairs": 3,
        "found_pairs": 4,
        "right_pairs": 2,
        "recall": pytest.approx(2 / 3),
        "precision": 0.5,
        "repeated_pairs": 1,
        "ids_checked": False,
    }


def test_in_words():
    code, out, err = run("evaluate", "links", "out", "--truth", "truth.tsv", "--threshold", 0.3)
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[:6] == [
        "3 documents named in the truth, 1 of them without any link",
        "0.3333 P@1: the first link of 1 of 3 documents is true",
        "0.6667 P@10: one of the first ten of 2 is",
        "0.5000 MRR: the mean of 1 / rank of the first true link",
        "0.6667 recall from 0.3 on: 2 of 3 true pairs found",
        "0.5000 precision: 2 of 4 links of these documents true",
    ]
    assert lines[6].endswith("of these to be expected within 403 of 1,000 bits")
    assert lines[9:] == [
        "Note: no document has more than 2 links: P@10 and MRR know no rank beyond.",
        "Note: links were written from 0.4 on; what is below was not looked for.",
        "Note: of the truth, 1 repeated pairs were left out.",
        "Note: name both collections (INPUT INPUT) to check that all ids of the truth are among them.",
    ]
    assert run("evaluate", "links", "out", "--truth", "truth.tsv", "--quiet") == (0, "", "")


def test_without_links_or_a_threshold():
    write_links([], {})
    code, out, _ = run("evaluate", "links", "out", "--truth", "truth.tsv")
    assert code == 0 and "3 of them without any link" in out and "recall from 0.3 on: 0 of 3" in out
    assert "unknown of these to be expected" in out and "there are no links at all" in out and "nan" not in out


def test_ids_are_looked_up_among_the_documents():
    assert done("evaluate", "links", "out", "de.jsonl", "en.jsonl", "--truth", "truth.tsv")["truth"]["ids_checked"]
    _, out, _ = run("evaluate", "links", "out", "de.jsonl", "en.jsonl", "--truth", "truth.tsv")
    assert "to check that" not in out
    Path("other.tsv").write_text("d0\t10\nx1\t10\nx2\t10\n", "utf-8")
    code, said = refused("evaluate", "links", "out", "de.jsonl", "en.jsonl", "--truth", "other.tsv")
    assert code == 1 and "ids that are not in de.jsonl: 'x1', 'x2' (2 in all)" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("missing", "--truth", "truth.tsv"), 2, "missing: no such directory. Name one that `sosie link` wrote"),
        (("out",), 2, "Missing option '--truth'"),
        (("out", "de.jsonl", "--truth", "truth.tsv"), 2, "the left one first, or neither, not 1"),
        (("out", "--truth", "truth.tsv", "--threshold", "nan"), 2, "a cosine from 0 to 1, got nan"),
        (("out", "--truth", "empty.tsv"), 1, "empty.tsv: holds no pairs"),
        (("out", "--truth", "words.tsv"), 1, "the ids of the result are integers"),
        ((".", "--truth", "truth.tsv"), 1, "has no report.json"),
    ],
)
def test_what_cannot_be_evaluated(arguments, code, said):
    Path("empty.tsv").write_text("", "utf-8")
    Path("words.tsv").write_text("d0\tten\n", "utf-8")
    refusal = refused("evaluate", "links", *arguments)
    assert refusal[0] == code and said in refusal[1]


def test_a_result_in_a_folder_called_links_has_a_long_form():
    assert "no report of `sosie dedup`" in refused("evaluate", "result", "out", "--truth", "truth.tsv")[1]
