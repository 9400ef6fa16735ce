"""The main job by every measure and weighting, held against its definition."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie import Deduplicator, Exact, Minhash, Output, Shingles, Simhash, UsageError
from sosie.cli import sosie as cli
from sosie.evaluation.planted import PlantedCorpus

WORDS = [f"w{i}" for i in range(6)]
ids = {word: int(Shingles(1).extract([word]).hashes[0]) for word in WORDS}
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=7), max_size=8)


def similarity(measure, a, b):
    if not a or not b:
        return 0
    shared = len(a.keys() & b.keys())
    if measure == "jaccard":
        return Fraction(shared, len(a.keys() | b.keys()))
    if measure == "containment":
        return Fraction(shared, min(len(a), len(b)))
    dot = sum(a[word] * b[word] for word in a.keys() & b.keys())
    return dot / math.sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))


@settings(deadline=None, max_examples=80)
@given(texts=documents, measure=st.sampled_from(["jaccard", "cosine", "containment"]), data=st.data())
def test_the_definition(texts, measure, data):
    weighting = data.draw(st.sampled_from(["binary", "tf", "tf-idf", "bm25"])) if measure == "cosine" else "binary"
    threshold = data.draw(st.sampled_from([Fraction(1, 3), Fraction(11, 20), Fraction(9, 10), Fraction(1)]))
    counts = [Counter(ids[word] for word in text) for text in texts]
    exact = [oracle.weights(row, weighting, counts) for row in counts]
    rows = [{feature: round(weight * 2**16) / 2**16 for feature, weight in row.items()} for row in exact]
    job = Deduplicator(threshold=threshold, shingles=Shingles(1), similarity=measure, weighting=weighting)
    table = pa.table({"text": pa.array([" ".join(text) for text in texts], pa.string())})
    result = job.run(table)
    rows = [weights or {"nothing": 1.0} for weights in rows]  # documents without words are identical here
    kept, dropped = [], {}
    for row, weights in enumerate(rows):
        if weights and weights in rows[:row]:  # documents with the same features go together
            dropped[row] = dropped.get(rows.index(weights), 1.0)
            continue
        near = {other: float(similarity(measure, weights, rows[other])) for other in kept}
        near = {other: value for other, value in near.items() if value >= float(threshold) - 1e-12}
        if near:
            dropped[row] = max(near.values())
        else:
            kept.append(row)
    assert result.kept.to_pylist() == kept
    found = {row["id"]: row["similarity"] for row in result.dropped.to_pylist()}
    assert found == pytest.approx(dropped, abs=1e-9)
    assert result.report["parameters"]["similarity"] == measure
    assert result.report["parameters"].get("weighting") == (weighting if measure == "cosine" else None)


@pytest.mark.parametrize(
    ("method", "weighting"), [("minhash", "binary"), ("simhash", "binary"), ("simhash", "tf-idf"), ("auto", "tf-idf")]
)
def test_the_cosine_by_every_method(method, weighting):
    table = next(PlantedCorpus(2000, copies=0.4, seed=2).tables())
    job = Deduplicator(method=method, similarity="cosine", weighting=weighting, threshold=Fraction(9, 10))
    exact = Deduplicator(method="exact", similarity="cosine", weighting=weighting, threshold=Fraction(9, 10)).run(table)
    found, true = (set(zip(run.found.a.tolist(), run.found.b.tolist(), strict=True)) for run in (job.run(table), exact))
    assert found <= true and len(found) >= 0.97 * len(true) > 300


def test_a_quotation_is_contained(tmp_path):
    rng = np.random.default_rng(1)
    pages = [" ".join(f"x{word}" for word in rng.integers(0, 9000, 400)) for _ in range(50)]
    quotes = [" ".join(page.split()[100:160]) for page in pages[:20]]
    table = pa.table({"text": [*pages, *quotes]})
    result = Deduplicator(similarity="containment").run(table, output=tmp_path / "out")
    assert result.kept.to_pylist() == list(range(50))
    assert result.dropped["duplicate_of"].to_pylist() == list(range(20))
    assert result.report["measured"]["recall"] == 1
    assert "containment" in (tmp_path / "out" / "report.html").read_text()
    assert Deduplicator().run(table).report["counts"]["dropped"] == 0


def test_what_is_refused():
    with pytest.raises(UsageError, match="weights are for the cosine; jaccard compares sets"):
        Deduplicator(weighting="tf")
    with pytest.raises(UsageError, match="measure must be jaccard, cosine or containment"):
        Deduplicator(similarity="dice")
    with pytest.raises(UsageError, match="weighting must be one of binary, tf"):
        Deduplicator(similarity="cosine", weighting="idf")
    with pytest.raises(UsageError, match=r"pass Simhash\(weighting='binary'\)"):
        Deduplicator(method=Simhash())
    with pytest.raises(UsageError, match="cannot find containment: use --method exact"):
        Deduplicator(similarity="containment", method="minhash")
    with pytest.raises(UsageError, match="simhash cannot find containment"):
        Deduplicator(similarity="containment", method=Simhash(weighting="binary"))
    with pytest.raises(UsageError, match="minhash compares sets, not weights"):
        Deduplicator(similarity="cosine", weighting="tf", method="minhash")


def test_auto_knows_the_measure(monkeypatch):
    monkeypatch.setattr("sosie.planner.methods.exact.physical_memory", lambda: 1000)
    assert isinstance(Deduplicator(similarity="containment").choose(10**6, 10**4), Exact)
    weighted = Deduplicator(similarity="cosine", weighting="tf").choose(10**6, 10**4)
    assert isinstance(weighted, Simhash) and weighted.weighting == "tf"
    sets = Deduplicator(similarity="cosine", threshold=Fraction(9, 10)).choose(10**6, 10**4)
    assert isinstance(sets, Minhash) and sets.recall(0.81) >= 0.999


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = next(PlantedCorpus(300, copies=0.5, seed=4).tables()).to_pylist()
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def run(*arguments):
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_evaluate_knows_the_measure(folder):
    run("dedup", "in.jsonl", "-o", "out", "--similarity", "cosine", "--weighting", "tf-idf", "--threshold", "0.9")
    said = json.loads(run("evaluate", "out", "--sample", "300", "--json"))
    assert said["sample"]["recall"] == 1 if "sample" in said else said["recall"] == 1


def test_annotate(folder):
    run("dedup", "in.jsonl", "-o", "out", "--annotate")
    run("dedup", "in.jsonl", "-o", "plain")
    lines = [json.loads(line) for line in Path("out/annotated/in.jsonl").read_text().splitlines()]
    assert [(line["id"], line["text"]) for line in lines] == [(row["id"], row["text"]) for row in folder]
    dropped = [json.loads(line) for line in Path("plain/dropped/in.jsonl").read_text().splitlines()]
    assert not Path("out/kept").exists() and not Path("out/dropped").exists()
    gone = [{key: line[key] for key in dropped[0]} for line in lines if not line["kept"]]
    assert gone == dropped
    clusters = pq.read_table("out/clusters.parquet").to_pylist()
    assert {line["id"]: line["cluster"] for line in lines if line["cluster"] is not None} == {
        row["id"]: row["cluster"] for row in clusters
    }


def test_annotate_against_a_reference(folder):
    result = Deduplicator().run("in.jsonl", against="in.jsonl", output=Output("out", annotate=True))
    lines = [json.loads(line) for line in Path("out/annotated/in.jsonl").read_text().splitlines()]
    assert {line["duplicate_in"] for line in lines} == {"reference"} and not any(line["kept"] for line in lines)
    assert result.report["counts"]["dropped_against"] == 300
