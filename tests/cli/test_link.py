"""`sosie link`: what is printed, what is written, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, files_in, refused, run, write_jsonl
from tests.crosslingual.twins import twins

TWINS = twins()
SIDES = ("source.jsonl", "target.jsonl")
BY_WORDS = (*SIDES, "--dictionary", "words")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the twins, and the dictionary `words`, once."""
    place = tmp_path_factory.mktemp("twins")
    TWINS.write(place)
    done("dictionary", "import", place / "words.tsv", "-o", place / "words")
    return place


@pytest.fixture(autouse=True)
def folder(written, tmp_path, monkeypatch):
    """Work where links to all of it are."""
    monkeypatch.chdir(tmp_path)
    for path in written.iterdir():
        os.symlink(path, path.name)
    return tmp_path


def table(name="out"):
    return pq.read_table(f"{name}/links.parquet")


def test_links_are_written_and_told(written):
    before = files_in(written)
    code, out, err = run("link", *BY_WORDS, "-o", "out", "--threads", 1, "--bits", 1000)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "1,200 links of 120 of 120 documents, with 120 others"
    assert lines[1].startswith("Signatures brought about 99.") and lines[1].endswith("--exact compares all")
    assert lines[2].startswith("Compared the nearest by signatures: measured .99")
    assert lines[3:] == ["Written to out/links.parquet; look at out/report.html first"]
    names = [".sosie", "left_out.jsonl", "links.parquet", "report.html", "report.json"]
    assert sorted(files_in("out")) == names and files_in(written) == before
    assert table().schema.types == [pa.large_string(), pa.int64(), pa.int32(), pa.float64()]
    assert TWINS.right(table()) == 1 and Path("out/left_out.jsonl").read_text() == ""


def test_as_data_and_quiet():
    report = done("link", *BY_WORDS, "-o", "out", "--exact", "-k", 2)
    assert report == json.loads(Path("out/report.json").read_text())
    assert (report["format"], report["version"], report["links"], report["linked"]) == ("sosie-link", 1, 240, 120)
    assert (report["recall"], report["interval"], report["hubs"], report["rounds"]) == (1.0, None, [], [])
    parameters = {"exact": True, "k": 2, "threshold": None, "bits": None, "words_by": "dictionary", "window": None}
    assert parameters.items() <= report["parameters"].items()
    stages = [stage["stage"] for stage in report["stages"]]
    assert stages == ["read a", "read b", "letters", "project", "plan", "compare", "rank"]
    assert run("link", *BY_WORDS, "-o", "again", "--seed", 0, "--quiet") == (0, "", "")
    assert json.loads(Path("again/report.json").read_text())["stages"][-1]["stage"] == "check"


def test_options_reach_the_job():
    options = (
        "--threshold",
        0.3,
        "--one-to-one",
        "--mutual",
        "--bits",
        512,
        "--seed",
        3,
        "--tables",
        30,
        "--window",
        40,
    )
    report = done(
        "link", *BY_WORDS, "-o", "out", *options, "--weights", "2,2,1", "--formula", "paper", "--memory", "1GB"
    )
    said = report["parameters"]
    expected = {"threshold": 0.3, "k": None, "one_to_one": True, "mutual": True, "bits": 512, "seed": 3}
    assert expected.items() <= said.items() and said["formula"] == "paper"
    assert (said["window"]["tables"], said["window"]["window"]) == (30, 40)
    assert said["weights"] == {"forward": 0.4, "backward": 0.4, "grams": 0.2}
    assert len(table()) == 120 and TWINS.right(table()) == 1
    report = done("link", *BY_WORDS, "-o", "out", "--compared", 5, "-k", 5, "--set-aside-hubs", "--overwrite")
    assert report["parameters"]["compared"] == 5 and report["parameters"]["set_aside_hubs"] and len(table()) == 600


def test_a_recall_is_asked_predicted_and_measured():
    code, out, _ = run("link", *BY_WORDS, "-o", "out", "--recall", 1)
    assert code == 0 and "Compared all with all: asked 1, predicted 1, measured 1; predicted" in out
    report = done("link", *BY_WORDS, "-o", "some", "--recall", 0.9)
    plan = report["plan"]
    assert plan["asked"] == 0.9 and plan["predicted"] >= 0.9 and plan["measured"] == report["recall"] >= 0.9
    assert report["parameters"]["recall"] == 0.9
    assert "compared or recall" in refused("link", *BY_WORDS, "-o", "no", "--recall", 0.9, "--compared", 20)[1]
    assert "recall must be above 0" in refused("link", *BY_WORDS, "-o", "no", "--recall", 1.5)[1]
    assert "recall or exact" in refused("link", *BY_WORDS, "-o", "no", "--recall", 0.5, "--exact")[1]


