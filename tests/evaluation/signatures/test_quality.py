"""Every measure for any spec on one sample, by library and command line."""

import json
import math

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
    hits, got, best = 0, 0.0, 0.0
    for row in range(9):
        others = [other for other in range(9) if other != row]
        true = sorted(1 - cosine[row, other] for other in others)[:3]
        near = sorted(others, key=lambda other: (far[row, other], other))[:3]
        hits += sum(1 - cosine[row, other] <= true[-1] + 1e-9 for other in near)
        got, best = got + sum(1 - cosine[row, other] for other in near), best + sum(true)
    assert found.recall == pytest.approx(hits / 27) and found.ratio == pytest.approx(best / got)
    assert rank(cosine, 1 - cosine, 3).recall == 1 and rank(cosine, 1 - cosine, 3).ratio == pytest.approx(1)


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
