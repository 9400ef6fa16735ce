"""Every measure for any spec on one sample, by library and command line."""

import json
import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from sosie import Shingles, Simhash, UsageError
from sosie.cli import sosie
from sosie.evaluation.signatures.quality import Truth, default_specs, evaluate_signatures, rank
from sosie.signatures.named import parse_spec


@pytest.fixture(scope="module")
def texts():
    """Sixty texts, every third of which is a near-copy of the one before."""
    rng = np.random.default_rng(0)
    words = ["".join(chr(97 + letter) for letter in rng.integers(0, 26, 5)) for _ in range(900)]
    made = [" ".join(words[number] for number in rng.zipf(1.4, 25) % 900) for _ in range(60)]
    return [made[i - 1] + " indeed" if i % 3 == 2 else made[i] for i in range(60)]


def test_the_nearest_by_signatures_beside_those_by_cosine():
    rng = np.random.default_rng(1)
    cosine = rng.random((9, 9))
    cosine = (cosine + cosine.T) / 2
    far = rng.integers(0, 5, (9, 9))
    np.fill_diagonal(far, 0)
    found = rank(cosine, far, 3)
    hits, ratios = 0, []
    for row in range(9):
        others = [other for other in range(9) if other != row]
        true = sorted(1 - cosine[row, other] for other in others)[:3]
        near = sorted(others, key=lambda other: (far[row, other], other))[:3]
        hits += sum(1 - cosine[row, other] <= true[-1] + 1e-9 for other in near)
        got = [1 - cosine[row, other] for other in near]
        ratios += [sum(true[:rank]) / sum(got[:rank]) for rank in (1, 2, 3)]
    assert found.recall == pytest.approx(hits / 27)
    assert found.ratio == pytest.approx(sum(ratios) / 27)  # CDR(p) is the mean of DR(1) to DR(p): ISSL 6
    assert rank(cosine, 1 - cosine, 3).recall == 1 and rank(cosine, 1 - cosine, 3).ratio == pytest.approx(1)


def test_identical_texts_found_are_a_ratio_of_one():
    """0 / 0 is 1, and what is a rounding error away is at 0."""
    cosine = np.full((3, 3), 1 - 1e-15)
    assert rank(cosine, np.zeros((3, 3)), 2).ratio == 1
    cosine[0, 2] = cosine[2, 0] = cosine[1, 2] = cosine[2, 1] = 0.5
    # rows 0 and 1 have each other at 0 and row 2 at .5; found the other way round: 0 / .5 and .5 / .5
    far = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    assert rank(cosine, far, 2).ratio == pytest.approx((0 + 1 + 0 + 1 + 1 + 1) / 6)


def test_a_sample_without_a_similar_pair_says_so(tmp_path):
    """Ten texts that share no word: no recall can be told, and nothing says nan."""
    texts = [" ".join(f"w{10 * text + word}" for word in range(10)) for text in range(10)]
    pq.write_table(pa.table({"id": range(10), "text": texts}), tmp_path / "texts.parquet")
    words = ["evaluate", "signatures", str(tmp_path / "texts.parquet"), "-o", str(tmp_path / "out")]
    specs = ["--spec", "simhash:bits=64", "--spec", "topsig", "--spec", "p-stable", "--spec", "svd:dimensions=2"]
    run = CliRunner().invoke(sosie, [*words, *specs])
    assert run.exit_code == 0, run.output
    assert "radius of balance: no pair of the sample is similar: take a larger sample, or a lower cosine" in run.output
    assert "no pair / nothing found at 0.9" in run.output and "no two documents of the sample share a key" in run.output
    page = (tmp_path / "out" / "signatures.html").read_text()
    said = (tmp_path / "out" / "signatures.json").read_text()
    assert "No pair of the sample is similar" in page
    for text in (run.output, page, said):
        assert not re.search(r"\b(nan|inf|infinity)\b", text, re.IGNORECASE)
    simhash, _, keys, _ = json.loads(said)["specs"]
    assert set(simhash["radius"]["recall"]) == {None} and simhash["ranking"]["ratio"] is not None
    assert set(keys["found"]["recall"]) == set(keys["found"]["precision"]) == {None}
    assert keys["found"]["reduction"] is None and keys["found"]["similar"] == [0] * 6


def test_every_family_is_measured(texts):
    truth = Truth(sample=40, nearest=3)
    small = {"svd": "svd:dimensions=5", "threshold": "threshold:dimensions=5"}
    specs = [parse_spec(text) for text in (*default_specs(truth), *small.values())]
    for quality in evaluate_signatures(specs, texts, truth):
        assert quality.documents == 40 and quality.seconds > 0
        if quality.found is None:
            assert 0 < quality.ranking.recall <= 1 and quality.radius.pairs.sum() == 40 * 39 // 2
        else:
            assert quality.ranking is None and quality.found.recall[-1] > 0.5


def test_more_bits_are_better(texts):
    truth = Truth(sample=60, nearest=1)
    few, many = evaluate_signatures([Simhash(bits=16), Simhash(bits=2048)], texts, truth)
    assert many.error.error[0] < few.error.error[0]
    assert many.ranking.recall >= few.ranking.recall


def test_what_cannot_be_measured_is_refused(texts):
    with pytest.raises(UsageError, match="have words"):
        evaluate_signatures([Simhash()], ["one text", "..."], Truth())
    with pytest.raises(UsageError, match="at least 2"):
        Truth(sample=1)


def test_on_the_command_line(texts, tmp_path):
    pq.write_table(pa.table({"id": range(60), "text": texts}), tmp_path / "texts.parquet")
    words = ["evaluate", "signatures", str(tmp_path / "texts.parquet"), "--sample", "50", "-k", "2"]
    run = CliRunner().invoke(
        sosie, [*words, "--spec", "simhash:bits=128", "--spec", "p-stable", "-o", str(tmp_path / "out")]
    )
    assert run.exit_code == 0, run.output
    assert "simhash:bits=128" in run.output and "recall / precision at similarity" in run.output
    said = json.loads((tmp_path / "out" / "signatures.json").read_text())
    assert said["truth"]["sample"] == 50 and [row["spec"]["method"] for row in said["specs"]] == ["simhash", "p-stable"]
    assert said["specs"][0]["spec"]["shingles"] == Shingles(1).to_dict()
    assert all(math.isfinite(value) for value in said["specs"][0]["error"]["error"] if value is not None)
    assert (tmp_path / "out" / "signatures.html").read_text().count("<polyline") >= 4
    wrong = CliRunner().invoke(sosie, [*words, "--spec", "simhash:rows=2"])
    assert isinstance(wrong.exception, UsageError)
