"""Documents held against a reference: only they are dropped, what matched is named, and the reference stays."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie import Deduplicator, MismatchError, Output, Reference, Shingles, Simhash, Source, StorageError, UsageError
from sosie.cli import sosie as cli
from sosie.signatures.files import save_signatures

WORDS = [f"w{i}" for i in range(7)]


def table(texts, prefix):
    ids = [f"{prefix}{i}" for i in range(len(texts))]
    return pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string())})


def text_of(words):
    return " ".join(WORDS[word] for word in words)


def definition(new, reference, threshold, only):
    """Who goes and because of whom, written down: the reference first, then new documents in their order."""
    sets = [frozenset(text.split() or [text]) for text in [*reference, *new]]
    count = len(reference)
    kept, dropped = list(range(count)), {}
    for row in range(count, len(sets)):
        best = None
        twin = next((other for other in range(count, row) if sets[other] and sets[other] == sets[row]), None)
        if twin is not None and not only:  # documents with the same shingles go together
            dropped[f"n{row - count}"] = dropped.get(f"n{twin - count}", f"n{twin - count}")
            continue
        for other in kept:
            if only and other >= count:
                continue
            similarity = oracle.jaccard(sets[row], sets[other])
            if sets[row] and similarity >= threshold and (best is None or similarity > best[0]):
                best = (similarity, other)
        if best is None:
            kept.append(row)
        else:
            other = best[1]
            dropped[f"n{row - count}"] = f"r{other}" if other < count else f"n{other - count}"
    return dropped


documents = st.lists(st.lists(st.integers(0, 6), max_size=6).map(text_of), max_size=7)


@settings(deadline=None, max_examples=60)
@given(new=documents, reference=documents, threshold=st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1)]))
def test_the_definition(new, reference, threshold):
    job = Deduplicator(threshold=threshold, shingles=Shingles(1))
    for only in (False, True):
        result = job.run(table(new, "n"), against=Reference(table(reference, "r"), only=only))
        found = {row["id"]: row["duplicate_of"] for row in result.dropped.to_pylist()}
        assert found == definition(new, reference, threshold, only)
        assert result.report["counts"]["documents"] == len(new)
        assert result.report["counts"]["kept"] + result.report["counts"]["dropped"] == len(new)
        sides = {row["id"]: row["duplicate_in"] for row in result.dropped.to_pylist()}
        assert sides == {a: "reference" if b.startswith("r") else "documents" for a, b in found.items()}
        assert result.report["counts"]["dropped_against"] == list(sides.values()).count("reference")
        pairs = {(row["a"], row["b"]): row["reference"] for row in result.pairs.to_pylist()}
        assert pairs == expected_pairs(new, reference, threshold, only)


def expected_pairs(new, reference, threshold, only):
    sets = {f"n{i}": frozenset(text.split() or [text]) for i, text in enumerate(new)}
    sets |= {f"r{i}": frozenset(text.split() or [text]) for i, text in enumerate(reference)}
    similar = [
        pair for pair in combinations(sets, 2) if sets[pair[0]] and oracle.jaccard(*map(sets.get, pair)) >= threshold
    ]
    listed = [(a, b) for a, b in similar if a.startswith("n") and (b.startswith("r") or not only)]
    return {(a, b): b.startswith("r") for a, b in listed}


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("clusters", ["anchored", "transitive"])
def test_every_method_and_kind_of_cluster(method, clusters):
    rng = np.random.default_rng(3)
    originals = [" ".join(f"x{word}" for word in rng.integers(0, 5000, 60)) for _ in range(40)]
    edited = [text.rsplit(" ", 1)[0] + f" other{i}" for i, text in enumerate(originals)]
    new = table([*edited[:20], *originals[20:], *edited[20:]], "n")
    result = Deduplicator(method=method, clusters=clusters).run(new, against=table(originals[:20], "r"))
    assert result.kept.to_pylist() == [f"n{i}" for i in range(20, 40)]
    dropped = {row["id"]: row["duplicate_of"] for row in result.dropped.to_pylist()}
    assert dropped == {f"n{i}": f"r{i}" for i in range(20)} | {f"n{i + 20}": f"n{i}" for i in range(20, 40)}
    assert result.report["counts"]["dropped_against"] == 20 and result.report["counts"]["clusters"] == 40


def test_a_chain_of_the_reference_stays_whole():
    """Documents of the reference are similar to each other, and a document to the second only."""
    reference = ["a b c d e f g h", "a b c d e f x y", "a b c z u x y v"]
    result = Deduplicator(threshold=Fraction(1, 2), shingles=Shingles(1)).run(
        table(["a b c z u x y w"], "n"), against=table(reference, "r")
    )
    assert result.dropped.to_pylist()[0]["duplicate_of"] == "r2"
    clusters = result.clusters.to_pylist()
    assert [(row["id"], row["size"], row["kept"], row["reference"]) for row in clusters] == [
        ("r2", 2, True, True),
        ("n0", 2, False, False),
    ]


def test_ids_of_two_types_become_text():
    new = pa.table({"id": [7, 8, 9], "text": ["one two three", "four five six", "four five six"]})
    result = Deduplicator().run(new, against=pa.table({"id": ["r"], "text": ["one two three"]}))
    assert result.dropped["duplicate_of"].to_pylist() == ["r", "8"]
    both = Deduplicator().run(new, against=new)
    assert both.dropped["duplicate_of"].to_pylist() == [7, 8, 8] and both.report["counts"]["kept"] == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"the number {i} and what follows from it is {i * i} in every way" for i in range(30)]
    lines = [json.dumps({"id": f"n{i}", "text": text}) for i, text in enumerate([*texts, texts[3]])]
    Path("new.jsonl").write_text("\n".join(lines) + "\n")
    old = [json.dumps({"id": f"r{i}", "text": text}) for i, text in enumerate(texts[:9])]
    Path("old.jsonl").write_text("\n".join(old))
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(cli, list(arguments))
    return done.exit_code, done.output, done.exception


def test_the_command_line(folder):
    code, said, _ = run("dedup", "new.jsonl", "--against", "old.jsonl", "-o", "out")
    assert code == 0 and "10 of them because of the reference" in said
    dropped = [json.loads(line) for line in Path("out/dropped/new.jsonl").read_text().splitlines()]
    assert [row["duplicate_of"] for row in dropped] == [f"r{i}" for i in range(9)] + ["r3"]
    assert {row["duplicate_in"] for row in dropped} == {"reference"}
    assert len(Path("out/kept/new.jsonl").read_text().splitlines()) == 21
    report = json.loads(Path("out/report.json").read_text())
    assert report["against"] == {"inputs": ["old.jsonl"], "documents": 9, "rejected": 0, "only": False}
    assert report["measured"]["recall"] == 1 and report["measured"]["documents"] == 31  # without the reference
    page = Path("out/report.html").read_text()
    assert "10 documents went because of a similar one among the 9 of the reference" in page and "reference: " in page
    assert pq.read_table("out/clusters.parquet")["reference"].to_pylist().count(True) == 9


def test_only_the_reference(folder):
    Path("more.jsonl").write_text('{"id": "m", "text": "nothing like that"}\n')
    code, _, _ = run("dedup", "new.jsonl", "--against", "more.jsonl", "--against-only", "-o", "out", "--quiet")
    assert code == 0 and Path("out/kept/new.jsonl").read_bytes() == Path("new.jsonl").read_bytes()


def test_a_saved_reference(folder):
    assert run("sign", "old.jsonl", "-o", "signed", "--features", "--quiet")[0] == 0
    assert run("dedup", "new.jsonl", "--against", "signed", "-o", "a", "--quiet")[0] == 0
    assert run("dedup", "new.jsonl", "--against", "old.jsonl", "-o", "b", "--quiet")[0] == 0
    for name in ("kept/new.jsonl", "dropped/new.jsonl", "pairs.parquet", "clusters.parquet"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()
    assert "(its text is not at hand)" in re.sub("<[^>]*>", "", Path("a/report.html").read_text())


def test_what_a_saved_reference_lacks(folder):
    save_signatures("bare", Simhash().fit().sign(["a b c"]), Simhash())
    with pytest.raises(StorageError, match=r"holds no features .* --features"):
        Deduplicator().run("new.jsonl", against="bare")
    assert run("sign", "old.jsonl", "-o", "wide", "--features", "--width", "5", "--quiet")[0] == 0
    with pytest.raises(MismatchError, match=r"holds features of Shingles\(width=5"):
        Deduplicator().run("new.jsonl", against="wide")
    assert run("sign", "old.jsonl", "-o", "signed", "--features", "--quiet")[0] == 0
    with pytest.raises(UsageError, match="holds no term counts"):
        Deduplicator(similarity="cosine", weighting="tf").run("new.jsonl", against="signed")
    code, _, error = run("dedup", "new.jsonl", "--against", "signed", "--against", "old.jsonl", "-o", "out")
    assert code and "can be the only --against" in str(error)
    code, _, error = run("dedup", "new.jsonl", "--against-only", "-o", "out")
    assert code and "needs a reference" in str(error)


def test_the_reference_may_not_lie_in_the_output(folder):
    Path("out").mkdir()
    Path("old.jsonl").rename("out/old.jsonl")
    with pytest.raises(UsageError, match="holds inputs of this run"):
        Deduplicator().run("new.jsonl", against="out/old.jsonl", output=Output("out", overwrite=True))


def test_a_bad_reference_is_named(folder):
    Path("bad.jsonl").write_text('{"id": "r", "text": 3}\n')
    with pytest.raises(Exception, match=r"bad.jsonl, line 1: 'text' is a number"):
        Deduplicator().run("new.jsonl", against="bad.jsonl")
    result = Deduplicator().run("new.jsonl", against=Source("bad.jsonl", on_error="skip"), output="out")
    assert result.report["against"]["rejected"] == 1 and result.report["counts"]["rejected"] == 0
    assert not Path("out/rejected.jsonl").exists()


def test_an_empty_reference_changes_nothing(folder):
    alone = Deduplicator().run("new.jsonl")
    against = Deduplicator().run("new.jsonl", against=table([], "r"))
    assert against.mask.tolist() == alone.mask.tolist()
