"""`sosie evaluate`: numbers that the library gives, in words and as JSON; messages for what cannot be evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import names, run

FOX = "the quick brown fox jumps over the lazy dog"
TEXTS = [
    FOX,
    FOX.upper(),
    "a text about something else entirely, not about foxes",
    "",
    FOX + " again",
    "x y z",
    "x y z",
]


def write_documents(path, ids):
    lines = [json.dumps({"id": i, "text": text}) + "\n" for i, text in zip(ids, TEXTS, strict=True)]
    Path(path).write_text("".join(lines), "utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """`out` has the pairs d0-d1, d0-d4, d1-d4, d5-d6."""
    monkeypatch.chdir(tmp_path)
    write_documents("in.jsonl", [f"d{i}" for i in range(7)])
    assert run("dedup", "in.jsonl", "-o", "out", "--quiet")[0] == 0
    Path("truth.tsv").write_text("d1\td0\nd0\td4\nd5\td2\nd2\td5\n", "utf-8")
    return tmp_path


def evaluated(*arguments):
    code, out, err = run("evaluate", *arguments, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


def test_against_a_truth(folder):
    said = evaluated("out", "--truth", "truth.tsv")
    assert "sample" not in said
    truth = said["truth"]
    assert (truth["true_pairs"], truth["found_pairs"], truth["right_pairs"]) == (3, 4, 2)
    assert truth["recall"] == pytest.approx(2 / 3) and truth["precision"] == 0.5
    assert truth["repeated_pairs"] == 1 and truth["ids_checked"]
    # true clusters {d0, d1, d4}, {d2, d5}; found {d0, d1, d4}, {d5, d6}: 3 of 4 pairs each, of 21
    assert truth["clusters"]["f1"] == truth["clusters"]["recall"] == 0.75
    assert truth["clusters"]["adjusted_rand"] == pytest.approx((3 - 16 / 21) / (4 - 16 / 21))
    code, out, err = run("evaluate", "out", "in.jsonl", "--truth", "truth.tsv")
    assert (code, err) == (0, "")
    assert "0.6667 recall: 2 of 3 true pairs found" in out and "0.5000 precision: 2 of 4" in out
    assert "0.7500 F1" in out and "adjusted Rand" in out and "1 repeated" in out and "sampled" not in out


def test_against_exact_search(folder):
    for arguments in (["out"], ["out", "--sample", 1000, "in.jsonl"], ["out", "in.jsonl", "--threads", 1]):
        sample = evaluated(*arguments)["sample"]
        assert (sample["documents"], sample["sampled"], sample["kept"], sample["missed"]) == (7, 7, 4, 0)
        assert sample["true_pairs"] == sample["found_pairs"] == 4 and sample["recall"] == sample["settled"] == 1
        assert sample["interval"] == [1, 1]  # all were compared
    some = evaluated("out", "--sample", 5)["sample"]
    assert some["sampled"] == 5 and some["recall"] == 1 and 0 <= some["interval"][0] < 1 == some["interval"][1]
    code, out, err = run("evaluate", "out")
    assert (code, err) == (0, "")
    assert "7 of 7 documents compared with all (seed 0)" in out
    assert "1.0000 recall: 4 of 4 true pairs found (95 % confidence: 1.0000 to 1.0000)" in out
    assert "0 of 4 sampled documents that stay are similar to another that stays" in out


def test_what_a_run_missed(folder):
    pairs = pq.read_table("out/pairs.parquet").to_pylist()
    pq.write_table(pa.Table.from_pylist([pair for pair in pairs if pair["a"] != "d5"]), "out/pairs.parquet")
    clusters = pq.read_table("out/clusters.parquet").to_pylist()
    pq.write_table(pa.Table.from_pylist([row for row in clusters if row["cluster"] != 1]), "out/clusters.parquet")
    sample = evaluated("out")["sample"]
    assert sample["recall"] == sample["settled"] == 0.75 and sample["unsettled_pairs"] == 1
    assert sample["kept"] == 5 and sample["missed"] == 2


def test_both_at_once_and_seeds(folder):
    said = evaluated("out", "in.jsonl", "--truth", "truth.tsv", "--sample", 2, "--seed", 7)
    assert said["truth"]["true_pairs"] == 3 and said["sample"]["sampled"] == 2 and said["sample"]["seed"] == 7
    seen = {evaluated("out", "--sample", 1, "--seed", seed)["sample"]["true_pairs"] for seed in range(8)}
    assert seen >= {0, 2}
    alone = next(
        seed for seed in range(8) if not evaluated("out", "--sample", 1, "--seed", seed)["sample"]["true_pairs"]
    )
    assert "unknown recall" in run("evaluate", "out", "--sample", 1, "--seed", alone)[1]


def test_quiet_prints_nothing(folder):
    before = names(folder)
    assert run("evaluate", "out", "--truth", "truth.tsv", "--sample", 3, "--quiet") == (0, "", "")
    assert names(folder) == before


def test_a_join(folder):
    assert run("join", "in.jsonl", "-o", "joined", "--threshold", "0.9", "--quiet")[0] == 0
    truth = evaluated("joined", "--truth", "truth.tsv")["truth"]
    assert truth["recall"] == pytest.approx(1 / 3) and not truth["ids_checked"] and "clusters" not in truth
    assert "Note: name the documents" in run("evaluate", "joined", "--truth", "truth.tsv")[1]
    assert evaluated("joined", "in.jsonl", "--truth", "truth.tsv")["truth"]["ids_checked"]
    report = json.loads(Path("joined/report.json").read_text("utf-8"))
    if "threshold" in report.get("parameters", {}):
        sample = evaluated("joined", "in.jsonl")["sample"]
    else:
        code, _, err = run("evaluate", "joined", "in.jsonl")
        assert code == 2 and "give the threshold" in err
        sample = evaluated("joined", "in.jsonl", "--threshold", "0.9")["sample"]
        assert evaluated("joined", "in.jsonl", "--threshold", "0.8")["sample"]["recall"] == 0.5
        # seven of eight shingles of three words, eight of nine of one
        assert evaluated("joined", "in.jsonl", "--threshold", "0.88")["sample"]["recall"] == 1
        assert evaluated("joined", "in.jsonl", "--threshold", "0.88", "--width", "1")["sample"]["recall"] == 0.5
    assert sample["recall"] == 1 and sample["true_pairs"] == 2 and "kept" not in sample


def test_a_join_of_two(folder):
    """The same ids are on both sides: d0 here is not d0 there, and pairs have an order."""
    assert run("join", "in.jsonl", "--with", "in.jsonl", "-o", "two", "--threshold", "0.9", "--quiet")[0] == 0
    # (d0, d0), (d0, d1), (d1, d0), (d1, d1), and so on
    Path("two.tsv").write_text("d0\td0\nd0\td1\nd4\td4\nd2\td5\n", "utf-8")
    truth = evaluated("two", "--truth", "two.tsv")["truth"]
    assert (truth["true_pairs"], truth["right_pairs"], truth["self_pairs"]) == (4, 3, 0)
    assert truth["found_pairs"] == 4 + 1 + 1 + 4  # d0, d1; d2; d4; d5, d6; d3 has no words
    assert "Note: name the documents" not in run("evaluate", "two", "--truth", "two.tsv")[1]
    for more in ([], ["in.jsonl"], ["in.jsonl", "--truth", "two.tsv"]):
        code, out, err = run("evaluate", "two", *more)
        assert (code, out) == (2, "") and "two collections" in err


def test_integer_ids(folder):
    write_documents("numbers.jsonl", range(7))
    assert run("dedup", "numbers.jsonl", "-o", "numbers", "--quiet")[0] == 0
    Path("numbers.csv").write_text("0,1\n04,0\n", "utf-8")
    truth = evaluated("numbers", "--truth", "numbers.csv")["truth"]
    assert truth["recall"] == 1 and truth["precision"] == 0.5
    code, _, err = run("evaluate", "numbers", "--truth", "truth.tsv")
    assert code == 1 and "the ids of the result are integers" in err and "'d1'" in err


def test_columns_and_rejected_records(folder):
    lines = [json.dumps({"key": i, "body": text}) for i, text in enumerate(TEXTS)]
    Path("other.jsonl").write_text("\n".join([*lines, "{"]), "utf-8")
    read = ["--text-column", "body", "--id-column", "key"]
    assert run("dedup", "other.jsonl", *read, "-o", "other", "--on-error", "skip", "--quiet")[0] == 0
    for options in (read, []):  # the report says what was read
        sample = evaluated("other", *options)["sample"]
        assert (sample["documents"], sample["recall"]) == (7, 1)
    code, _, err = run("evaluate", "other", "--text-column", "text")
    assert code == 2 and "--text-column" in err
    code, _, err = run("evaluate", "other", "--html-content", "all")
    assert code == 0, err  # these texts are the same as HTML


def test_pages_are_extracted_as_in_the_run(folder):
    pages = [f"<nav>menu {number}</nav><p>{FOX}</p>" for number in range(3)]
    Path("pages.jsonl").write_text("".join(json.dumps({"page": page}) + "\n" for page in pages), "utf-8")
    assert run("dedup", "pages.jsonl", "--html", "--text-column", "page", "-o", "pages", "--quiet")[0] == 0
    sample = evaluated("pages")["sample"]
    assert sample["true_pairs"] == sample["found_pairs"] == 3 and not sample["wrong_pairs"]
    code, _, err = run("evaluate", "pages", "--html-content", "all")
    assert code == 1 and "the run compared 21 features" in err and "--html" in err
    report = json.loads(Path("pages/report.json").read_text("utf-8"))["parameters"]
    assert (report["text_column"], report["id_column"], report["html"]) == ("page", None, "main")


def test_nothing_similar_in_all_documents(folder):
    Path("alone.jsonl").write_text('{"text": "one text alone"}\n', "utf-8")
    assert run("dedup", "alone.jsonl", "-o", "alone", "--quiet")[0] == 0
    assert "larger sample" not in run("evaluate", "alone")[1]


def test_a_reference_is_refused(folder):
    """Also by a truth, which cannot tell the ids of the two sides apart."""
    assert run("dedup", "in.jsonl", "--against", "in.jsonl", "-o", "held", "--quiet")[0] == 0
    for more in ([], ["--truth", "truth.tsv"]):
        code, out, err = run("evaluate", "held", *more)
        assert (code, out) == (2, "") and "held against a reference" in err and "sosie join NEW --with OLD" in err


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        ("", 2, "RESULT"),
        ("nothing", 2, "nothing: no such directory"),
        ("in.jsonl", 2, "no such directory"),
        ("empty", 1, "has no report.json"),
        ("foreign", 1, "no report of"),
        ("broken", 1, "cannot be read"),
        ("whole --truth nothing.tsv", 2, "nothing.tsv: no such file"),
        ("whole --truth in.txt", 2, "unknown kind of file"),
        ("whole --truth one.tsv", 1, "1 column"),
        ("whole --truth void.tsv", 1, "no pairs"),
        ("whole --truth unknown.tsv", 1, "'nobody' (1 in all)"),
        ("whole --sample 0", 2, "sample"),
        ("whole --seed -1", 2, "seed"),
        ("whole nothing.jsonl", 2, "nothing.jsonl: no such file"),
        ("whole half.jsonl", 1, "the run had 7 documents, these inputs have 3"),
        ("whole --threshold 0.7", 2, "leave it out"),
        ("whole --threshold high", 2, "threshold must be"),
        ("whole --width 2", 2, "leave it out"),
        ("joined", 2, "INPUT"),
        ("no-clusters", 1, "clusters.parquet: is missing"),
        ("no-pairs", 1, "pairs.parquet: is missing"),
        ("bad-pairs", 1, "pairs.parquet: cannot be read"),
        ("odd-pairs", 1, "pairs.parquet: has the columns"),
    ],
)
def test_what_cannot_be_evaluated(folder, arguments, expected, message):
    for name in ("whole", "no-clusters", "no-pairs", "bad-pairs", "odd-pairs"):
        assert run("dedup", "in.jsonl", "-o", name, "--quiet")[0] == 0
    Path("no-clusters/clusters.parquet").unlink()
    Path("no-pairs/pairs.parquet").unlink()
    Path("bad-pairs/pairs.parquet").write_bytes(b"PAR1")
    pq.write_table(pa.table({"a": ["x"]}), "odd-pairs/pairs.parquet")
    assert run("join", "in.jsonl", "-o", "joined", "--quiet")[0] == 0
    for name, content in (("empty", None), ("foreign", '["sosie"]'), ("broken", "{")):
        Path(name).mkdir()
        if content is not None:
            Path(name, "report.json").write_text(content, "utf-8")
    for name, content in (("in.txt", "x"), ("one.tsv", "d0\n"), ("void.tsv", ""), ("unknown.tsv", "d0\tnobody\n")):
        Path(name).write_text(content, "utf-8")
    Path("half.jsonl").write_text("".join(Path("in.jsonl").read_text("utf-8").splitlines(True)[:3]), "utf-8")
    code, out, err = run("evaluate", *arguments.split())
    assert (code, out) == (expected, "") and message in err, err


def test_inputs_that_moved_away(folder):
    Path("in.jsonl").rename("moved.jsonl")
    code, _, err = run("evaluate", "out")
    assert code == 2 and "sosie evaluate out --sample 1000 INPUT..." in err
    assert evaluated("out", "moved.jsonl")["sample"]["recall"] == 1
    assert not evaluated("out", "--truth", "truth.tsv")["truth"]["ids_checked"]


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """An index of slices, of 300 texts that share words."""
    monkeypatch.chdir(tmp_path)
    words = np.random.default_rng(0).integers(0, 60, (300, 12))
    lines = [json.dumps({"id": f"d{i}", "text": " ".join(f"w{w}" for w in row)}) for i, row in enumerate(words)]
    Path("docs.jsonl").write_text("\n".join(lines), "utf-8")
    Path("asked.jsonl").write_text("\n".join(lines[:50]), "utf-8")
    build = ("index", "build", "docs.jsonl", "-o", "slices", "--kind", "slices", "--slice-width", 8, "--width", 1)
    assert run(*build, "--bits", 128, "--quiet")[0] == 0
    return tmp_path


def test_an_index(index):
    shallow = evaluated("index", "slices", "--sample", 40, "--seed", 3, "--breadth", 1, "--candidates", 12)
    assert (shallow["kind"], shallow["rows"], shallow["queries"], shallow["k"]) == ("slices", 300, 40, 10)
    assert shallow["sample"] == {"seed": 3} and shallow["effort"]["breadth"] == 1
    assert 0 < shallow["recall"] < shallow["ratio"] < 1 and len(shallow["ratios"]) == 10
    assert shallow["ratios"][-1] == shallow["ratio"]
    deep = evaluated("index", "slices", "--sample", 40, "--seed", 3, "--breadth", 8)
    assert deep["recall"] == deep["ratio"] == 1
    code, out, err = run("evaluate", "index", "slices", "--sample", 40, "--seed", 3, "--breadth", 1, "--candidates", 12)
    assert (code, err) == (0, "")
    assert "40 rows looked up, none its own answer (seed 3): 300 rows of 128 bits, slices: breadth 1," in out
    assert f"{shallow['recall']:.4f} recall@10" in out and f"{shallow['ratio']:.4f} CDR@10, which is HDR" in out
    assert "CDR@1\n" in out and "ms exhaustively" in out


def test_beyond_j_bits_no_new_rows_are_taken_up(index):
    """ISSL 6.2, on the command line: with j below i less is found, and the lists that are read are the same."""
    options = ("--sample", 100, "--candidates", 10, "--breadth", 3)
    every, known = (evaluated("index", "slices", *options, *more) for more in ([], ["--j", 0]))
    assert known["effort"]["j"] == 0 and every["effort"]["j"] is None
    assert known["counters"]["lists"] == every["counters"]["lists"]
    assert known["ratio"] < every["ratio"] and known["recall"] < every["recall"]
    found = [
        json.loads(run("search", "slices", "asked.jsonl", "--breadth", 3, "--json", *more)[1])["counters"]
        for more in ([], ["--j", 0])
    ]
    assert found[1]["candidates"] < found[0]["candidates"] and found[1]["lists"] == found[0]["lists"]
    code, _, err = run("search", "slices", "asked.jsonl", "--breadth", 2, "--j", 3)
    assert code == 2 and "j must be between 0 and the breadth of 2" in err
    assert run("index", "build", "docs.jsonl", "-o", "flat", "--bits", 64, "--quiet")[0] == 0
    code, _, err = run("search", "flat", "asked.jsonl", "--j", 1)
    assert code == 2 and "--j is for an index of the kind slices, not flat" in err


def test_an_index_asked_by_others(index):
    assert evaluated("index", "slices", "asked.jsonl", "--breadth", 8)["queries"] == 50
    ratios = [evaluated("index", "slices", "asked.jsonl", *more)["ratios"][0] for more in ([], ["--exclude-self"])]
    assert ratios[0] == 1  # each finds itself first
    assert run("sign", "asked.jsonl", "-o", "signed", "--bits", 128, "--width", 1, "--quiet")[0] == 0
    assert evaluated("index", "slices", "signed")["ratios"][0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["slices", "asked.jsonl", "--seed", 1], "--seed draws rows of the index"),
        (["slices", "--exclude-self"], "--exclude-self is for a QUERY"),
        (["slices", "--sample", 0], "a sample has at least 1 row"),
        (["slices", "-k", 0], "k must be at least 1"),
        (["slices", "--probes", 3], "--probes is for an index of the kind probes"),
        (["words"], "of the kind words has no distances in bits"),
    ],
)
def test_an_index_that_cannot_be_evaluated_so(index, arguments, said):
    assert run("index", "build", "docs.jsonl", "-o", "words", "--quiet")[0] == 0
    code, _, err = run("evaluate", "index", *arguments)
    assert code == 2 and said in err
