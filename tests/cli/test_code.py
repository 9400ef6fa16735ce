"""`--unit code` in every command that makes shingles: operators and case count, white space does not."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, refused, run, write_jsonl

from sosie.signatures.files import load_signatures, load_signer

LESS = "int least(int a, int b) {\n    if (a < b) return a;\n    return b;\n}\n"
CODE = {"less": LESS, "tight": " ".join(LESS.split()), "more": LESS.replace("<", ">"), "capital": LESS.upper()}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_jsonl("in.jsonl", CODE)


def test_dedup_and_its_report():
    assert done("dedup", "in.jsonl", "-o", "words", "--threshold", 1)["counts"]["kept"] == 1
    report = done("dedup", "in.jsonl", "-o", "out", "--threshold", "0.6", "--unit", "code", "--width", 3)
    assert report["parameters"]["method"]["shingles"] == {"width": 3, "unit": "code"}
    similar = {(row["a"], row["b"]): row["similarity"] for row in pq.read_table("out/pairs.parquet").to_pylist()}
    assert similar.pop(("less", "tight")) == 1
    assert similar.keys() == {("less", "more"), ("tight", "more")} and max(similar.values()) < 1
    page = Path("out/report.html").read_text("utf-8")
    assert '<mark class="changed">&lt;</mark>' in page and '<mark class="changed">&gt;</mark>' in page
    assert "read as code (case counts, white space does not)" in page and "runs of 3 tokens of code" in page
    assert done("evaluate", "result", "out", "in.jsonl")["sample"]["recall"] == 1


def test_join_and_a_reference():
    done("join", "in.jsonl", "-o", "pairs", "--unit", "code", "--threshold", 1)
    assert pq.read_table("pairs/pairs.parquet").num_rows == 1
    done("sign", "in.jsonl", "-o", "signed", "--features", "--unit", "code")
    write_jsonl("new.jsonl", {"again": CODE["tight"], "other": "return a;"})
    report = done("dedup", "new.jsonl", "--dry-run", "--against", "signed", "--unit", "code", "--threshold", 1)
    assert report["counts"]["dropped_against"] == 1
    code, said = refused("dedup", "new.jsonl", "--dry-run", "--against", "signed")
    assert code == 1 and "holds features of Shingles(width=3, unit='code'" in said


def test_signatures_and_indexes_remember_it():
    done("sign", "in.jsonl", "-o", "signed", "--unit", "code")
    words = load_signatures("signed").words[:, 0].tolist()
    assert words[0] == words[1] and len(set(words)) == 3
    assert load_signer("signed").spec.shingles.unit == "code"
    done("index", "build", "in.jsonl", "-o", "index", "--unit", "code", "--for", "duplicates")
    found = run("search", "index", "--text", CODE["tight"], "--radius", 0, "--json")
    assert found[0] == 0 and "less" in found[1] and "more" not in found[1]


def test_inspect_and_evaluate():
    assert done("inspect", "in.jsonl", "--unit", "code")["same_features"]["documents"] == 1
    found = done("evaluate", "signatures", "in.jsonl", "--unit", "code", "--spec", "simhash")
    assert found["truth"]["shingles"] == {"width": 1, "unit": "code"}


@pytest.mark.parametrize("option", ["--stem", "--stop-words"])
def test_what_contradicts_is_refused(option):
    code, said = refused("dedup", "in.jsonl", "--dry-run", "--unit", "code", option, "en")
    assert code == 2 and "code is compared as it is written" in said
