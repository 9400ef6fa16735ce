"""`sosie inspect`: an aligned table, the same as JSON, and what `sosie dedup` would do."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.cli.test_cli import names, run

from sosie.documents.source import Source
from sosie.evaluation.inspection import inspect
from sosie.features.shingles import Shingles
from sosie.jobs.dedup import Deduplicator
from sosie.jobs.inspect import plan_of
from sosie.planner.methods import exact

TEXTS = [
    "The quick brown fox jumps",
    "the quick brown FOX jumps!",
    "東京タワーはどこですか",
    "",
    "...",
    "москва москва",
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate([*TEXTS, TEXTS[0]])]
    Path("in.jsonl").write_text("\n".join([*lines, lines[0], "{"]) + "\n", "utf-8")
    return tmp_path


def test_the_table(folder):
    before = names(folder)
    code, out, err = run("inspect", "in.jsonl")
    assert (code, err) == (0, "") and names(folder) == before
    for line in (
        "             9 documents",
        "             2 rejected",
        "                 1: duplicate id",
        "                 1: broken JSON",
        "             1 empty texts",
        "             2 texts without words",
        "             1 identical to an earlier one, byte for byte (1 groups, the largest of 2)",
        "             2 the same as an earlier one once folded (1 groups, the largest of 3)",
        "Latin                     63    73.26%             3    42.86%",
        "Cyrillic                  12    13.95%             1    14.29%",
        "none                       0     0.00%             2    28.57%",
    ):
        assert line in out.splitlines(), (line, out)
    assert "sosie dedup --threshold 0.8 would compare" in out and "(method exact)" in out


def test_what_is_identical_is_the_same_once_folded(folder):
    """Texts without words have no shingles that could be the same, but whatever is identical is the same."""
    Path("bare.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in ["", "", "?!", "?!", "..."]))
    said = json.loads(run("inspect", "bare.jsonl", "--json")[1])
    assert said["identical"] == said["same_features"] == {"documents": 2, "groups": 2, "largest": 2}
    out = run("inspect", "bare.jsonl", "--unit", "code")[1]
    assert "             2 texts without tokens" in out.splitlines(), out
    assert "sosie dedup --threshold 0.8 --unit code would compare" in out
    assert "             2 the same as an earlier one but for white space (2 groups, the largest of 2)" in out


def test_json_is_what_the_library_finds(folder):
    code, out, err = run("inspect", "in.jsonl", "--json", "--threads", 2, "--width", 2, "--threshold", "0.5")
    assert (code, err) == (0, "")
    found = inspect(Source("in.jsonl", on_error="skip").batches(), Shingles(2))
    said = json.loads(out)
    assert {name: said[name] for name in asdict(found)} == json.loads(json.dumps(asdict(found)))
    assert said["usable"] == 7 and said["rejected"] == {"duplicate id": 1, "broken JSON": 1}
    assert said["dedup"] == plan_of(found, Deduplicator(shingles=Shingles(2), threshold=Fraction(1, 2)))
    assert said["dedup"]["features"] == said["features"] > 0 and said["dedup"]["threshold"] == 0.5


def test_the_features_are_those_of_dedup(folder):
    assert run("dedup", "in.jsonl", "-o", "out", "--on-error", "skip", "--quiet")[0] == 0
    report = json.loads(Path("out/report.json").read_text("utf-8"))
    said = json.loads(run("inspect", "in.jsonl", "--json")[1])
    assert said["features"] == report["features"] and said["documents"] == report["counts"]["documents"]
    assert said["dedup"]["method"] == report["parameters"]["method"]["method"] == "exact"
    assert said["same_features"]["documents"] == report["counters"]["identical_documents"]


def test_the_plan_follows_the_rule_of_dedup(folder, monkeypatch):
    found = inspect(Source("in.jsonl", on_error="skip").batches())
    plan = plan_of(found, Deduplicator())
    assert plan["method"] == "exact" and plan["feature_bytes"] == 12 * found.features and not plan["features_on_disk"]
    monkeypatch.setattr(exact, "physical_memory", lambda: 2 * plan["list_bytes"] + 4)
    assert plan_of(found, Deduplicator()) == plan
    monkeypatch.setattr(exact, "physical_memory", lambda: 2 * plan["list_bytes"] - 4)
    smaller = plan_of(found, Deduplicator())
    assert smaller["method"] == "minhash" and smaller["list_bytes"] is None
    weighted = plan_of(found, Deduplicator(similarity="cosine", weighting="tf-idf"))
    assert weighted["method"] == "simhash"
    contained = plan_of(found, Deduplicator(similarity="containment"))
    assert contained["method"] == "exact" and contained["list_bytes"] > plan["list_bytes"]


def test_the_plan_for_other_measures_and_for_little_memory(folder):
    code, out, _ = run("inspect", "in.jsonl", "--similarity", "cosine", "--weighting", "bm25")
    assert code == 0 and "sosie dedup --threshold 0.8 --similarity cosine --weighting bm25 would compare" in out
    code, out, _ = run("inspect", "in.jsonl", "--memory", "100MB")
    assert (
        code == 0 and "would not run within 100.0 MB: 100.0 MB of memory are too little: allow 600.0 MB or more" in out
    )
    plan = json.loads(run("inspect", "in.jsonl", "--memory", "100MB", "--json")[1])["dedup"]
    assert plan["method"] is None and plan["memory"] == 100_000_000 and "600.0 MB" in plan["problem"]
    assert json.loads(run("inspect", "in.jsonl", "--memory", "1GB", "--json")[1])["dedup"]["method"] == "exact"


def test_features_go_to_disk_by_the_limit(folder):
    found = replace(inspect(Source("in.jsonl", on_error="skip").batches()), features=10_000_000)
    assert not plan_of(found, Deduplicator())["features_on_disk"]
    assert plan_of(found, Deduplicator(), 1_000_000_000)["features_on_disk"]


def test_quiet_many_files_and_columns(folder):
    assert run("inspect", "in.jsonl", "--quiet") == (0, "", "")
    Path("a.jsonl").write_text('{"body": "x"}\n', "utf-8")
    Path("b.jsonl").write_text('{"body": "x"}\n{"body": "y"}\n', "utf-8")
    said = json.loads(run("inspect", "a.jsonl", "b.jsonl", "--text-column", "body", "--json")[1])
    assert said["documents"] == 3 and said["identical"] == {"documents": 1, "groups": 1, "largest": 2}
    Path("void.jsonl").write_text("", "utf-8")
    code, out, _ = run("inspect", "void.jsonl")
    assert code == 0 and "             0 documents" in out


def test_many_scripts_are_cut_short(folder):
    lines = [json.dumps({"text": text}) for text in ("aбγ", "東", "ひ", "カ", "한", "ไ", "א", "س", "न")]
    Path("all.jsonl").write_text("\n".join(lines), "utf-8")
    assert "and 3 more: see --json" in run("inspect", "all.jsonl")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "INPUT"),
        ("nothing.jsonl", "nothing.jsonl: no such file"),
        ("in.jsonl --text-column body", "body"),
        ("in.jsonl --threshold 2", "threshold"),
        ("in.jsonl --width 0", "width"),
        ("in.jsonl --weighting tf", "weights are for the cosine"),
        ("in.jsonl --memory much", "is not a size"),
        ("in.jsonl --threads 0", "threads"),
        ("in.jsonl --on-error raise", "--on-error"),
    ],
)
def test_wrong_usage(folder, arguments, message):
    code, out, err = run("inspect", *arguments.split())
    assert (code, out) == (2, "") and message in err