def test_a_dictionary_that_was_trained_can_be_used_again():
    code, out, _ = run("link", *SIDES, "-o", "out", "--parallel", "segments.tsv")
    assert code == 0 and "1,200 links" in out and TWINS.right(table()) == 1
    done("link", *SIDES, "-o", "again", "--dictionary", "out/dictionary")
    assert table("again") == table() and not Path("again/dictionary").exists()
    write_jsonl("here.jsonl", {i: pair[0] for i, pair in enumerate(TWINS.segments)})
    write_jsonl("there.jsonl", {i: pair[1] for i, pair in enumerate(TWINS.segments)})
    done("link", *SIDES, "-o", "joined", "--parallel", "there.jsonl", "--parallel", "here.jsonl", "--swap")
    assert table("joined") == table()


def test_without_anything_words_are_learnt():
    code, out, err = run("link", *SIDES, "-o", "out", "--rounds", 2, "--aligner", "ibm1")
    lines = out.splitlines()
    assert (code, err) == (0, "") and TWINS.right(table()) == 1
    assert lines[0].startswith("Round 1: 60 of 120 confident pairs taken, 60 segments, ")
    assert lines[1].startswith("Round 2: ") and lines[2].startswith("1,200 links")
    done("link", *SIDES, "-o", "again", "--dictionary", "out/dictionary")
    assert table("again") == table()
    assert done("dictionary", "info", "out/dictionary")["spec"]["aligner"] == "ibm1"


def test_links_are_evaluated():
    done("link", *BY_WORDS, "-o", "out", "--exact")
    truth = done("evaluate", "links", "out", *SIDES, "--truth", "truth.tsv", "--threshold", 0.3)["truth"]
    assert (truth["precision_at_1"], truth["recall"], truth["asked"], truth["ids_checked"]) == (1.0, 1.0, 120, True)


def test_the_other_way_round_is_told():
    code, out, _ = run("link", *reversed(SIDES), "--dictionary", "words", "-o", "out")
    assert code == 0 and out.startswith("Note: the dictionary is from the second language into the first")
    first = {row["b"]: row["a"] for row in table().to_pylist() if row["rank"] == 1}
    assert all(first[name] == twin for name, twin in TWINS.truth.items())


def test_what_is_left_out_and_rejected_is_told():
    lines = Path("source.jsonl").read_text() + '{"id": "bad"\n{"id": "s0", "text": "x"}\n{"id": "void", "text": ""}\n'
    Path("mixed.jsonl").write_text(lines)
    command = ("link", "mixed.jsonl", "target.jsonl", "--dictionary", "words", "-o", "out")
    code, said = refused(*command)
    assert code == 1 and "mixed.jsonl, line 121" in said and not Path("out").exists()
    _, out, _ = run(*command, "--on-error", "skip")
    assert "1 document left out: fewer than five words" in out and "2 records rejected: see rejected.jsonl" in out
    assert [json.loads(line)["line"] for line in Path("out/rejected.jsonl").read_text().splitlines()] == [121, 122]
    assert json.loads(Path("out/left_out.jsonl").read_text())["id"] == "void"


def test_one_document_with_one_other():
    write_jsonl("one.jsonl", {"s0": TWINS.source["s0"]})
    write_jsonl("other.jsonl", {1: TWINS.target[TWINS.truth["s0"]]})
    _, out, _ = run("link", "one.jsonl", "other.jsonl", "--dictionary", "words", "-o", "out")
    assert out.splitlines()[0] == "1 link of 1 of 1 document, with 1 other"
    code, said = refused("link", "one.jsonl", "other.jsonl", "-o", "learnt")
    assert code == 1 and "1 and 1 document are too few to learn from" in said


