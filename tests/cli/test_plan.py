"""`sosie plan`: what is asked, what is answered, and that what it says to type can be typed."""

import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from tests.cli.running import done, refused, run, write_jsonl

from sosie.jobs.planning import machine as measuring
from sosie.planner.command import commands
from sosie.planner.estimate import Candidate, Estimate
from sosie.planner.machine import CONSTANTS, load_machine
from sosie.planner.wish import Wish

ROWS = ["--rows", "10k", "--bits", "64", "--radius", "3", "--memory", "4GB", "--threads", "1"]
SEARCH = [*ROWS, "--queries", "100"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A machine that was not measured."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Documents, some of them alike, and their signatures."""
    monkeypatch.chdir(tmp_path)
    chosen = np.random.default_rng(3)
    texts = [" ".join(f"w{number}" for number in chosen.integers(0, 300, 40)) for _ in range(120)]
    texts += [f"{text} and more" for text in texts[:40]]
    write_jsonl("docs.jsonl", dict(enumerate(texts)))
    done("sign", "docs.jsonl", "-o", "SIGNATURES")
    return tmp_path


def test_without_documents_nothing_heavy_is_loaded():
    script = "import sys; from sosie.cli import sosie; sosie(sys.argv[1:], standalone_mode=False); "
    script += (
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'numba', 'scipy', 'pyarrow', 'llvmlite'}))"
    )
    for extra in ([], ["--json"]):
        ended = subprocess.run(
            [sys.executable, "-c", script, "plan", *SEARCH, *extra], capture_output=True, text=True, check=True
        )
        assert ended.stdout.splitlines()[-1] == "", ended.stdout


def test_what_is_printed_has_the_plan_its_curves_and_the_commands():
    code, out, err = run("plan", *SEARCH)
    assert code == 0 and not err
    assert "100 queries, in one batch" in out and "\n>  " in out and "recall: a " in out
    assert "Times are those of a usual machine" in out and "To run it:\n\n  sosie index build SIGNATURES" in out
    assert run("plan", *SEARCH, "--quiet") == (0, "", "")


def test_json_has_all_of_it():
    said = done("plan", *SEARCH, "--recall", "0.9", "--single", "--time", "5min")
    assert said["format"] == "sosie-plan" and said["wish"]["task"] == "search" and said["wish"]["single"]
    assert said["wish"]["seconds"] == 300 and said["wish"]["memory"] == 4 * 10**9 and said["wish"]["recall"] == 0.9
    assert said["chosen"] == said["candidates"][0] and said["chosen"]["recall"] >= 0.9
    assert said["commands"][0].startswith("sosie index build") and not said["notes"] and not said["nearest"]
    assert {curve["method"] for curve in said["curves"]} >= {"flat", "multi", "blocks", "probes", "slices"}
    for curve in said["curves"]:
        recalls, seconds = ([point[name] for point in curve["points"]] for name in ("recall", "seconds"))
        assert recalls == sorted(recalls) and seconds == sorted(seconds)


def test_what_cannot_be_had_is_an_answer():
    limits = ["--rows", "1B", "--recall", "0.999", "--memory", "1GB", "--time", "1s"]
    for what in (["--similarity", "0.8"], ["--bits", "64", "--radius", "3", "--queries", "1k"]):
        said = done("plan", *limits, *what)
        assert said["chosen"] is None and said["nearest"] and not said["commands"]
        code, out, _ = run("plan", *limits, *what)
        assert code == 0 and "This cannot be had. The nearest that can:" in out and "To run it" not in out


def test_without_a_limit_the_memory_is_that_of_the_machine():
    said = done("plan", "--rows", "1k")
    assert said["wish"]["memory"] > 250_000_000 and "is the memory of this machine" in said["notes"][0]
    assert said["wish"]["threads"] >= 1 and said["wish"]["threshold"] == 0.8


def test_the_picture(tmp_path):
    file = tmp_path / "plan.svg"
    code, out, _ = run("plan", *SEARCH, "--recall", "0.9", "--svg", file)
    assert code == 0 and out.endswith(f"\nWritten to {file}\n")
    words = " ".join(ElementTree.parse(file).getroot().itertext())
    assert all(name in words for name in ("time", "memory", "recall", "probes", "Circled: "))
    assert "exists" in refused("plan", *SEARCH, "--svg", file)[1]
    assert run("plan", *SEARCH, "--svg", file, "--overwrite")[0] == 0


