"""The main job, end to end: the right documents go, the others stay, however the work is cut."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import oracle, oracle_text

import sosie
from sosie import Deduplicator, Exact, Minhash, Shingles, Simhash, Source, UsageError
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.result import load_result
from sosie.evaluation.sampling.sample import sampled_recall
from sosie.evaluation.truth import agreement
from sosie.signatures.registry import METHODS
from sosie.storage.resident import mapping_of

SPECIAL = [
    "",
    "  \n",
    "?!",
    "One",
    "one!",
    "ONE two",
    "\u4eba\u4eba\u751f\u800c\u81ea\u7531",
    "\u4eba\u4eba\u751f\u800c\u81ea\u7531\u3002",
    "Stra\u00dfe und Bahn am Morgen",
    "STRASSE UND BAHN AM MORGEN",
    "",
]


@pytest.fixture(scope="module")
def documents() -> list[dict]:
    """Planted near-duplicates of several strengths between texts without words, of one word and in other scripts."""
    corpus = PlantedCorpus(documents=260, copies=0.6, seed=5)
    texts = corpus.texts(np.arange(260)).to_pylist()
    texts += [text + " and more" for text in texts[::9]] + [texts[0]] * 4
    order = np.random.default_rng(1).permutation(len(texts))
    texts = [texts[i] for i in order]
    for place, text in enumerate(SPECIAL):
        texts.insert(17 * place, text)
    return [{"id": f"doc-{i}", "text": text, "number": i} for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def table(documents):
    return pa.Table.from_pylist(documents)


def outcome(result) -> dict:
    """Everything that must not depend on how the work was cut."""
    return {
        "kept": result.kept.to_pylist(),
        "mask": result.mask.tolist(),
        "dropped": result.dropped.to_pylist(),
        "pairs": result.pairs.to_pylist(),
        "clusters": result.clusters.to_pylist(),
        **{name: result.report[name] for name in ("counts", "counters", "features", "warnings", "predicted_recall")},
    }


def expected_anchors(texts, threshold: Fraction, keep: str) -> list[int]:
    """The kept document of each, straight from the definitions, over one representative of identical sets."""
    sets = [oracle_text.evidence(text, 3, "word") for text in texts]
    order = sorted(range(len(texts)), key=lambda i: (-len(texts[i].encode()) if keep == "longest" else 0, i))
    rank = [order.index(i) for i in range(len(texts))]
    groups = oracle.identical_groups(sets, rank)
    first = [group[0] for group in groups]
    similarity = {
        (a, b): similar
        for b in range(len(first))
        for a in range(b)
        if (similar := oracle.jaccard(sets[first[a]], sets[first[b]])) >= threshold
    }
    anchor = list(range(len(texts)))
    for group, leader in zip(groups, oracle.anchors(len(groups), similarity), strict=True):
        for row in group:
            anchor[row] = first[leader]
    return anchor


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("threshold", ["4/5", "1/2", 1])
def test_the_right_documents_go(documents, table, keep, threshold):
    texts = [row["text"] for row in documents]
    result = sosie.dedup(table, threshold, keep=keep)
    anchor = expected_anchors(texts, Fraction(threshold), keep)
    assert result.grouped.anchor.tolist() == anchor
    assert result.mask.tolist() == [row == leader for row, leader in enumerate(anchor)]
    sets = [oracle_text.evidence(text, 3, "word") for text in texts]
    for row in result.dropped.to_pylist():
        a, b = (int(row[name].removeprefix("doc-")) for name in ("id", "duplicate_of"))
        assert result.mask[b] and row["similarity"] == float(oracle.jaccard(sets[a], sets[b])) >= Fraction(threshold)
        assert keep == "first" or len(texts[b].encode()) >= len(texts[a].encode())
    found = list(zip(result.found.a.tolist(), result.found.b.tolist(), strict=True))
    assert found == oracle.similar_pairs(sets, Fraction(threshold))
    wordless = [row for row, text in enumerate(texts) if not oracle_text.words(text)]
    assert len(wordless) == 4 and [texts[row] for row in wordless if not result.mask[row]] == [""]
    assert {row for pair in found for row in pair} & set(wordless) == {row for row in wordless if texts[row] == ""}


def test_transitive_clusters_are_the_connected_components(documents, table):
    sets = [oracle_text.evidence(row["text"], 3, "word") for row in documents]
    pairs = oracle.similar_pairs(sets, Fraction(3, 5))
    result = sosie.dedup(table, 0.6, clusters="transitive")
    first = oracle.components(len(sets), pairs)
    assert result.grouped.anchor.tolist() == first
    similarity = [1.0 if row == a else float(oracle.jaccard(sets[row], sets[a])) for row, a in enumerate(first)]
    assert result.grouped.similarity.tolist() == similarity


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_threads_and_batches_never_matter(table, method):
    expected = outcome(sosie.dedup(table, 0.7, method=method, threads=1))
    assert expected["dropped"] and expected["counts"]["clusters"] > 10
    for threads, batch_size in ((2, 1), (7, 50), (2, 1000)):
        assert (
            outcome(sosie.dedup(Source(table, batch_size=batch_size), 0.7, method=method, threads=threads)) == expected
        )


@pytest.mark.parametrize("cuts", [[], [1], [100, 101], list(range(0, 300, 23))])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_any_number_of_files_gives_one_result(documents, table, tmp_path, cuts, form):
    edges = [0, *cuts, len(documents)]
    for number, (start, stop) in enumerate(pairwise(edges)):
        path = tmp_path / f"part-{number:03}.{form}"
        if form == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in documents[start:stop]), "utf-8")
        else:
            pq.write_table(table.slice(start, stop - start), path)
    result = sosie.dedup(str(tmp_path / "*"), 0.7, keep="longest")
    assert outcome(result) == outcome(sosie.dedup(table, 0.7, keep="longest"))
    assert [place["documents"] for place in result.report["inputs"]] == np.diff(edges).tolist()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_features_on_disk_give_the_same_result(table, method, monkeypatch, tmp_path):
    expected = outcome(sosie.dedup(table, 0.7, method=method))
    monkeypatch.setattr("sosie.planner.memory.SPILL", 0)
    before = open_files() if os.path.isdir("/proc/self/fd") else 0
    for output in (None, tmp_path / "out"):
        spilled = sosie.dedup(Source(table, batch_size=30), 0.7, method=method, output=output)
        assert outcome(spilled) == expected
    assert not before or open_files() <= before


def test_tables(table):
    result = sosie.dedup(table, 0.7)
    assert result.dropped.column_names == ["id", "duplicate_of", "similarity"]
    assert result.pairs.column_names == ["a", "b", "similarity"]
    assert result.clusters.column_names == ["id", "cluster", "size", "kept", "similarity"]
    numbers, clusters = result.report["counts"], result.clusters.to_pylist()
    assert numbers["documents"] == table.num_rows == len(result.mask)
    assert numbers["kept"] == len(result.kept) == sum(result.mask)
    assert numbers["dropped"] == result.dropped.num_rows
    assert numbers["documents"] == numbers["kept"] + numbers["dropped"] + numbers["rejected"]
    assert numbers["pairs"] == result.pairs.num_rows
    assert numbers["clusters"] == len({row["cluster"] for row in clusters})
    assert numbers["largest_cluster"] == max(row["size"] for row in clusters)
    by_cluster: dict[int, list[dict]] = {}
    for row in clusters:
        by_cluster.setdefault(row["cluster"], []).append(row)
    assert list(by_cluster) == list(range(len(by_cluster)))
    duplicate_of = {row["id"]: row for row in result.dropped.to_pylist()}
    for members in by_cluster.values():
        assert [row["kept"] for row in members] == [True] + [False] * (len(members) - 1)
        assert {row["size"] for row in members} == {len(members)} and len(members) > 1
        for row in members[1:]:
            assert duplicate_of[row["id"]]["duplicate_of"] == members[0]["id"]
            assert duplicate_of[row["id"]]["similarity"] == row["similarity"]


def test_output_jsonl(documents, tmp_path):
    lines = [json.dumps(row, ensure_ascii=row["number"] % 2 == 0) + " " * (row["number"] % 3) for row in documents]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    out = tmp_path / "out"
    result = sosie.dedup(tmp_path / "in.jsonl", 0.7, output=out)
    assert sorted(path.name for path in out.iterdir()) == [
        *(".sosie", "clusters.parquet", "dropped", "kept", "pairs.parquet", "report.html", "report.json")
    ]
    kept = (out / "kept" / "in.jsonl").read_text("utf-8").splitlines()
    assert kept == [line for line, stays in zip(lines, result.mask, strict=True) if stays]  # byte for byte
    dropped = [json.loads(line) for line in (out / "dropped" / "in.jsonl").read_text("utf-8").splitlines()]
    assert [
        {"id": row["id"], "duplicate_of": row["duplicate_of"], "similarity": row["similarity"]} for row in dropped
    ] == (result.dropped.to_pylist())
    originals = [{name: row[name] for name in ("id", "text", "number")} for row in dropped]
    assert sorted([*map(json.loads, kept), *originals], key=lambda row: row["number"]) == documents
    assert pq.read_table(out / "pairs.parquet").to_pylist() == result.pairs.to_pylist()
    assert pq.read_table(out / "clusters.parquet").to_pylist() == result.clusters.to_pylist()


def test_output_parquet_from_memory(documents, table, tmp_path):
    result = sosie.dedup(table, 0.7, output=tmp_path / "out")
    (kept,), (dropped,) = (list((tmp_path / "out" / name).iterdir()) for name in ("kept", "dropped"))
    stays, goes = pq.read_table(kept), pq.read_table(dropped)
    assert stays.equals(table.filter(pa.array(result.mask)))
    assert goes.column_names == [*table.column_names, "duplicate_of", "similarity"]
    assert goes.select(table.column_names).equals(table.filter(pa.array(~result.mask)))
    assert goes.select(["id", "duplicate_of", "similarity"]).to_pylist() == result.dropped.to_pylist()


def test_report(table, tmp_path):
    result = sosie.dedup(table, 0.7, method="minhash", keep="longest", output=tmp_path / "out", threads=2)
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report == result.report
    assert (report["format"], report["version"], report["threads"]) == ("sosie-report", 1, 2)
    method = Minhash.for_threshold(0.7)
    assert report["parameters"] == {
        "threshold": 0.7,
        "similarity": "jaccard",
        "method": {**method.to_dict(), "digest": method.digest},
        "keep": "longest",
        "clusters": "anchored",
        "text_column": "text",
        "id_column": "id",
        "annotate": False,
        "wordless": "identical",
    }
    assert report["predicted_recall"] == pytest.approx(method.recall(0.7), abs=1e-6)
    stages = ["read", "collapse", "match", "verify", "cluster", "check", "write"]
    assert [stage["stage"] for stage in report["stages"]] == stages
    assert report["measured"]["sampled"] == report["measured"]["documents"] == len(table)
    found = [report["measured"][name] for name in ("true_pairs", "found_pairs", "wrong_pairs", "missed")]
    assert found == [report["counts"]["pairs"], report["counts"]["pairs"], 0, 0]
    assert all(stage["seconds"] >= 0 and stage["peak_memory_bytes"] > 0 for stage in report["stages"])
    assert report["counts"]["without_features"] == 4
    assert (
        report["counts"]["pairs"] <= report["counters"]["candidates"] + report["counters"]["identical_documents"] ** 2
    )
    assert any("without words" in warning for warning in report["warnings"])


def test_rejected_records_are_counted_and_nothing_is_lost(documents, tmp_path):
    lines = [json.dumps(row) for row in documents[:60]]
    for place, bad in ((0, "{"), (13, '{"id": "x"}'), (30, json.dumps(documents[3])), (63, '{"id": "y", "text": 5}')):
        lines.insert(place, bad)
    (tmp_path / "in.jsonl").write_text("\n".join(lines), "utf-8")
    with pytest.raises(sosie.DataError, match=r"in\.jsonl, line 1: .*--on-error skip"):
        sosie.dedup(tmp_path / "in.jsonl", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result = sosie.dedup(Source(tmp_path / "in.jsonl", on_error="skip"), 0.7, output=tmp_path / "out")
    clean = sosie.dedup(pa.Table.from_pylist(documents[:60]), 0.7)
    assert result.kept.to_pylist() == clean.kept.to_pylist()
    assert result.dropped.to_pylist() == clean.dropped.to_pylist()
    numbers = result.report["counts"]
    assert numbers["rejected"] == 4 and numbers["documents"] == 64 == numbers["kept"] + numbers["dropped"] + 4
    rejected = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text("utf-8").splitlines()]
    assert [row["line"] for row in rejected] == [1, 14, 31, 64]
    assert [row["raw"] for row in rejected] == [lines[row["line"] - 1] for row in rejected]


def test_nothing_and_almost_nothing():
    empty = pa.table({"text": pa.array([], pa.string())})
    for method in ("auto", "exact", "minhash", "simhash"):
        result = sosie.dedup(empty, method=method)
        assert (
            len(result.kept) == 0 and result.dropped.num_rows == result.pairs.num_rows == result.clusters.num_rows == 0
        )
        result = sosie.dedup(pa.table({"text": ["", "...", "\n"]}), method=method)
        assert result.kept.to_pylist() == [0, 1, 2] and result.report["counts"]["without_features"] == 3
        assert sosie.dedup(pa.table({"text": ["a"]}), method=method).mask.tolist() == [True]
        assert sosie.dedup(pa.table({"text": ["a", "A!"]}), method=method).mask.tolist() == [True, False]


def test_one_text_3000_times():
    """One stays, every other one is verified, and the pairs are written as a star."""
    texts = ["the same words over and over again"] * 3000
    result = sosie.dedup(pa.table({"text": texts}))
    assert result.kept.to_pylist() == [0] and result.report["counts"]["dropped"] == 2999
    assert set(result.dropped["duplicate_of"].to_pylist()) == {0}
    assert len(result.found) == 2999
    counters, warnings = result.report["counters"], result.report["warnings"]
    assert counters["bounded_groups"] == 1 and counters["bounded_pairs"] == 3000 * 2999 // 2 - 2999
    assert counters["identical_documents"] == 2999
    assert any("3,000 of 3,000" in warning for warning in warnings)
    assert any(f"{counters['bounded_pairs']:,} pairs" in warning for warning in warnings)


@pytest.mark.parametrize("method", ["exact", "minhash"])
@pytest.mark.parametrize(("boilerplate", "similar"), [(120, True), (16, False)])
def test_3000_texts_with_one_boilerplate_paragraph(method, boilerplate, similar):
    """Almost only boilerplate: all are alike, one stays. Little boilerplate: none is alike, all stay."""
    paragraph = " ".join(f"legal{i}" for i in range(boilerplate))
    texts = [f"{paragraph} own{i}a own{i}b own{i}c own{i}d own{i}e own{i}f" for i in range(3000)]
    result = sosie.dedup(pa.table({"text": texts}), 0.8, method=method)
    counters = result.report["counters"]
    assert result.kept.to_pylist() == ([0] if similar else list(range(3000)))
    if similar:
        assert set(result.dropped["duplicate_of"].to_pylist()) == {0}
        assert set(result.dropped["similarity"].to_pylist()) == {118 / 130}
        unlisted = 3000 * 2999 // 2 - 2999  # estimated from a sample
        assert counters["bounded_lists"] > 0 and 0.9 * unlisted < counters["unlisted_pairs"] < 1.1 * unlisted
        assert any("others are not" in warning for warning in result.report["warnings"])
        assert counters["pairs"] == 2999 if "pairs" in counters else len(result.found) == 2999
    assert counters["comparisons"] < 3000 * 64 * 30


def test_many_templates():
    """40 templates, each filled 75 times: one document of each stays."""
    texts = [" ".join([f"t{i % 40}w{j}" for j in range(90)] + [f"own{i}", f"other{i}"]) for i in range(3000)]
    result = sosie.dedup(pa.table({"text": texts}), 0.8, method="exact")
    assert result.kept.to_pylist() == list(range(40))
    assert result.grouped.anchor.tolist() == [i % 40 for i in range(3000)]


@pytest.mark.parametrize(("method", "recall"), [("exact", 1), ("minhash", 0.99), ("simhash", 0.97)])
def test_recall_and_precision_on_a_planted_corpus(method, recall):
    corpus = PlantedCorpus(documents=4000, copies=0.4, seed=21)
    result = sosie.dedup(next(corpus.tables()), 0.8, method=method)
    score = agreement(result.found, corpus.pairs(0.8))
    assert score.true > 500
    assert score.precision == 1 and score.recall >= recall
    assert result.report["predicted_recall"] >= recall
    assert result.report["parameters"]["method"]["method"] == method


def test_auto_is_exact_where_memory_allows(table, monkeypatch):
    assert sosie.dedup(table).report["parameters"]["method"]["method"] == "exact"
    monkeypatch.setattr("sosie.planner.methods.exact.physical_memory", lambda: 1000)
    assert sosie.dedup(table).report["parameters"]["method"]["method"] == "minhash"


def test_memory_bounds_the_method_and_refuses_what_cannot_fit():
    job = Deduplicator()
    assert isinstance(job.choose(2 * 10**9, 10**6, 20 * 10**9), Minhash)
    assert isinstance(job.choose(10**8, 10**6, 20 * 10**9), Exact)
    with pytest.raises(UsageError, match=r"100,000,000 documents need about 16.6 GB of memory"):
        job.choose(10**9, 10**8, 10**9)
    with pytest.raises(UsageError, match=r"exact join need about \d+\.\d GB of memory.*minhash"):
        Deduplicator(method="exact").choose(10**10, 10**6, 10**10)
    with pytest.raises(UsageError, match=r"bm25 may need 3\.8 GB of memory to count 100,000,000 features.*weigh by tf"):
        Deduplicator(similarity="cosine", weighting="bm25").choose(10**8, 10**4, 3 * 10**9)


def test_auto_takes_signatures_where_the_lists_and_the_documents_together_do_not_fit():
    features, documents, memory = 10**7, 200_000, 700_000_000
    assert Deduplicator().list_bytes(features, documents) < memory / 2
    assert isinstance(Deduplicator().choose(features, documents, memory), Minhash)


def test_memory_that_no_run_keeps_to_is_refused_before_anything_is_read():
    with pytest.raises(UsageError, match=r"300\.0 MB of memory are too little: allow 600\.0 MB or more"):
        Deduplicator().run("no-such-file.jsonl", memory=300_000_000)


def test_the_documented_least_is_enough_for_a_small_collection(documents, tmp_path):
    """As a new user tries it: the run ends well, and takes no more than it was allowed."""
    said = re.search(r"The least limit is (\d+) MB", (Path(__file__).parents[2] / "docs/guide/memory.md").read_text())
    assert said is not None
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents), "utf-8")
    for number, method in enumerate(("auto", "exact", "minhash", "identical")):
        command = [sys.executable, "-m", "sosie", "dedup", tmp_path / "in.jsonl", "-o", tmp_path / f"out{number}"]
        limits = ["--memory", f"{said[1]}MB", "--method", method, "--json", "--quiet"]
        done = subprocess.run([*command, *limits], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        peak = max(stage["peak_memory_bytes"] for stage in json.loads(done.stdout)["stages"])
        assert peak <= int(said[1]) * 10**6, (method, peak)
    with pytest.raises(UsageError, match="too little"):
        Deduplicator().run("no-such-file.jsonl", memory=int(said[1]) * 10**6 - 1)


def test_pages_of_everything_that_is_mapped_are_given_back(table, monkeypatch):
    """The features, counts and tags of the reference and of the documents, and the weights of both."""
    watched = []
    monkeypatch.setattr("sosie.planner.memory.SPILL", 0)
    monkeypatch.setattr("sosie.jobs.work.within", lambda limit, arrays: nullcontext(watched.extend(arrays)))
    job = Deduplicator(similarity="cosine", weighting="tf")
    job.run(table, against=table, memory=10**9)
    mapped = [array.dtype for array in watched if array is not None and mapping_of(array) is not None]
    assert mapped == ["uint64", "int32", "uint32", "uint64", "int32", "uint32", "float64"]


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_memory_never_changes_the_result(table, method, monkeypatch):
    job = Deduplicator(method=method, threshold=Fraction(1, 2))
    free = job.run(table)
    monkeypatch.setattr("sosie.planner.memory.SPILL", 16)
    monkeypatch.setattr("sosie.planner.memory.FIXED_BYTES", 0)
    monkeypatch.setattr("sosie.documents.bounded.PROGRAM_BYTES", 0)
    assert outcome(job.run(table, memory=10**6)) == outcome(free)


@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_one_of_each_family_stays_where_the_join_is_bounded(method, monkeypatch):
    """Families of up to 60 lookalikes, all similar to each other, in a collection that counts as crowded."""
    monkeypatch.setattr("sosie.matches.sets.partitions.FEW", 0)
    monkeypatch.setattr("sosie.matches.candidates.DENSE", 16)
    rng = np.random.default_rng(7)
    texts, families = [], []
    for family in range(30):
        words = [f"w{word}" for word in rng.integers(0, 10**6, 60)]
        for member in range(20 + family * 40 // 29):
            changed = list(words)
            changed[int(rng.integers(60))] = f"other{member}"
            texts.append(" ".join(changed))
            families.append(family)
    order = rng.permutation(len(texts))
    result = sosie.dedup(pa.table({"text": [texts[i] for i in order]}), 0.75, method=method)
    assert result.report["counters"]["bounded_lists"] > 0 and result.report["predicted_recall"] is None
    kept = [families[order[row]] for row in result.kept.to_pylist()]
    assert sorted(kept) == list(range(30))


def test_a_method_given_as_a_spec_brings_its_shingles(table):
    spec = Minhash.for_threshold(0.5, shingles=Shingles(1))
    job = Deduplicator(threshold=Fraction(1, 2), method=spec)
    assert job.shingles == Shingles(1)
    by_words = sosie.dedup(table, 0.5, method=Exact(shingles=Shingles(1)))
    assert by_words.report["features"] == job.run(table).report["features"] != sosie.dedup(table).report["features"]
    binary = Simhash(bits=512, weighting="binary", shingles=Shingles(1))
    assert (
        outcome(sosie.dedup(table, 0.9, method=binary))["kept"]
        == (outcome(sosie.dedup(table, 0.9, method=Exact(shingles=Shingles(1))))["kept"])
    )


def test_a_threshold_may_be_a_decimal_or_a_fraction(table):
    expected = outcome(sosie.dedup(table, Fraction(4, 5), method="minhash"))
    for threshold in (0.8, "0.8", "4/5"):
        assert outcome(sosie.dedup(table, threshold, method="minhash")) == expected
        assert outcome(Deduplicator(threshold=threshold, method="minhash").run(table)) == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threshold": 0}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"method": "magic"}, "auto, exact, minhash, simhash"),
        ({"method": Simhash()}, "binary"),
        ({"keep": "random"}, "first, longest"),
        ({"clusters": "none"}, "anchored or transitive"),
        ({"threads": 0}, "threads"),
    ],
)
def test_impossible_parameters(table, wrong, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        sosie.dedup(table, output=tmp_path / "out", **wrong)
    assert list(tmp_path.iterdir()) == []


OTHER_SPECS = [
    sosie.FuzzyFingerprint,
    sosie.PStable,
    sosie.RandomProjection,
    sosie.SvdEmbedding,
    sosie.ThresholdEmbedding,
    sosie.TopSig,
]


@pytest.mark.parametrize("method", [*(spec() for spec in OTHER_SPECS), Minhash, None, 7], ids=str)
def test_a_method_that_dedup_does_not_know_is_refused_before_anything_is_read(method):
    with pytest.raises(
        UsageError, match=r"dedup matches by Exact\(\), Minhash\(\), Simhash\(\), Identical\(\), or one of auto, .*got "
    ):
        sosie.dedup("no-such-file.jsonl", method=method)


def test_every_spec_is_one_that_dedup_knows_or_refuses():
    known = {"Minhash", "Simhash"}
    assert {kind.__name__ for kind in METHODS.values()} == known | {kind.__name__ for kind in OTHER_SPECS}


def test_an_output_is_replaced_only_on_request(table, tmp_path):
    out = tmp_path / "out"
    sosie.dedup(table, 0.5, output=out)
    first = (out / "report.json").read_bytes()
    with pytest.raises(UsageError, match="not empty"):
        sosie.dedup(table, 0.9, output=out)
    assert (out / "report.json").read_bytes() == first
    Deduplicator(threshold=Fraction(9, 10)).run(table, output=out, overwrite=True)
    assert json.loads((out / "report.json").read_bytes())["parameters"]["threshold"] == 0.9
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_progress_is_told_what_happens(table):
    events = []

    class Listener:
        def start(self, stage, total):
            events.append(("start", stage))

        def expect(self, total):
            events.append(("expect", total))

        def advance(self, count):
            events.append(("advance", count))

        def finish(self):
            events.append(("finish", ""))

    Deduplicator().run(table, progress=Listener())
    assert [stage for kind, stage in events if kind == "start"] == ["read", "collapse", "match", "verify", "cluster"]
    assert sum(count for kind, count in events if kind == "advance") == table.num_rows
    assert sum(kind == "finish" for kind, _ in events) == 5
    assert {total for kind, total in events if kind == "expect"} == {table.num_rows}


def test_copies_of_lookalikes_make_a_bounded_number_of_pairs(tmp_path, monkeypatch):
    """Ten versions with sixty copies each: written as stars, and the recall that is measured knows it."""
    monkeypatch.setattr("sosie.matches.sets.partitions.FEW", 0)
    words = [f"w{i}" for i in range(60)]
    versions = [" ".join([*words[:i], "x", *words[i:]]) for i in range(10)]
    result = sosie.dedup(pa.table({"text": versions * 60}), 0.7, output=tmp_path / "out")
    assert result.report["counters"]["bounded_above"] == 1
    assert len(result.found) + result.report["counters"]["bounded_pairs"] == 600 * 599 // 2
    assert len(result.found) == 10 * 59 + 45 * 119
    assert result.report["measured"]["recall"] == 1 and result.report["counts"]["kept"] == 1
    assert any("Groups of more than 1 identical rows" in warning for warning in result.report["warnings"])
    again = sampled_recall(load_result(tmp_path / "out"), Source(pa.table({"text": versions * 60})))
    assert again.found_pairs == again.true_pairs > 0