def test_outputs_are_whole_or_not_at_all():
    done("link", *BY_WORDS, "-o", "out", "-k", 1)
    before, names = files_in("out"), sorted(os.listdir())
    code, said = refused("link", *BY_WORDS, "-o", "out")
    assert code == 2 and "--overwrite" in said
    Path("bad.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 2\n')
    code, said = refused("link", "source.jsonl", "bad.jsonl", "--dictionary", "words", "-o", "out", "--overwrite")
    assert code == 1 and "bad.jsonl, line 2" in said and files_in("out") == before
    assert sorted(os.listdir()) == sorted([*names, "bad.jsonl"])
    done("link", *BY_WORDS, "-o", "out", "-k", 2, "--overwrite")
    assert len(table()) == 240


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--threshold", "nan"), "as in 0.8, got 'nan'"),
        (("--threshold", "0,3"), "as in 0.8, got '0,3'"),
        (("--threshold", 0), "greater than 0"),
        (("--threshold", 30), "write 0.3"),
        (("-k", 0), "k is a whole number from 1 on"),
        (("--compared", 0), "compared is a whole number"),
        (("--threshold", 0.3, "--compared", 50), "--compared is for the best links"),
        (("--exact", "--bits", 64), "--bits is for signatures"),
        (("--exact", "--seed", 1), "--seed is for signatures"),
        (("--seed", -1), "seed must be from 0"),
        (("--bits", 5000), "1 to 4096 bits"),
        (("--weights", "1,2"), "there are three weights"),
        (("--weights", "a,b,c"), "as in 0.4,0.4,0.2"),
        (("--tables", 5), "--tables is for a --threshold"),
        (("--threshold", 0.3, "--window", 0), "the window of a window join"),
        (("--parallel", "segments.tsv"), "dictionary and parallel"),
        (("--rounds", 3), "--rounds is for what is trained"),
        (("--aligner", "ibm1"), "--aligner is for what is trained"),
        (("--swap",), "--swap is for --parallel"),
        (("--memory", "4MB"), "too little"),
        (("--text-column", "txt"), "Did you mean 'text'?"),
    ],
)
def test_wrong_options_are_refused(options, said):
    code, message = refused("link", *BY_WORDS, "-o", "out", *options)
    assert code == 2 and said in message and not Path("out").exists()


def test_rounds_are_not_for_parallel_text():
    code, said = refused("link", *SIDES, "-o", "out", "--parallel", "segments.tsv", "--rounds", 2)
    assert code == 2 and "leave out --rounds or --parallel" in said


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, 2, "no such file"),
        (b"", 1, "there is no document"),
        (b'{"id": 1, "text": "?!"}\n', 1, "there is no word in 1 document"),
        (b'{"id": 1, "body": "a rose"}\n', 2, "there is no column 'text'"),
        ('{"id": 1, "text": "café"}\n'.encode("latin-1"), 1, "line 1: invalid UTF-8"),
        (b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', 1, "line 2: duplicate id 1"),
        (b'{"id": 1, "text": "zero one two three four five"}\n', 2, "it is for other languages"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_bad_documents_are_refused(content, code, said, side):
    if content is not None:
        Path("bad.jsonl").write_bytes(content)
    sides = list(SIDES)
    sides[side] = "bad.jsonl"
    found = refused("link", *sides, "--dictionary", "words", "-o", "out")
    assert found[0] == code and said in found[1] and not Path("out").exists()


def test_records_that_are_all_rejected_are_named():
    Path("bad.jsonl").write_bytes(b'{"id": 1\n{"id": 2\n')
    code, said = refused(
        "link", "bad.jsonl", "target.jsonl", "--dictionary", "words", "-o", "out", "--on-error", "skip"
    )
    assert code == 1 and "bad.jsonl: none of its 2 records can be used (bad.jsonl, line 1: broken JSON" in said


def test_folders_are_read_and_empty_ones_refused():
    for name, side in (("here", TWINS.source), ("there", TWINS.target), ("empty", {})):
        Path(name).mkdir()
        for key, text in list(side.items())[:20]:
            Path(name, f"{key}.txt").write_text(text)
    report = done("link", "here", "there", "--dictionary", "words", "-o", "out")
    assert report["documents"] == {"a": 20, "b": 20} and table().schema.types[:2] == [pa.large_string()] * 2
    code, said = refused("link", "here", "empty", "--dictionary", "words", "-o", "new")
    assert code == 2 and "empty: holds no file that can be read" in said


def test_one_collection_twice():
    code, said = refused("link", "source.jsonl", "source.jsonl", "--dictionary", "words", "-o", "out")
    assert code == 2 and "of the same language" in said
    _, out, _ = run("link", "source.jsonl", "source.jsonl", "-o", "out", "--rounds", 1)
    assert out.startswith("Note: both collections seem to be in the same language")


@pytest.mark.parametrize("name", ["nothing", "words.tsv", "source.jsonl"])
def test_what_is_no_dictionary_is_refused(name):
    code, said = refused("link", *SIDES, "--dictionary", name, "-o", "out")
    assert code == 1 and f"{name}: is no directory that holds a dictionary" in said
