"""`sosie plan --threshold`: what is printed, as JSON and as a page; nothing a document says is a command."""

import json

import pytest
from tests.cli.running import done, files_in, refused, run, write_jsonl

WORDS = [f"word{number}" for number in range(400)]
TEXTS = {f"d{n}": " ".join(WORDS[7 * n : 7 * n + 30]) for n in range(40)}
COPIES = {f"c\x1b[3{n}m": TEXTS[f"d{n}"].replace(f"word{7 * n + 15} ", "other\u202e ") for n in range(0, 40, 2)}


@pytest.fixture
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_jsonl("in.jsonl", TEXTS | COPIES)
    return "in.jsonl"


def test_all_of_it_is_printed(documents):
    code, out, err = run("plan", "--threshold", documents, "--width", 2)
    assert code == 0 and not err
    assert "60 documents" in out and "nearest at" in out and "below 0.30" in out and "####" in out
    assert "documents that go    share (counted)" in out and " *" in out
    assert "- word15" in out or "+ word15" in out
    assert "\x1b" not in out and "\u202e" not in out and "c\\x1b[3" in out and "other\\u202e" in out
    threshold = done("plan", "--threshold", documents, "--width", 2)["threshold"]
    command = f"sosie dedup in.jsonl -o OUT --width 2 --threshold {threshold:g}"
    assert out.rstrip().endswith(command)
    assert files_in(".").keys() == {"in.jsonl"}
    assert run(*command.split()[1:])[0] == 0


def test_as_json(documents):
    said = done("plan", "--threshold", documents)
    assert said["format"] == "sosie-threshold" and said["documents"] == 60 and len(said["going"]) == 6
    assert sum(each["documents"] for each in said["nearest"]) == said["sampled"] == 60
    for each in said["going"]:
        counts = done("dedup", documents, "--dry-run", "--threshold", each["threshold"])["counts"]
        assert each["documents"] == counts["dropped"]
    pairs = [pair for each in said["near"] for pair in each["above"] + each["below"]]
    assert pairs and all({"a", "b", "similarity", "only_a", "only_b"} <= pair.keys() for pair in pairs)
    json.dumps(said)


def test_the_page_is_written_whole_or_not_at_all(documents, tmp_path):
    code, out, _ = run("plan", "--threshold", documents, "--page", "page.html")
    assert code == 0 and "Written to page.html" in out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and "sosie dedup in.jsonl -o OUT --threshold" in page
    code, err = refused("plan", "--threshold", documents, "--page", "page.html")
    assert "exists" in err and "--overwrite" in err
    assert run("plan", "--threshold", documents, "--page", "page.html", "--overwrite", "--quiet")[:2] == (0, "")
    assert files_in(".").keys() == {"in.jsonl", "page.html"}


def test_other_measures_are_in_the_command(documents):
    said = done("plan", "--threshold", documents, "--measure", "containment", "--text-column", "text")
    assert said["measure"] == "containment"
    assert said["command"].endswith(f"--text-column text --threshold {said['threshold']:g} --similarity containment")


def test_what_cannot_be_is_refused(documents):
    assert "needs documents" in refused("plan", "--threshold")[1]
    assert run("sign", documents, "-o", "signed", "--quiet")[0] == 0
    assert "holds signatures" in refused("plan", "--threshold", "signed")[1]
    assert "--threshold" in refused("plan", documents, "--page", "page.html")[1]