def test_the_machine_is_measured_when_it_is_asked_for(monkeypatch):
    family = type("Family", (), {"measure": staticmethod(lambda threads: {"threads": 1.25})})
    monkeypatch.setattr(measuring, "FAMILIES", ("one",))
    monkeypatch.setattr(measuring, "import_module", lambda name: family)
    assert load_machine().measured is None
    assert "Times are those of a usual machine" in run("plan", *SEARCH)[1]
    code, out, _ = run("plan", "--machine")
    assert code == 0 and out.startswith("Times are those of this machine (") and all(name in out for name in CONSTANTS)
    assert load_machine().ns("threads") == 1.25
    assert "Times are those of this machine (" in run("plan", *SEARCH)[1]
    family.measure = staticmethod(lambda threads: {"threads": 1.5})
    assert done("plan", "--machine")["constants"]["threads"] == 1.25
    assert done("plan", "--machine", "--measure-again")["constants"]["threads"] == 1.5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--machine", "docs.jsonl"], "--machine tells of this machine"),
        (["--machine", "--threshold"], "give one of the two"),
        (["--machine", "--rows", "5"], "--rows is for a plan"),
        (["--threshold", "docs.jsonl", "--recall", "0.9"], "--recall is for a plan"),
        (["--measure-again"], "--measure-again is for --machine"),
        (["--page", "x.html", "--rows", "5"], "--page is for --threshold"),
        (["SIGNATURES", "--threshold"], "a threshold is of documents"),
        (["docs.jsonl", "--radius", "3"], "sign the documents first"),
        (["docs.jsonl", "--rows", "3"], "rows: the documents say that themselves"),
        (["--overwrite"], "--overwrite is for --svg or --page"),
        (["--rows", "5", "--single"], "a search is of signatures"),
        (
            ["--rows", "5", "--queries", "5", "--bits", "9", "--radius", "1", "--similarity", "0.5"],
            "give one of the two",
        ),
        (["--rows", "5", "--bits", "0", "--radius", "0"], "bits must be between 1 and"),
        (["--rows", "5", "--bits", "64", "--radius", "3", "--queries", "1e14"], "queries must be between 0 and"),
        (["--rows", "5", "--recall", "nan"], "recall must be above 0 and at most 1"),
        (["--rows", "5", "--similarity", "80"], "write 0.8"),
        (["--rows", "1.5"], "'1.5' is not a number of them"),
        (["--rows", "5", "--time", "-3s"], "is not a time above 0"),
        (["--rows", "5", "--time", "1e999s"], "is not a time above 0"),
        (["--rows", "5", "--memory", "0"], "is not a size"),
        (["--task", "link", "--rows", "5"], "a link needs the number of documents of the other language"),
        (["--task", "batch", "--rows", "5", "--bits", "64", "--radius", "3"], "the number of rows in the batch"),
        (["--task", "dedup", "--rows", "5", "--bits", "64"], "bits is for signatures, and a dedup is of documents"),
        (["--task", "join", "--rows", "5", "--bits", "64", "-k", "3"], "a join needs a radius"),
        (["--rows", "5", "--weighting", "tf"], "weights are for the cosine"),
        (["SIGNATURES", "--radius", "3", "--bits", "64"], "bits: the signatures say that themselves"),
        (["SIGNATURES", "--radius", "3", "--width", "5"], "--width: for documents"),
        (["SIGNATURES", "docs.jsonl", "--radius", "3"], "give one directory of signatures, or documents"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_a_line(folder, words, said):
    code, error = refused("plan", *words)
    assert code == 2 and said in error and len(error.splitlines()[-1]) < 250


def test_an_input_has_the_options_of_documents_and_the_help_has_all(folder):
    assert "--text-column" in run("plan", "--help")[1]
    code, _, error = run("plan", "SIGNATURES", "--text-column", "x", "--radius", "3")
    assert code == 2 and "--text-column: for documents" in error
    (folder / "options.toml").write_text('rows = "10k"\nbits = 64\nradius = 3\nqueries = "5"\nrecall = 0.9\n')
    assert done("plan", "--config", "options.toml")["wish"]["recall"] == 0.9


def candidate(said):
    """Return a candidate as JSON has it."""
    return Candidate(
        method=said["method"], parameters=said["parameters"], estimate=Estimate(recall=said["recall"], seconds=1.0)
    )


def typed(line):
    """Run a command that a plan prints."""
    program, *words = shlex.split(line)
    assert program == "sosie"
    code, _, error = run(*words, "--quiet")
    assert code == 0, f"{line}: {error}"


def test_signatures_are_counted_and_every_index_can_be_built_and_asked_as_it_says(folder):
    said = done("plan", "SIGNATURES", "--radius", "3", "--queries", "160", "--recall", "0.9", "--memory", "4GB")
    assert said["facts"]["counted"] and said["wish"]["rows"] == 160 and said["wish"]["bits"] == 64
    assert said["commands"][0].startswith("sosie index build SIGNATURES ")
    os.symlink("SIGNATURES", "QUERIES")
    seen = set()
    wish = Wish(**said["wish"])
    for each in said["candidates"]:
        if each["method"] not in seen:
            seen.add(each["method"])
            build, ask = commands(candidate(each), wish, ["SIGNATURES"])
            typed(f"{build} --overwrite")
            typed(f"{ask} --overwrite")
    assert seen >= {"flat", "multi", "blocks", "probes", "slices"}


def every_setting_can_be_typed(*words, inputs=(), names):
    """Run the commands of the best setting of each method that a plan considers."""
    said, seen = done("plan", *words, "--memory", "4GB", "--json"), set()
    assert {each["method"] for each in said["candidates"]} == names
    for each in said["candidates"]:
        if each["method"] not in seen:
            seen.add(each["method"])
            for line in commands(candidate(each), Wish(**said["wish"]), inputs):
                typed(f"{line} --overwrite")
    return said


def test_joins_can_be_run_as_it_says(folder):
    words = ["SIGNATURES", "--radius", "3", "--recall", "0.9"]
    names = {"brute", "blocks join", "window"}
    said = every_setting_can_be_typed(*words, inputs=["SIGNATURES"], names=names)
    assert said["commands"][0].startswith("sosie join SIGNATURES -o PAIRS --radius 3 --method ")


def test_documents_are_deduplicated_as_it_says(folder):
    said = done("plan", "docs.jsonl", "--similarity", "0.7", "--recall", "0.9", "--width", "2", "--memory", "4GB")
    assert said["facts"]["corpus"]["documents"] == 160 and said["wish"]["threshold"] == 0.7
    typed(said["commands"][0])
    assert " --width 2" in said["commands"][0] and " --threshold 0.7" in said["commands"][0]
    seen = {}
    for each in said["candidates"]:
        seen.setdefault(each["method"], each)
    assert seen.keys() >= {"exact", "minhash", "simhash"}
    for name in ("exact", "minhash", "simhash"):
        typed(f"{commands(candidate(seen[name]), Wish(**said['wish']), ['docs.jsonl'])[0]} --overwrite")
