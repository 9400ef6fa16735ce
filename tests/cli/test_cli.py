"""The command line: exit codes, messages with a remedy, machine-readable output, nothing half-written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sosie
from sosie import cli
from sosie.cli import COMMANDS
from sosie.signatures.files import load_features

TEXTS = [
    "the quick brown fox jumps over the lazy dog",
    "The QUICK brown fox jumps over the lazy dog!",
    "a text about something else entirely, not about foxes",
    "",
    "the quick brown fox jumps over the lazy cat",
]
MAIN = [sys.executable, "-c", "from sosie.cli import main; main()"]


def run(*arguments) -> tuple[int, str, str]:
    """Run `main` as the console script does: exit code, standard output, standard error."""
    script = click.Command("script", callback=lambda: None)
    script.main = lambda *_, **__: _main(list(map(str, arguments)))
    result = CliRunner().invoke(script)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.stderr


def _main(arguments: list[str]) -> None:
    before, sys.argv = sys.argv, ["sosie", *arguments]
    try:
        cli.main()
    finally:
        sys.argv = before


def real(*arguments, **options):
    return subprocess.run([*MAIN, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(TEXTS)]
    Path("in.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    Path("bad.jsonl").write_text(f'{lines[0]}\n{lines[1]}\n{{"id": "x", "text": \n', "utf-8")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# The commands


def test_every_command_has_a_file_and_every_file_its_command():
    here = Path(cli.__file__).parent
    files = {path.stem for path in here.glob("*.py") if "command" in vars(import_module(f"sosie.cli.{path.stem}"))}
    assert files == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name):
    module = import_module(f"sosie.cli.{name}")
    assert module.__doc__.startswith(f"`sosie {name}`: ")
    assert module.command.name == name and module.command.help
    options = [parameter for parameter in module.command.params if isinstance(parameter, click.Option)]
    undocumented = [option.name for option in options if not option.help and not isinstance(option.type, click.Choice)]
    assert not undocumented
    code, out, err = run(name, "--help")
    assert code == 0 and not err and out.startswith(f"Usage: sosie {name} ")


def test_the_help_is_the_table():
    code, out, err = run("--help")
    assert code == 0 and not err
    shown = out.partition("Commands:\n")[2]
    words = " ".join(shown.split())
    assert words == " ".join(f"{name} {what}" for name, what in COMMANDS.items())
    assert run("-h")[1] == out


def test_version():
    assert run("--version")[1].strip() == f"sosie, version {sosie.__version__}"


# dedup


def test_dedup_writes_what_the_library_finds(folder):
    code, out, err = run("dedup", "in.jsonl", "-o", "out", "--threads", 2)
    assert code == 0 and not err
    assert "5 documents" in out and "Written to out" in out and "1 document without words" in out
    result = sosie.dedup(folder / "in.jsonl")
    assert pq.read_table("out/pairs.parquet").to_pylist() == result.pairs.to_pylist()
    kept = Path("out/kept/in.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in kept] == result.kept.to_pylist() == ["d0", "d2", "d3", "d4"]
    assert json.loads(Path("out/report.json").read_text("utf-8"))["counts"] == result.report["counts"]


def test_json_is_all_that_is_printed(folder):
    code, out, err = run("dedup", "in.jsonl", "-o", "out", "--json")
    assert code == 0 and not err
    assert json.loads(out) == json.loads(Path("out/report.json").read_text("utf-8"))
    code, out, err = run("sign", "in.jsonl", "-o", "signed", "--json")
    assert code == 0 and not err and json.loads(out)["signed"] == 4
    code, out, err = run("join", "in.jsonl", "-o", "joined", "--json")
    assert code == 0 and not err and json.loads(out)["pairs"] == 1


def test_quiet_prints_nothing(folder):
    for number, command in enumerate((["dedup"], ["sign"], ["join"])):
        assert run(*command, "in.jsonl", "-o", f"out{number}", "--quiet") == (0, "", "")
    assert run("demo", "--documents", 30, "-o", "demo", "--quiet") == (0, "", "")


def test_a_dry_run_writes_nothing(folder):
    before = names(folder)
    code, out, _ = run("dedup", "in.jsonl", "-o", "out", "--dry-run")
    assert code == 0 and "Dry run: nothing was written." in out
    code, out, _ = run("dedup", "in.jsonl", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["counts"]["dropped"] == 1
    assert names(folder) == before


def test_options_reach_the_job(folder):
    options = ["--threshold", "0.7", "--method", "minhash", "--keep", "longest", "--clusters", "transitive"]
    code, out, _ = run("dedup", "in.jsonl", *options, "--width", 2, "--unit", "char", "--dry-run", "--json")
    parameters = json.loads(out)["parameters"]
    assert code == 0 and parameters["threshold"] == 0.7
    assert (parameters["keep"], parameters["clusters"]) == ("longest", "transitive")
    assert parameters["method"]["method"] == "minhash"
    assert parameters["method"]["shingles"] == {"width": 2, "unit": "char"}


def test_columns_and_bad_records(folder):
    Path("other.jsonl").write_text(
        '{"body": "one two three", "key": 7}\n{"body": "one two three", "key": 8}\n', "utf-8"
    )
    code, out, _ = run("dedup", "other.jsonl", "--text-column", "body", "--id-column", "key", "-o", "out", "--json")
    assert code == 0 and json.loads(out)["counts"]["dropped"] == 1
    assert pq.read_table("out/pairs.parquet").to_pylist() == [{"a": 7, "b": 8, "similarity": 1.0}]
    for command in ("dedup", "sign", "join"):
        code, out, _ = run(command, "bad.jsonl", "-o", f"skipped-{command}", "--on-error", "skip", "--json")
        report = json.loads(out)
        assert code == 0 and report.get("counts", report)["rejected"] == 1
        (rejected,) = Path(f"skipped-{command}/rejected.jsonl").read_text("utf-8").splitlines()
        assert json.loads(rejected)["line"] == 3


# What goes wrong


@pytest.mark.parametrize("command", ["dedup", "sign", "join"])
def test_bad_data_is_exit_code_1_and_leaves_nothing(folder, command):
    before = names(folder)
    code, out, err = run(command, "bad.jsonl", "-o", "out")
    assert code == 1 and not out
    assert err.startswith("Error: ") and "bad.jsonl, line 3" in err and "--on-error skip" in err
    assert names(folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("dedup in.jsonl", "-o DIR"),
        ("dedup nothing.jsonl -o out", "nothing.jsonl: no such file"),
        ("dedup in.jsonl -o out --threshold 0", "threshold"),
        ("dedup in.jsonl -o out --threshold high", "threshold"),
        ("dedup in.jsonl -o out --method magic", "magic"),
        ("dedup in.jsonl -o out --keep random", "random"),
        ("dedup in.jsonl -o out --clusters none", "none"),
        ("dedup in.jsonl -o out --threads 0", "threads"),
        ("dedup in.jsonl -o out --width 0", "width"),
        ("dedup in.jsonl -o out --unit byte", "byte"),
        ("dedup in.jsonl -o out --text-column body", "body"),
        ("dedup in.jsonl -o bad.jsonl", "bad.jsonl: is a file"),
        ("dedup in.jsonl -o full", "full: is not empty"),
        ("dedup in.jsonl -o full --overwrite", "full: was not written by Sosie"),
        ("dedup in.jsonl -o .", "holds inputs"),
        ("dedup -o out", "INPUT"),
        ("dedup in.jsonl -o out --sharp", "--sharp"),
        ("sign in.jsonl -o out --bits 0", "bits"),
        ("sign in.jsonl -o out --rows 5", "--rows does not belong to --method simhash"),
        ("sign in.jsonl -o out --method minhash --bits 64", "--bits does not belong to --method minhash"),
        ("sign in.jsonl -o out --method minhash --minima 10 --rows 11", "rows"),
        ("sign in.jsonl -o full", "full: is not empty"),
        ("sign in.jsonl", "--output"),
        ("join in.jsonl -o out --radius 3", "--threshold"),
        ("join in.jsonl -o full", "full: is not empty"),
        ("demo --documents -1", "documents"),
        ("demo --seed 16777216", "seed"),
        ("polish in.jsonl", "polish"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_leaves_nothing(folder, arguments, message):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine", "utf-8")
    before = names(folder)
    code, out, err = run(*arguments.split())
    assert code == 2 and not out
    assert message in err
    assert names(folder) == before and Path("full/mine.txt").read_text("utf-8") == "mine"


def test_overwrite_replaces_what_sosie_wrote(folder):
    assert run("dedup", "in.jsonl", "-o", "out", "--quiet")[0] == 0
    assert run("dedup", "in.jsonl", "-o", "out", "--quiet")[0] == 2
    assert run("dedup", "in.jsonl", "-o", "out", "--quiet", "--overwrite", "--threshold", 1)[0] == 0
    assert json.loads(Path("out/report.json").read_text("utf-8"))["parameters"]["threshold"] == 1
    assert run("sign", "in.jsonl", "-o", "out", "--quiet", "--overwrite")[0] == 0
    assert not Path("out/report.json").exists() and Path("out/manifest.json").exists()


def test_inputs_are_never_overwritten(folder):
    assert run("sign", "in.jsonl", "-o", "signed", "--quiet")[0] == 0
    Path("deduplicated").mkdir()
    for arguments in (["signed"], ["signed", "--with", "signed"]):
        code, _, err = run("join", *arguments, "--radius", 3, "-o", "signed", "--overwrite")
        assert code == 2 and "holds inputs" in err
    assert len(sosie.load_signatures("signed")) == 4
    assert run("dedup", "in.jsonl", "-o", "out", "--quiet")[0] == 0
    for command in (["dedup"], ["sign"], ["join"], ["join", "in.jsonl", "--with"]):
        code, _, err = run(*command, "out/kept/in.jsonl", "-o", "out", "--overwrite")
        assert code == 2 and "holds inputs" in err
    assert Path("out/kept/in.jsonl").exists()


# sign and join


@pytest.mark.parametrize(
    ("options", "spec", "join"),
    [
        (["--bits", "65", "--seed", "3"], sosie.Simhash(bits=65, seed=3), ["--radius", "0"]),
        (["--weighting", "binary", "--volatility"], sosie.Simhash(weighting="binary"), ["--radius", "5"]),
        (["--method", "projection", "--volatility"], sosie.RandomProjection(), ["--radius", "50"]),
        (["--method", "minhash", "--minima", "60", "--rows", "3"], sosie.Minhash(minima=60, rows=3), []),
        (["--method", "minhash", "--b", "2", "--width", "1"], None, ["--radius", "90"]),
    ],
)
def test_signatures_are_saved_and_joined(folder, options, spec, join):
    spec = spec or sosie.Minhash(b=2, shingles=sosie.Shingles(1))
    code, out, _ = run("sign", "in.jsonl", "-o", "signed", *options)
    assert (
        code == 0 and f"4 of 5 documents signed ({spec.method}, {spec.digest})" in out and "1 without features" in out
    )
    loaded = sosie.load_signatures("signed")
    assert loaded.digest == spec.digest and loaded.ids.to_pylist() == ["d0", "d1", "d2", "d4"]
    assert loaded.unsigned.tolist() == [3]
    assert (getattr(loaded, "volatility", None) is not None) == ("--volatility" in options)
    code, out, err = run("join", "signed", *join, "-o", "joined")
    assert code == 0 and not err and "Written to joined/pairs.parquet" in out
    pairs = pq.read_table("joined/pairs.parquet").to_pylist()
    assert {"a": "d0", "b": "d1"} in pairs
    radius = {"radius": int(join[1])} if join else {}
    assert len(pairs) == len(sosie.join(loaded, **radius))
    code, out, _ = run("join", "signed", "--with", "signed", *join, "-o", "across", "--json")
    across = pq.read_table("across/pairs.parquet").to_pylist()
    assert code == 0 and json.loads(out)["pairs"] == len(across) == len(loaded) + 2 * len(pairs)


@pytest.mark.parametrize("weighting", ["tf-idf", "bm25"])
def test_a_fitted_signer_signs_later_documents(folder, weighting):
    code, out, _ = run("sign", "in.jsonl", "-o", "old", "--weighting", weighting, "--bits", 128, "--json")
    signer = sosie.Simhash(bits=128, weighting=weighting).fit(TEXTS)
    report = json.loads(out)
    assert code == 0 and report["digest"] == signer.digest and report["signed"] == 4
    assert [stage["stage"] for stage in report["stages"]] == ["fit", "sign"]
    Path("new.jsonl").write_text(json.dumps({"id": "new", "text": TEXTS[0]}) + "\n", "utf-8")
    code, out, _ = run("sign", "new.jsonl", "-o", "new", "--signer", "old", "--bits", 128)
    assert code == 0 and f"1 of 1 documents signed (simhash, {signer.digest})" in out
    assert (sosie.load_signatures("new").words == signer.sign([TEXTS[0]]).words).all()
    assert run("join", "old", "--with", "new", "--radius", 0, "-o", "out", "--quiet")[0] == 0
    assert pq.read_table("out/pairs.parquet").to_pylist() == [{"a": "d0", "b": "new"}, {"a": "d1", "b": "new"}]
    assert run("sign", "new.jsonl", "-o", "newer", "--signer", "new", "--quiet")[0] == 0
    assert sosie.load_signer("newer").digest == signer.digest


def test_options_that_contradict_a_signer_are_wrong_usage(folder):
    assert run("sign", "in.jsonl", "-o", "old", "--bits", 128, "--width", 2, "--quiet")[0] == 0
    assert run("sign", "in.jsonl", "-o", "keys", "--method", "minhash", "--quiet")[0] == 0
    Path("same.toml").write_text("bits = 128\nwidth = 2\n")
    Path("other.toml").write_text("bits = 64\n")
    assert run("sign", "in.jsonl", "-o", "same", "--signer", "old", "--config", "same.toml", "--quiet")[0] == 0
    assert run("sign", "in.jsonl", "-o", "bits", "--signer", "keys", "--b", 1, "--quiet")[0] == 0
    assert isinstance(sosie.load_signatures("bits"), sosie.Signatures)
    Path("stop.txt").write_text("the\n")
    assert run("sign", "in.jsonl", "-o", "stems", "--stem", "en", "--stop-words", "stop.txt", "--quiet")[0] == 0
    spelled = ["--stem", "English", "--stop-words", Path("stop.txt").resolve()]
    assert run("sign", "in.jsonl", "-o", "stems2", "--signer", "stems", *spelled, "--quiet")[0] == 0
    before = names(folder)
    for arguments, expected, message in (
        ("--signer old --bits 64", 2, "--bits 64 contradicts the signer in old, which has 128"),
        ("--signer old --config other.toml", 2, "--bits 64 contradicts"),
        ("--signer old --weighting binary", 2, "--weighting binary contradicts"),
        ("--signer old --method minhash", 2, "--method minhash contradicts"),
        ("--signer old --seed 1", 2, "--seed 1 contradicts"),
        ("--signer old --width 3", 2, "--width 3 contradicts"),
        ("--signer old --unit char", 2, "--unit char contradicts"),
        ("--signer old --stem en", 2, "--stem en contradicts the signer in old, which has none"),
        ("--signer old --stop-words en", 2, "--stop-words en contradicts the signer in old, which has none"),
        ("--signer stems --stem de", 2, "--stem de contradicts the signer in stems, which has english"),
        ("--signer stems --stop-words de", 2, "--stop-words de contradicts the signer in stems, which has stop.txt"),
        ("--signer old --rows 5", 2, "--rows does not belong to --method simhash"),
        ("--signer keys --volatility", 2, "--volatility does not belong to --method minhash"),
        ("--signer nowhere", 1, "nowhere"),
    ):
        code, out, err = run("sign", "in.jsonl", "-o", "out", *arguments.split())
        assert (code, out) == (expected, "") and message in err, (arguments, err)
    code, _, err = run("sign", "in.jsonl", "-o", "old", "--signer", "old", "--overwrite")
    assert code == 2 and "holds inputs of this run" in err
    assert names(folder) == before


def test_features_are_stored_on_request(folder):
    for name, options in (("bits", []), ("keys", ["--method", "minhash"])):
        assert run("sign", "in.jsonl", "-o", name, "--features", "--quiet", *options)[0] == 0
        features, ids, shingles = load_features(name)
        expected = sosie.Shingles().extract([text for text in TEXTS if text])
        assert features.hashes.tolist() == expected.hashes.tolist() and shingles == sosie.Shingles()
        assert features.offsets.tolist() == expected.offsets.tolist()
        assert ids == sosie.load_signatures(name).ids and ids.to_pylist() == ["d0", "d1", "d2", "d4"]
    assert run("sign", "in.jsonl", "-o", "plain", "--quiet")[0] == 0
    assert Path("plain/words").read_bytes() == Path("bits/words").read_bytes()


def test_documents_are_joined_and_verified(folder):
    Path("other.jsonl").write_text(json.dumps({"id": "twin", "text": TEXTS[0].upper()}) + "\n", "utf-8")
    assert run("join", "in.jsonl", "-o", "self", "--threshold", "0.7", "--quiet")[0] == 0
    similar = pq.read_table("self/pairs.parquet").to_pylist()
    assert similar == [
        {"a": "d0", "b": "d1", "similarity": 1.0},
        {"a": "d0", "b": "d4", "similarity": 0.75},
        {"a": "d1", "b": "d4", "similarity": 0.75},
    ]
    assert run("join", "in.jsonl", "--with", "other.jsonl", "-o", "across", "--quiet")[0] == 0
    assert pq.read_table("across/pairs.parquet").to_pylist() == [
        {"a": "d0", "b": "twin", "similarity": 1.0},
        {"a": "d1", "b": "twin", "similarity": 1.0},
    ]
    report = json.loads(Path("across/report.json").read_text("utf-8"))
    assert report["format"] == "sosie-join" and report["pairs"] == 2


def test_documents_are_joined_by_other_measures(folder):
    expected = {"jaccard": 1 / 3, "cosine": 3 / (3 * 9) ** 0.5, "containment": 1.0}
    lines = [
        {"id": "part", "text": "to be or not to"},
        {"id": "whole", "text": "to be or not to be that is the question is"},
    ]
    Path("two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for measure, similarity in expected.items():
        code, _, _ = run("join", "two.jsonl", "-o", "out", "--overwrite", "--similarity", measure, "--threshold", "1/3")
        assert code == 0
        (pair,) = pq.read_table("out/pairs.parquet").to_pylist()
        assert (pair["a"], pair["b"]) == ("part", "whole") and pair["similarity"] == pytest.approx(similarity)
        assert json.loads(Path("out/report.json").read_text("utf-8"))["parameters"]["similarity"] == measure
    assert run("join", "two.jsonl", "-o", "out", "--similarity", "dice")[0] == 2
    assert run("sign", "two.jsonl", "-o", "signed", "--quiet")[0] == 0
    code, _, err = run("join", "signed", "-o", "near", "--radius", "3", "--similarity", "cosine")
    assert code == 2 and "--similarity is for documents" in err


def test_saved_signatures_that_do_not_fit(folder):
    assert run("sign", "in.jsonl", "-o", "signed", "--quiet")[0] == 0
    assert run("sign", "in.jsonl", "-o", "other", "--quiet", "--seed", 1)[0] == 0
    assert run("sign", "in.jsonl", "-o", "keys", "--quiet", "--method", "minhash")[0] == 0
    before = names(folder)
    for arguments, expected, message in (
        ("join signed --with other --radius 3 -o out", 1, "cannot be joined"),
        ("join signed --with keys --radius 3 -o out", 2, "cannot join Signatures with Keys"),
        ("join signed -o out", 2, "radius"),
        ("join signed --radius 65 -o out", 2, "radius"),
        ("join keys --radius 3 -o out", 2, "neither"),
        ("join signed in.jsonl --radius 3 -o out", 2, "documents with documents"),
    ):
        code, out, err = run(*arguments.split())
        assert (code, out) == (expected, "") and message in err, arguments
    words = Path("signed/words")
    words.write_bytes(words.read_bytes()[:-1])
    code, _, err = run("join", "signed", "--radius", 3, "-o", "out")
    assert code == 1 and "words" in err and "damaged" in err
    Path("empty").mkdir()
    code, _, err = run("join", "empty", "--radius", 3, "-o", "out")
    assert code == 2 and "empty" in err  # a folder without documents
    code, _, err = run("join", "in.jsonl", "--with", "signed", "-o", "out")
    assert code == 2 and "documents with documents" in err
    assert names(folder) == sorted([*before, "empty"])


# demo


def test_demo_finds_what_was_planted(folder):
    code, out, _ = run("demo", "--documents", 400, "-o", "demo", "--seed", 3)
    assert code == 0 and "recall 1.0000, precision 1.0000" in out
    truth = pq.read_table("demo/corpus/truth.parquet").num_rows
    assert truth > 0 and f"of the {truth:,} planted pairs found" in out
    assert pq.read_table("demo/deduplicated/pairs.parquet").num_rows == truth
    assert run("demo", "--documents", 10, "-o", "demo")[0] == 2
    code, out, err = run("demo", "--documents", 50, "-o", "demo", "--overwrite", "--json")
    report = json.loads(out)
    assert (
        code == 0 and not err and report["recall"] == report["precision"] == 1 and report["counts"]["documents"] == 50
    )


def test_a_demo_of_no_documents(folder):
    code, out, err = run("demo", "--documents", 0, "-o", "demo", "--json")
    assert (code, err) == (0, "") and json.loads(out)["counts"]["documents"] == 0


# Real processes


def test_a_real_run(folder):
    done = real("dedup", "in.jsonl", "-o", "out", "--json")
    assert done.returncode == 0 and not done.stderr
    assert json.loads(done.stdout)["counts"]["kept"] == 4
    done = real("dedup", "in.jsonl", "-o", "out")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == f"Error: {folder / 'out'}: is not empty. Choose another directory or pass --overwrite.\n"


def test_real_bad_data(folder):
    before = names(folder)
    done = real("dedup", "bad.jsonl", "-o", "out", "--quiet")
    assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: bad.jsonl, line 3: broken JSON")
    assert names(folder) == before


def test_an_interrupt_is_exit_code_130_and_leaves_nothing(folder):
    before = names(folder)
    code = (
        "import os, signal, sys, sosie.jobs.stages as d\n"
        "d.collect = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['sosie', 'dedup', 'in.jsonl', '-o', 'out', '--quiet']\n"
        "from sosie.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130 and "Interrupted; nothing was written." in done.stderr
    assert "Traceback" not in done.stderr and names(folder) == before


def test_a_quiet_command_does_not_say_that_it_compiles(folder):
    code = (
        "import logging, sys, sosie.jobs.dedup as d\n"
        "d.prepare = lambda *_, **__: logging.getLogger('sosie').warning('compiling')\n"
        "from sosie.cli import main\nmain()"
    )
    for options, said in (((), "compiling\n"), (("--quiet",), ""), (("--json",), "compiling\n")):
        command = [sys.executable, "-c", code, "dedup", "in.jsonl", "--dry-run", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        assert done.stderr == said
