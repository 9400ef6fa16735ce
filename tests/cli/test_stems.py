"""`--stem` and `--stop-words`, wherever there are shingles."""

import json

import pytest
from click.testing import CliRunner

from sosie.cli.dedup import command as dedup
from sosie.cli.evaluate import command as evaluate
from sosie.cli.inspect import command as inspect
from sosie.cli.join import command as join
from sosie.cli.sign import command as sign
from sosie.errors import MismatchError, UsageError

TEXTS = [
    "The engineer connects the old bridges and repairs the broken roads",
    "An engineer connected old bridges, and is repairing a broken road",
    "Gardeners plant roses in the spring and trees in the autumn",
]
STEMS = ["--width", "1", "--stem", "en", "--stop-words"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "stop.txt").write_text("the\nAn\na\nis\nand\nin\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, *arguments):
    done = CliRunner().invoke(command, ["--json", "--threads", "1", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("words", ["english", "stop.txt"])
def test_dedup_and_its_evaluation(folder, method, words):
    assert run(dedup, "docs.jsonl", "-o", "plain", "--method", method)["counts"]["dropped"] == 0
    report = run(dedup, "docs.jsonl", "-o", "stemmed", "--method", method, *STEMS, words)
    assert report["counts"]["dropped"] == 1
    shingles = report["parameters"]["method"]["shingles"]
    assert shingles["stem"]["algorithm"] == "english"
    assert shingles["stop_words"]["list"] == {"english": "en"}.get(words, words)
    measured = run(evaluate, "stemmed")["sample"]
    assert (measured["recall"], measured["true_pairs"], measured["wrong_pairs"]) == (1.0, 1, 0)


def test_sign_join_and_inspect(folder):
    assert run(join, "docs.jsonl", "-o", "pairs", *STEMS, "stop.txt")["pairs"] == 1
    assert run(evaluate, "pairs", "docs.jsonl")["sample"]["recall"] == 1.0
    assert run(inspect, "docs.jsonl", *STEMS, "stop.txt")["same_features"]["documents"] == 1
    assert run(sign, "docs.jsonl", "-o", "sigs", *STEMS, "en")["spec"]["shingles"]["stop_words"]["list"] == "en"
    assert run(join, "sigs", "-o", "near", "--radius", "0")["pairs"] == 1
    for option in (["--stem", "en"], ["--stop-words", "en"], ["--width", "3"], ["--unit", "char"]):
        with pytest.raises(UsageError, match=f"{option[0]}: for documents"):
            run(join, "sigs", "-o", "other", "--radius", "0", *option)


def test_a_file_that_changes_changes_no_result(folder):
    run(dedup, "docs.jsonl", "-o", "stemmed", *STEMS, "stop.txt")
    run(sign, "docs.jsonl", "-o", "sigs", "--features", *STEMS, "stop.txt")
    (folder / "stop.txt").write_text("the\n")
    assert run(evaluate, "stemmed")["sample"]["true_pairs"] == 1
    assert run(join, "sigs", "-o", "near", "--radius", "0")["pairs"] == 1
    with pytest.raises(MismatchError, match=r"sigs: holds features .* where stop\.txt holds other words now"):
        run(dedup, "docs.jsonl", "-o", "new", "--against", "sigs", *STEMS, "stop.txt")


def test_a_config_file_may_name_them(folder):
    (folder / "sosie.toml").write_text('stem = "en"\nstop-words = "en"\nwidth = 1\n')
    assert run(dedup, "docs.jsonl", "-o", "out", "--config", "sosie.toml")["counts"]["dropped"] == 1
