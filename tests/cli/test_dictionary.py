"""`sosie dictionary`: what is printed, what is written, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.running import done, files_in, refused, run
from tests.crosslingual.toy import TOY, toy_text

import sosie


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in toy_text(120)), "utf-8")
    Path("words.tsv").write_text("source\ttarget\tp\nHaus\thouse\t3\nHaus\thome\t1\nguten Tag\thello\t1\n", "utf-8")
    return tmp_path


def test_a_dictionary_is_trained_looked_at_and_written(folder):
    code, out, err = run("dictionary", "train", "pairs.tsv", "-o", "made", "--threads", 1)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "120 segments of 120 pairs of texts used" and lines[-1] == "Written to made"
    made = sosie.load_dictionary("made")
    assert made.digest in lines[1] and f"{len(made.forward.words)} translations of 15 source words" in lines[1]

    _, out, _ = run("dictionary", "show", "made", TOY["house"].upper(), TOY["river"])
    shown = out.splitlines()
    assert shown[0] == TOY["house"].upper() and shown[1].split()[1] == "house" and shown[1].split()[0].endswith("%")
    assert TOY["river"] in shown
    (said,) = done("dictionary", "show", "made", "house", "--backward")
    assert said["translations"][0] == {"word": TOY["house"], "probability": made.translations("house", True)[0][1]}

    _, out, _ = run("dictionary", "info", "made")
    assert "source words: 15" in out and "fast_align, iterations: its own" in out and "segments: 120" in out
    assert done("dictionary", "info", "made")["digest"] == made.digest

    _, table, _ = run("dictionary", "export", "made")
    assert run("dictionary", "export", "made", "-o", "made.tsv")[1].endswith("Written to made.tsv\n")
    assert Path("made.tsv").read_text("utf-8") == table and len(table.splitlines()[1].split("\t")) == 4
    assert done("dictionary", "import", "made.tsv", "-o", "again")["digest"] == made.digest


def test_options_reach_the_training(folder):
    options = ("--aligner", "ibm1", "--iterations", 2, "--most", 1, "--mass", 0.5, "--swap")
    report = done("dictionary", "train", "pairs.tsv", "-o", "made", *options)
    spec = {name: report["spec"][name] for name in ("aligner", "iterations", "most", "mass")}
    assert spec == {"aligner": "ibm1", "iterations": 2, "most": 1, "mass": 0.5}
    made = sosie.load_dictionary("made")
    assert made.forward.sizes.max() == 1 and made.translations("house") and not made.translations(TOY["house"])
    _, out, _ = run("dictionary", "info", "made")
    assert "ibm1, iterations: 2" in out and "at most 1 translations, 50%" in out


def test_columns_and_languages_reach_the_reader(folder):
    pairs = toy_text(20)
    records = [json.dumps({"de": a, "en": b}) for a, b in pairs]
    Path("pairs.jsonl").write_text("\n".join(records))
    named = ("--source-column", "de", "--target-column", "en")
    assert done("dictionary", "train", "pairs.jsonl", "-o", "a", *named)["segments"] == 20
    for side, name in enumerate(("x", "y")):
        Path(f"{name}.jsonl").write_text("\n".join(json.dumps({"n": i, "t": p[side]}) for i, p in enumerate(pairs)))
    named = ("--id-column", "n", "--text-column", "t")
    assert done("dictionary", "train", "x.jsonl", "y.jsonl", "-o", "b", *named)["segments"] == 20
    units = "".join(
        f'<tu><tuv xml:lang="de"><seg>{a}</seg></tuv><tuv xml:lang="en"><seg>{b}</seg></tuv></tu>' for a, b in pairs
    )
    Path("pairs.tmx").write_text(f'<tmx version="1.4"><header srclang="de"/><body>{units}</body></tmx>')
    reports = [
        done("dictionary", "train", "pairs.tmx", "-o", name, "--languages", languages)
        for name, languages in (("c", "de,en"), ("d", "en, de"))
    ]
    assert reports[0]["source_words"] == reports[1]["target_words"]
    digests = {name: done("dictionary", "info", name)["digest"] for name in "abcd"}
    assert digests["a"] == digests["b"] == digests["c"] != digests["d"]


@pytest.mark.parametrize("languages", ["de", "de,", ",en", "de,en,fr"])
def test_languages_are_two(languages, folder):
    code, said = refused("dictionary", "train", "pairs.tsv", "-o", "made", "--languages", languages)
    assert code == 2 and "as in de,en" in said


def test_a_table_is_imported_and_what_is_left_out_is_said(folder):
    code, out, err = run("dictionary", "import", "words.tsv", "-o", "made")
    assert (code, err) == (0, "") and "1 entry left out: of several words" in out and "2 pairs of words" in out
    _, out, _ = run("dictionary", "show", "made", "haus", "hauss", "zzz")
    assert out.splitlines() == [
        "haus",
        "   75.0%  house",
        "   25.0%  home",
        "hauss: is not in the dictionary. Near: haus.",
        "zzz: is not in the dictionary.",
    ]
    assert done("dictionary", "show", "made", "hauss")[0] == {"word": "hauss", "translations": [], "near": ["haus"]}
    assert "a table of word pairs" in run("dictionary", "info", "made")[1]


def test_quiet_prints_nothing(folder):
    for command in (
        ("train", "pairs.tsv", "-o", "made"),
        ("import", "words.tsv", "-o", "table"),
        ("show", "made", "house"),
        ("info", "made"),
        ("export", "made", "-o", "out.tsv"),
    ):
        assert run("dictionary", *command, "--quiet") == (0, "", "")


def test_outputs_are_whole_or_not_at_all(folder):
    done("dictionary", "import", "words.tsv", "-o", "made")
    before = files_in("made")
    for command in (("train", "pairs.tsv"), ("import", "words.tsv")):
        code, said = refused("dictionary", *command, "-o", "made")
        assert code == 2 and "--overwrite" in said and files_in("made") == before
    Path("bad.tsv").write_text("haus\thouse\t1\nhaus\n")
    code, said = refused("dictionary", "import", "bad.tsv", "-o", "made", "--overwrite")
    assert code == 1 and "bad.tsv, line 2" in said and files_in("made") == before
    done("dictionary", "train", "pairs.tsv", "-o", "made", "--overwrite")
    assert files_in("made") != before
    assert sorted(path.name for path in folder.iterdir()) == ["bad.tsv", "made", "pairs.tsv", "words.tsv"]


def test_json_needs_a_file_where_the_table_is_printed(folder):
    done("dictionary", "import", "words.tsv", "-o", "made")
    assert refused("dictionary", "export", "made", "--json")[0] == 2
    assert done("dictionary", "export", "made", "-o", "out.tsv") == {"pairs": 2}
    assert refused("dictionary", "export", "made", "-o", "out.tsv")[0] == 2


def test_an_interrupt_leaves_no_process_and_no_output(folder):
    pairs = toy_text(3000)
    Path("many.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    command = [sys.executable, "-m", "sosie", "dictionary", "train", "many.tsv", "-o", "made", "--iterations", "1000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 300
    while not (found := children.read_text().split()):
        assert process.poll() is None and time.monotonic() < deadline, "no process was started"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130 and "nothing was written" in said
    assert not any(_runs(int(child)) for child in found)
    assert sorted(os.listdir()) == ["many.tsv", "pairs.tsv", "words.tsv"]


def _runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
