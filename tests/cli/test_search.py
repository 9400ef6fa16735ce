"""`sosie search`: known answers end to end, in every form, and what is refused."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, files_in, refused, run, write_jsonl
from tests.oracle_hamming import near, nearest
from tests.sentences import GERMAN

import sosie

SENTENCES = [line.format(7) for line in GERMAN.strip().splitlines()]
TEXTS = {f"d{i}": " ".join(SENTENCES[i : i + 4]) for i in range(20)}
QUERIES = {**{f"d{i}": TEXTS[f"d{i}"] for i in (3, 4)}, "new": " ".join([*SENTENCES[5:8], "Ganz anders"])}
LONG = " ".join(SENTENCES)
MAIN = [sys.executable, "-c", "from sosie.cli import main; main()"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with documents, queries and indexes of them."""
    folder = tmp_path_factory.mktemp("made")
    before = os.getcwd()
    os.chdir(folder)
    try:
        write_jsonl("in.jsonl", TEXTS)
        write_jsonl("queries.jsonl", {**QUERIES, "empty": "..."})
        write_jsonl("long.jsonl", {"long": LONG, "short": TEXTS["d9"]})
        done("index", "build", "in.jsonl", "-o", "plain", "--bits", 128)
        done("index", "build", "in.jsonl", "-o", "kept", "--bits", 128, "--keep-texts")
        done("index", "build", "in.jsonl", "-o", "keys", "--method", "minhash", "--keep-texts")
        cut = ("--passages", "--words", 12, "--overlap", 6, "--keep-texts")
        done("index", "build", "long.jsonl", "-o", "cut", "--for", "duplicates", *cut)
        done("index", "build", "long.jsonl", "-o", "found", "--for", "passages", *cut[1:])
        done("index", "build", "in.jsonl", "-o", "words")
        done("sign", "queries.jsonl", "-o", "signed", "--bits", 128)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch) -> Path:
    """A folder of its own for every test, with links to what was made."""
    for path in made.iterdir():
        os.symlink(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expected(how, limit) -> list[tuple[str, str, int, int]]:
    """The matches of the queries by comparing everything: query, id, rank, distance."""
    signer, ids = sosie.Simhash(bits=128).fit(), list(TEXTS)
    rows, queries = signer.sign(list(TEXTS.values())), signer.sign(list(QUERIES.values()))
    found = how(queries, rows, limit, range(len(ids)))
    return [
        (query, ids[row], rank, distance)
        for query, matches in zip(QUERIES, found, strict=True)
        for rank, (distance, row) in enumerate(matches, 1)
    ]


def listed(report) -> list[tuple[str, str, int, int]]:
    return [tuple(row[name] for name in ("query", "id", "rank", "distance")) for row in report["found"]]


# What is found


@pytest.mark.parametrize("asked", ["queries.jsonl", "signed"])
def test_the_nearest_are_those_of_comparing_everything(folder, asked):
    report = done("search", "plain", asked, "-k", 4)
    assert listed(report) == expected(nearest, 4)
    assert report["recall"] == 1 and report["matches"] == 12
    assert report["without_features"] == (1 if asked == "queries.jsonl" else 0)
    assert listed(done("search", "plain", asked)) == expected(nearest, 10)


def test_all_within_a_radius(folder):
    report = done("search", "plain", "queries.jsonl", "--radius", 40)
    assert listed(report) == expected(near, 40) and len(report["found"]) > len(QUERIES)
    first = done("search", "plain", "queries.jsonl", "--radius", 40, "--first")
    for query in QUERIES:
        all_of = [int(name[1:]) for asked, name, _, _ in expected(near, 40) if asked == query]
        assert [row["id"] for row in first["found"] if row["query"] == query] == [f"d{min(all_of)}"][: len(all_of)]


def test_the_query_itself_is_left_out(folder):
    report = done("search", "plain", "queries.jsonl", "-k", 2, "--exclude-self")
    others = [(query, name, distance) for query, name, _, distance in expected(nearest, 9) if query != name]
    wanted = [row for asked in QUERIES for row in [each for each in others if each[0] == asked][:2]]
    assert [(row["query"], row["id"], row["distance"]) for row in report["found"]] == wanted
    assert [row["rank"] for row in report["found"]] == [1, 2] * 3


def test_texts_are_numbered(folder):
    report = done("search", "plain", "--text", TEXTS["d7"], "--text", TEXTS["d2"].upper() + "!", "-k", 1)
    assert listed(report) == [("text:1", "d7", 1, 0), ("text:2", "d2", 1, 0)]
    assert [row["estimated_similarity"] for row in report["found"]] == [1.0, 1.0]


def test_keys_are_candidates(folder):
    report = done("search", "keys", "queries.jsonl", "-k", 3)
    signer = sosie.Minhash().fit()
    index = sosie.KeyIndex(signer.keys(list(TEXTS.values()), ids=list(TEXTS)))
    found = index.candidates(signer.keys(list(QUERIES.values())))
    wanted = [
        (query, f"d{row}", rank, distance)
        for number, query in enumerate(QUERIES)
        for rank, (row, distance) in enumerate(zip(*(part.tolist()[:3] for part in found.of(number)), strict=True), 1)
    ]
    assert listed(report) == wanted and report["recall"] is None
    others = done("search", "keys", "queries.jsonl", "-k", 3, "--exclude-self")["found"]
    assert others and all(row["query"] != row["id"] for row in others)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(folder, threads):
    for index in ("kept", "keys", "cut"):
        asked = ["search", index, "in.jsonl", "-k", 5, "--passages"]
        assert done(*asked, "--threads", threads)["found"] == done(*asked)["found"]


def test_what_shares_some_words_is_found_and_what_shares_none_is_not(folder):
    asked = " ".join(TEXTS["d7"].split()[3:9])
    report = done("search", "words", "--text", asked, "--text", "qwertz asdfgh", "-k", 20)
    found = report["found"]
    assert list(found[0]) == ["query", "id", "rank", "similarity"] and report["recall"] == 1
    assert {row["query"] for row in found} == {"text:1"}, "nothing has the words of the other"
    holding = [name for name, text in TEXTS.items() if asked in text]
    assert {row["id"] for row in found[: len(holding)]} == set(holding)
    assert all(0 < row["similarity"] <= 1 for row in found)
    same = done("search", "words", "--text", TEXTS["d3"].upper(), "-k", 1)["found"][0]
    assert (same["id"], same["similarity"]) == ("d3", 1.0)
    _, out, _ = run("search", "words", "--text", asked, "-k", "1")
    assert out.splitlines()[0].split() == ["query", "rank", "id", "similarity"]


def test_an_estimate_is_shown_with_its_margin(folder):
    row = done("search", "plain", "--text", TEXTS["d7"], "-k", 2)["found"][1]
    assert 0 < row["margin"] < 0.5 and row["estimated_similarity"] < 1
    _, out, _ = run("search", "plain", "--text", TEXTS["d7"], "-k", "2")
    assert f"{row['estimated_similarity']:.2f} ± {row['margin']:.2f}" in out.splitlines()[2]


def test_a_part_of_a_document_is_found_by_its_words(folder):
    asked = sosie.passages([LONG], words=12, overlap=6).to_pylist()[5]
    (found,) = done("search", "found", "--text", asked["text"], "-k", 1, "--passages")["found"]
    assert (found["id"], found["document"], found["similarity"]) == ("long#5", "long", 1.0)
    assert (found["start"], found["end"], found["passage"]) == (asked["start"], asked["end"], asked["text"])


def test_the_first_match_is_enough(folder):
    """Tables are read up to the first match: a query that is a row is met in the first one."""
    write_jsonl("many.jsonl", {f"n{i}": f"{i} {i * i} {i + 7} " * 3 for i in range(1100)})
    done("index", "build", "many.jsonl", "-o", "blocks", "--kind", "blocks", "--radius", 3)
    asked = ["search", "blocks", "many.jsonl", "--radius", 3]
    every, first = done(*asked), done(*asked, "--first")
    assert every["counters"]["probes"] == 4 * 1100 and first["counters"]["probes"] == 1100
    assert first["matches"] == 1100


# Passages


def test_the_passage_that_is_most_like_the_query_is_shown(folder):
    report = done("search", "kept", "--text", SENTENCES[6], "-k", 20, "--passages", "--words", 12)
    holding = [row for row in report["found"] if SENTENCES[6] in TEXTS[row["id"]]]
    assert len(holding) == 4 and len(report["found"]) == 20
    for row in report["found"]:
        assert TEXTS[row["id"]][row["start"] : row["end"]] == row["passage"] and len(row["passage"].split()) == 12
    for row in holding:
        (span,) = row["shared"]
        assert row["passage"][slice(*span)] in SENTENCES[6] and len(row["passage"][slice(*span)].split()) >= 6


def test_texts_can_come_from_the_documents_instead(folder):
    asked = ["queries.jsonl", "-k", 3, "--passages", "--words", 9]
    kept = done("search", "kept", *asked)["found"]
    assert done("search", "plain", *asked, "--documents", "in.jsonl")["found"] == kept
    assert {tuple(row) for row in kept} == {
        ("query", "id", "rank", "distance", "estimated_similarity", "margin", "passage", "start", "end", "shared")
    }
    code, said = refused("search", "plain", *asked)
    assert code == 2 and "--keep-texts" in said and "--documents" in said
    write_jsonl("some.jsonl", {"d3": TEXTS["d3"]})
    code, said = refused("search", "plain", *asked, "--documents", "some.jsonl")
    assert code == 1 and "not there" in said


def test_an_index_of_passages_finds_parts_of_documents(folder):
    table = sosie.passages([LONG], words=12, overlap=6).to_pylist()
    asked = table[5]["text"]
    report = done("search", "cut", "--text", asked, "-k", 1, "--passages")
    (found,) = report["found"]
    assert (found["query"], found["id"], found["document"], found["distance"]) == ("text:1#0", "long#5", "long", 0)
    assert (found["passage"], found["start"], found["end"]) == (asked, table[5]["start"], table[5]["end"])
    assert found["shared"] == [[0, len(asked)]]
    same = done("search", "cut", "--text", asked, "-k", 1, "--passages", "--documents", "long.jsonl")
    assert same["found"] == report["found"]
    bare = done("search", "cut", "--text", asked, "-k", 1)["found"][0]
    assert list(bare) == [
        "query",
        "id",
        "rank",
        "distance",
        "estimated_similarity",
        "margin",
        "document",
        "start",
        "end",
    ]


def test_passages_of_the_query_itself_are_left_out(folder):
    for options in (["-k", 3], ["--radius", 30], ["--radius", 30, "--first"]):
        report = done("search", "cut", "long.jsonl", *options, "--exclude-self")
        assert report["found"] and all(row["query"].split("#")[0] != row["document"] for row in report["found"])
        every = done("search", "cut", "long.jsonl", "-k", 99)["found"]
        for query in {row["query"] for row in report["found"]}:
            best = min(row["distance"] for row in every if row["query"] == query and query[:4] != row["id"][:4])
            assert options[-1] == "--first" or best == min(
                r["distance"] for r in report["found"] if r["query"] == query
            )


def test_there_are_k_matches_besides_the_passages_of_the_query_itself(folder):
    assert all(len(sosie.passages([text], 12, 6)) >= 3 for text in (LONG, TEXTS["d9"]))
    found = done("search", "cut", "long.jsonl", "-k", 3, "--exclude-self")["found"]
    for query in {row["query"] for row in done("search", "cut", "long.jsonl", "-k", 1)["found"]}:
        assert [row["rank"] for row in found if row["query"] == query] == [1, 2, 3]


def test_passages_go_with_their_document(folder, tmp_path):
    done("index", "build", "long.jsonl", "-o", "mine", "--passages", "--words", 12, "--overlap", 6)
    rows = done("index", "info", "mine")["rows"]
    done("index", "add", "mine", "in.jsonl")
    code, said = refused("index", "remove", "mine", "long#0")
    assert code == 1 and "no document has the id 'long#0'" in said
    removed = done("index", "remove", "mine", "short", "d3")["removed"]
    assert removed == sum(len(sosie.passages([TEXTS[name]], 12, 6)) for name in ("d9", "d3")) < rows
    left = {row["document"] for row in done("search", "mine", "--text", LONG, "-k", 200)["found"]}
    assert left == {"long", *TEXTS} - {"d3"}


def test_marks_on_paper_and_on_a_terminal(folder):
    asked = ["search", "kept", "--text", SENTENCES[6], "-k", "1", "--passages", "--words", "30"]
    code, out, err = run(*asked)
    assert code == 0 and not err
    head, match, passage, summary = out.splitlines()
    assert head.split() == ["query", "rank", "id", "distance", "similarity", "(estimated)"]
    assert match.startswith("text:1     1  d") and summary == "1 match of 1 query; recall: exact"
    assert f"**{SENTENCES[6]}**" in passage
    ours, theirs = pty.openpty()
    subprocess.run([*MAIN, *asked], stdout=theirs, stderr=subprocess.PIPE, check=True, timeout=300)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert f"\x1b[1m{SENTENCES[6]}\x1b[22m".encode() in shown and b"**" not in shown


def test_a_terminal_is_not_told_what_a_document_says(folder):
    write_jsonl("evil.jsonl", {"x\x1b[2J\ny": "Hallo \x1b]0;title\x07 Welt und noch ein Wort\r\n mehr"})
    done("index", "build", "evil.jsonl", "-o", "evil", "--keep-texts")
    code, out, _ = run("search", "evil", "evil.jsonl", "--passages")
    assert code == 0 and len(out.splitlines()) == 4
    assert all(line.isprintable() for line in out.splitlines())


# What is written


def test_every_format_says_the_same(folder):
    asked = ["search", "kept", "queries.jsonl", "-k", 3, "--passages", "--words", 12]
    found = done(*asked)["found"]
    assert run(*asked, "-o", "found.jsonl")[0] == run(*asked, "-o", "found.parquet")[0] == 0
    assert run(*asked, "-o", "lines", "--format", "jsonl", "--quiet") == (0, "", "")
    assert run(*asked, "-o", "found.txt")[0] == 0
    lines = Path("found.jsonl").read_text("utf-8")
    assert [json.loads(line) for line in lines.splitlines()] == found == pq.read_table("found.parquet").to_pylist()
    assert Path("lines").read_text("utf-8") == lines
    code, out, err = run(*asked, "--format", "jsonl")
    assert (
        (code, out) == (0, lines) and "9 matches of 4 queries; recall: exact" in err and "1 query without words" in err
    )
    printed = run(*asked)[1]
    assert printed.startswith(Path("found.txt").read_text("utf-8"))
    report = done(*asked, "-o", "again.jsonl")
    assert report["matches"] == 9 and "found" not in report


def test_a_file_appears_whole_or_not_at_all(folder, monkeypatch):
    Path("found.jsonl").write_text("mine")
    code, said = refused("search", "plain", "queries.jsonl", "-o", "found.jsonl")
    assert code == 2 and "--overwrite" in said and Path("found.jsonl").read_text() == "mine"
    with monkeypatch.context() as patched:
        patched.setattr(
            "sosie.cli.found._json_lines", lambda table: (_ for _ in ()).throw(OSError(28, "No space left"))
        )
        code, said = refused("search", "plain", "queries.jsonl", "-o", "found.jsonl", "--overwrite")
    assert code == 1 and "No space left" in said and Path("found.jsonl").read_text() == "mine"
    assert run("search", "plain", "queries.jsonl", "-o", "found.jsonl", "--overwrite")[0] == 0
    assert len(Path("found.jsonl").read_text("utf-8").splitlines()) == 30
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("output", ["mine.jsonl", "texts/a.txt", "plain/found.jsonl", "signed/found.jsonl"])
def test_what_a_search_reads_is_never_replaced(folder, output):
    write_jsonl("mine.jsonl", QUERIES)
    Path("texts").mkdir()
    for name in "ab":
        Path(f"texts/{name}.txt").write_text("ein Text")
    asked = {"mine.jsonl": "mine.jsonl", "texts/a.txt": "texts"}.get(output, "signed")
    before = Path(output).read_bytes() if Path(output).exists() else None
    code, said = refused("search", "plain", asked, "-o", output, "--overwrite")
    assert code == 2 and "is an input of this search" in said
    assert (Path(output).read_bytes() if Path(output).exists() else None) == before


def test_queries_without_words_are_reported(folder):
    code, out, err = run("search", "plain", "--text", "?!")
    assert code == 0 and not err and "0 matches of 1 query" in out and "1 query without words" in out


def test_searching_changes_nothing(folder, made):
    before = files_in(made)
    done("search", "kept", "queries.jsonl", "--passages")
    assert files_in(made) == before


# What is refused


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["plain"], 2, "say what to look for"),
        (["plain", "queries.jsonl", "--text", "x"], 2, "say what to look for"),
        (["plain", "--text", " "], 2, "--text is empty"),
        (["plain", "--text", "x", "-k", 0], 2, "k must be at least 1"),
        (["plain", "--text", "x", "--radius", -1], 2, "radius must be between 0 and 128"),
        (["plain", "--text", "x", "--radius", 129], 2, "radius must be between 0 and 128"),
        (["plain", "--text", "x", "--radius", 3, "-k", 3], 2, "one of the two"),
        (["plain", "--text", "x", "--first"], 2, "-k 1"),
        (["plain", "--text", "x", "--breadth", 3], 2, "--breadth is for an index of the kind slices, not flat"),
        (["plain", "--text", "x", "--recall", 2], 2, "recall is above 0 and at most 1"),
        (["keys", "--text", "x", "--recall", 0.9], 2, "is not known"),
        (["plain", "--text", "x", "--words", 3], 2, "--words is for --passages"),
        (["plain", "--text", "x", "--documents", "in.jsonl"], 2, "--documents is for --passages"),
        (["plain", "--text", "x", "--overwrite"], 2, "--overwrite is for --output"),
        (["plain", "--text", "x", "--format", "parquet"], 2, "-o"),
        (["plain", "--text", "x", "-o", "nowhere/found.jsonl"], 2, "nowhere"),
        (["plain", "signed", "--passages", "--documents", "in.jsonl"], 2, "not signatures"),
        (["plain", "signed", "--text-column", "x"], 2, "--text-column"),
        (["cut", "--text", "x", "--passages", "--words", 3], 2, "shown as they are"),
        (["kept", "--text", "x", "--passages", "--words", 3, "--overlap", 3], 2, "share fewer"),
        (["keys", "--text", "x", "--radius", 3], 2, "keys have no distance"),
        (["keys", "signed"], 1, "keys: the index holds keys, and these are signatures"),
        (["cut", "signed"], 1, "cut: signatures of 128 bits do not fit an index of 64 bits"),
        (["signed", "--text", "x"], 1, "'signatures', not 'index'"),
        (["nowhere", "--text", "x"], 1, "nowhere"),
        (["plain", "missing.jsonl"], 2, "missing.jsonl"),
        (["plain", "queries.jsonl", "--id-column", "name"], 2, "name"),
    ],
)
def test_what_makes_no_sense_is_named(folder, arguments, code, named):
    found, said = refused("search", *arguments)
    assert found == code and named in said
    assert "found.jsonl" not in os.listdir()


def test_queries_of_another_spec_are_named(folder):
    done("sign", "queries.jsonl", "-o", "other", "--bits", 128, "--seed", 1)
    code, said = refused("search", "plain", "other")
    assert code == 1 and said.startswith("Error: plain: signatures of spec ") and "sign both the same way" in said


def test_two_queries_with_one_id_are_named(folder):
    Path("twice.jsonl").write_text('{"id": "a", "text": "x y"}\n{"id": "a", "text": "z"}\n')
    code, said = refused("search", "plain", "twice.jsonl")
    assert code == 1 and "duplicate id 'a'" in said


def test_options_come_from_a_file_too(folder):
    Path("sosie.toml").write_text('nearest = 2\njson = true\ntext = "Ein Text"\n')
    code, out, _ = run("search", "plain", "--config", "sosie.toml")
    assert code == 0 and json.loads(out)["matches"] == 2
