"""`sosie batch`: what is written, printed, refused, and left as it was."""

import json
import random

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sosie
from sosie.cli import sosie as cli

WORDS = [f"w{i}" for i in range(400)]


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def said(*words):
    done = run(*words)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*words):
    """Return the error of a command that is refused; nothing but that is said."""
    done = run(*words)
    assert isinstance(done.exception, sosie.SosieError), done.output
    return str(done.exception)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two files: new.jsonl has edited copies of old.jsonl, and one copy of its own."""
    chance = random.Random(0)
    texts = [" ".join(chance.choices(WORDS, k=90)) for _ in range(60)]
    copies = [f"{text} x" for text in texts[:20]]
    files = {"old": texts[:40], "new": [*texts[40:], *copies, texts[45]]}
    for name, lines in files.items():
        rows = (json.dumps({"id": f"{name} {i}", "text": text}) + "\n" for i, text in enumerate(lines))
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path):
    return pq.read_table(path).to_pylist()


def test_batches_are_matched_with_what_came_before(folder):
    output = said("batch", "store", "old.jsonl", "-o", "old.parquet")
    assert "0 matches of 0 of 40 rows; recall: exact" in output and "40 rows in store" in output
    output = said("batch", "store", "new.jsonl", "-o", "new.parquet", "--radius", "6", "--blocks", "7")
    found = rows("new.parquet")
    assert list(found[0]) == ["query", "id", "rank", "distance"]
    assert {"query": "new 40", "id": "new 5", "rank": 1, "distance": 0} in found
    pairs = {(each["query"], each["id"]) for each in found}
    assert pairs <= {(f"new {20 + i}", f"old {i}") for i in range(20)} | {("new 40", "new 5")}
    assert len(pairs) > 15 and f"{len(pairs)} matches" in output and "81 rows in store" in output
    one = folder / "one"
    said("batch", one, "old.jsonl", "new.jsonl", "-o", "one.parquet", "--radius", "6")
    assert {(each["query"], each["id"]) for each in rows("one.parquet")} == pairs


def test_saved_signatures_probes_and_no_append(folder):
    said("sign", "old.jsonl", "-o", "old", "--volatility")
    said("sign", "new.jsonl", "-o", "new", "--volatility", "--signer", "old")
    said("batch", "store", "old", "-o", "a.parquet")
    exact = json.loads(said("batch", "store", "new", "-o", "b.jsonl", "--no-append", "--json"))
    assert exact["recall"] == 1 and exact["appended"] is False and exact["rows"] == 40 and exact["signed"] == 41
    report = json.loads(
        said("batch", "store", "new", "-o", "c.jsonl", "--no-append", "--probes", "16", "--flips", "--json")
    )
    assert report["recall"] is None and report["counters"]["probes"] == 41 * 17
    documents = json.loads(said("batch", "store", "new.jsonl", "-o", "d.jsonl", "--probes", "16", "--flips", "--json"))
    assert documents["rows"] == 81 and documents["matches"] >= report["matches"] > 5
    first = json.loads(said("batch", "store", "new", "-o", "e.jsonl", "--no-append", "--first", "--json"))
    assert first["matches"] == first["matched"] == 41
    assert {"compile", "open", "sign", "match"} >= {stage["stage"] for stage in first["stages"]}


def test_what_is_refused_leaves_everything_as_it_was(folder):
    said("batch", "store", "old.jsonl", "-o", "a.parquet")
    for error, *words in (
        ("in the store already", "old.jsonl", "-o", "b.parquet"),
        ("exists", "new.jsonl", "-o", "a.parquet"),
        ("inside the store", "new.jsonl", "-o", "store/b.parquet"),
        ("contradicts the signer", "new.jsonl", "-o", "b.parquet", "--bits", "128"),
        ("a signer of its own", "new.jsonl", "-o", "b.parquet", "--signer", "old"),
        ("not both", "new.jsonl", "-o", "b.parquet", "--probes", "3", "--blocks", "4"),
        ("--flips is for --probes", "new.jsonl", "-o", "b.parquet", "--flips"),
        ("do not guarantee radius 3", "new.jsonl", "-o", "b.parquet", "--blocks", "3"),
        ("radius", "new.jsonl", "-o", "b.parquet", "--radius", "65"),
    ):
        assert error in refused("batch", "store", *words)
    assert len(sosie.SignatureStore("store")) == 40 and not (folder / "b.parquet").exists()
    assert "no store, or it is empty" in refused("batch", "nowhere", "new.jsonl", "-o", "b.parquet", "--no-append")
    assert "makes keys" in refused("batch", "nowhere", "new.jsonl", "-o", "b.parquet", "--method", "minhash")
    said("sign", "new.jsonl", "-o", "keys", "--method", "minhash")
    assert "holds keys" in refused("batch", "nowhere", "keys", "-o", "b.parquet")
    assert "holds other files" in refused("batch", ".", "new.jsonl", "-o", "../b.parquet")
    assert "a store: `sosie batch`" in refused("join", "store", "-o", "out", "--radius", "3")
    assert not (folder / "nowhere").exists()
    said("sign", "new.jsonl", "-o", "wide", "--bits", "128")
    assert "holds signatures of 64 bits, and the batch has 128" in refused("batch", "store", "wide", "-o", "b.parquet")
    assert "for documents" in refused("batch", "store", "wide", "-o", "b.parquet", "--width", "2")


def test_a_store_without_a_signer_takes_signatures_only(folder):
    sosie.SignatureStore("store").append(sosie.Simhash().fit().sign(["a b c d"], ids=["one"]))
    spec = sosie.Simhash(seed=4)
    assert "sign both the same way" in refused("batch", "store", "new.jsonl", "-o", "b.parquet", "--seed", spec.seed)
    said("batch", "store", "new.jsonl", "-o", "b.parquet")  # signed as the store was
    assert sosie.SignatureStore("store").signer is not None
