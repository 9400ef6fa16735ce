"""Options from a TOML file: the same names, the same checks, and the command line wins."""

import json

import pytest
from click.testing import CliRunner

from sosie.cli.dedup import command
from sosie.errors import UsageError

TEXTS = ["one two three four five six seven eight", "one two three four five six seven nine"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    return tmp_path


def run(config, *arguments):
    with open("sosie.toml", "w") as file:
        file.write(config)
    return CliRunner().invoke(command, ["docs.jsonl", "--config", "sosie.toml", *arguments])


def report(config, *arguments):
    result = run(config, *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


CONFIG = """
threshold = 0.5
text-column = "body"
keep = "longest"
width = 2
dry-run = true
json = true
threads = 1
"""


def test_options_are_taken_from_the_file(folder):
    found = report(CONFIG)
    assert found["parameters"]["threshold"] == 0.5 and found["parameters"]["keep"] == "longest"
    assert found["parameters"]["method"]["shingles"]["width"] == 2
    assert found["counts"]["dropped"] == 1 and found["threads"] == 1
    assert not (folder / "out").exists()


@pytest.mark.parametrize("against", ['"docs.jsonl"', '["docs.jsonl"]'])
def test_an_option_that_may_be_repeated_takes_one_value_or_a_list(folder, against):
    assert report(CONFIG + f"against = {against}\n")["against"]["inputs"] == ["docs.jsonl"]


def test_the_command_line_wins(folder):
    found = report(CONFIG, "--threshold", "0.9", "--keep", "first")
    assert found["parameters"]["threshold"] == 0.9 and found["parameters"]["keep"] == "first"
    assert found["counts"]["dropped"] == 0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("treshold = 0.8", "no option 'treshold'"),
        ("[dedup]\nthreshold = 0.8", "no option 'dedup'"),
        ('config = "other.toml"', "no option 'config'"),
        ("quiet = 1", "true or false"),
        ("threshold = true", "takes a value"),
        ("threshold = [0.8]", "threshold takes one value"),
        ("threshold = ", "is not TOML"),
        ('threshold = "high"', "threshold must be a number"),
    ],
)
def test_what_a_config_may_not_say(folder, config, message):
    result = run(config)
    assert isinstance(result.exception, UsageError) and message in str(result.exception)


def test_values_are_checked_as_on_the_command_line(folder):
    result = run('method = "guess"')
    assert result.exit_code == 2 and "'guess' is not one of" in result.output


def test_a_missing_file_is_named(folder):
    result = CliRunner().invoke(command, ["docs.jsonl", "--config", "none.toml"])
    assert isinstance(result.exception, UsageError) and "none.toml" in str(result.exception)
