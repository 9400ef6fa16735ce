"""What `sosie join` says of a join that does not find all."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import sosie
from sosie.cli import sosie as command
from sosie.cli.join import _share


@pytest.fixture
def saved(tmp_path):
    """Signatures of which each has one that differs in 60 to 90 of 256 bits."""
    rng = np.random.default_rng(5)
    bits = np.tile(rng.random((600, 256)) < 0.5, (2, 1))
    for row in bits[600:]:
        row[rng.choice(256, rng.integers(60, 91), replace=False)] ^= True
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    signer = sosie.Simhash(bits=256).fit()
    sosie.save_signatures(tmp_path / "signed", sosie.Signatures(words, digest=signer.digest), signer)
    return tmp_path


def run(folder, *options):
    places = [str(folder / "signed"), "-o", str(folder / "out"), "--overwrite"]
    return CliRunner().invoke(command, ["join", *places, *options])


def test_a_window_says_what_share_it_found_and_what_that_cost(saved):
    asked = ("--radius", "90", "--method", "window", "--tables", "20", "--window", "20", "--chunk", "500")
    said = run(saved, *asked)
    assert said.exit_code == 0 and " of all (95 % interval " in said.output
    assert "comparisons in 20 tables; with making the chunks" in said.output
    report = json.loads((saved / "out" / "report.json").read_text("utf-8"))
    every = json.loads(run(saved, "--radius", "90", "--method", "brute", "--json").output)
    assert every["recall"] == 1 and every["interval"] is None
    low, high = report["interval"]
    assert low <= report["pairs"] / every["pairs"] <= high < 1
    assert report["parameters"]["method"] == {"method": "window", "tables": 20, "window": 20, "chunk": 500, "seed": 0}


def test_nearly_all_is_not_all():
    said = _share(SimpleNamespace(recall=0.99999996, interval=(0.9999, 1.0), counters={}))
    assert said == ", about 99.999 % of all (95 % interval 99.99 % to 100 %)"


def test_too_few_tables_say_so(saved):
    said = run(saved, "--radius", "90", "--method", "window", "--tables", "3", "--window", "20").output
    assert "pairs; what share of all that is cannot be said" in said


def test_options_of_a_window_are_for_a_window(saved):
    said = run(saved, "--radius", "90", "--tables", "3")
    assert said.exit_code != 0 and str(said.exception) == "--tables is for --method window"
