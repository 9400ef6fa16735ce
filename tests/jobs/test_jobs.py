"""Every job from Python: the same as on the command line, without knowing of it."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, write_jsonl

from sosie import Minhash, Output, Simhash, Source, UsageError, jobs, load_signatures
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.result import load_result
from sosie.evaluation.signatures.quality import Truth
from sosie.jobs.dedup import Deduplicator
from sosie.jobs.demo import demonstrate
from sosie.jobs.evaluate import Evaluation, measure_signatures
from sosie.jobs.index import IndexBuilder, add_to_index, remove_from_index, verify_index
from sosie.jobs.inspect import inspect_documents
from sosie.jobs.join import Joiner
from sosie.jobs.search import IndexSearch, texts_to_find
from sosie.jobs.sign import Signing
from sosie.search.entries import Form

TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog",
    "b": "the quick brown fox jumps over the lazy dog again",
    "c": "a text about something else entirely, not about foxes",
    "d": "...",
}


class Counting:
    """A progress that counts the units of each stage."""

    def __init__(self):
        self.stages = {}

    def start(self, stage, total):
        self.stages[stage] = 0

    def expect(self, total):
        pass

    def advance(self, count):
        self.stages[list(self.stages)[-1]] += count

    def finish(self):
        pass


@pytest.fixture
def source(tmp_path, monkeypatch) -> Source:
    monkeypatch.chdir(tmp_path)
    write_jsonl("in.jsonl", TEXTS)
    return Source("in.jsonl")


def same(report, said) -> None:
    """A report, and what the command line says of the same, apart from the times."""
    data = report if isinstance(report, dict) else report.to_dict()
    for each in (data, said):
        for planned in (each.get("outcome"), each.get("plan")):
            for measured in ("seconds", "bytes", "said"):  # what is another one in each run
                (planned or {}).pop(measured, None)
    assert list(data) == list(said)
    names = [stage["stage"] for stage in data.pop("stages", [])]
    assert names == [stage["stage"] for stage in said.pop("stages", [])]
    assert json.loads(json.dumps(data)) == said


def test_sign(source):
    shown = Counting()
    report = Signing(signer=Simhash(), features=True).run(source, Output("mine"), threads=2, progress=shown)
    same(report, done("sign", "in.jsonl", "-o", "theirs", "--features"))
    assert report.signed == len(load_signatures("mine")) == 3 and report.without_features == 1
    assert shown.stages == {"sign": 4}
    fitted = Signing(signer=Simhash(weighting="tf-idf")).run(source, Output("fitted"))
    assert [stage.stage for stage in fitted.stages] == ["fit", "sign"]
    with pytest.raises(UsageError, match="holds inputs of this run"):
        Signing(signer=Simhash()).run(source, Output("mine", overwrite=True), reads=["mine"])


def test_index_and_search(source):
    job = IndexBuilder(form=Form(texts=True))
    same(
        job.from_documents(source, Simhash(), Output("mine")),
        done("index", "build", "in.jsonl", "-o", "theirs", "--keep-texts", "--for", "duplicates"),
    )
    Signing(signer=Minhash(), keys=True).run(source, Output("keys"))
    same(
        IndexBuilder().from_signatures("keys", Output("of keys")),
        done("index", "build", "keys", "-o", "theirs of keys"),
    )
    write_jsonl("more.jsonl", {"e": "another text that is not like the others"})
    same(add_to_index("mine", Source("more.jsonl")), done("index", "add", "theirs", "more.jsonl"))
    same(remove_from_index("mine", ["e"]), done("index", "remove", "theirs", "e"))
    same(verify_index("mine"), done("index", "verify", "theirs"))
    asked = IndexSearch(k=2, passages=True)
    table, report = asked.run("mine", texts_to_find([TEXTS["a"]]))
    said = done("search", "theirs", "--text", TEXTS["a"], "-k", 2, "--passages")
    assert table.to_pylist() == said.pop("found") and table["id"].to_pylist() == ["a", "b"]
    same(report, said)
    near, _ = IndexSearch(radius=0).run("mine", Source("in.jsonl"))
    assert near["id"].to_pylist() == ["a", "b", "c"]


def test_join(source):
    same(
        Joiner(threshold="0.5").run(source, None, Output("mine")),
        done("join", "in.jsonl", "-o", "o", "--threshold", 0.5),
    )
    assert pq.read_table("mine/pairs.parquet").select(["a", "b"]).to_pylist() == [{"a": "a", "b": "b"}]
    Signing(signer=Simhash()).run(source, Output("signed"))
    same(
        Joiner(radius=20).run("signed", "signed", Output("near")),
        done("join", *"signed --with signed --radius 20 -o p".split()),
    )
    table = Source(pa.table({"text": list(TEXTS.values())}))
    assert Joiner().run(table, table, Output("tables")).pairs == 5
    with pytest.raises(UsageError, match="documents with documents"):
        Joiner(radius=1).run(source, "signed", Output("no"))
    assert not Path("no").exists()


def test_evaluate_and_inspect(source):
    Deduplicator(threshold="0.5").run(source, output="mine")
    found = Evaluation(truth="mine/pairs.parquet", sample=3).run(load_result("mine"), source)
    said = done("evaluate", "mine", "--truth", "mine/pairs.parquet", "--sample", 3)
    assert said.pop("result") == "mine"
    same(found, said)
    assert found.truth.pairs.recall == 1
    with pytest.raises(UsageError, match="name the documents that were read"):
        Evaluation().run(load_result("mine"), None)
    same(inspect_documents(source, Deduplicator(), memory=10**9), done("inspect", "in.jsonl", "--memory", "1GB"))
    measured = measure_signatures(source, ["simhash"], Truth(sample=3, nearest=1), output=Output("figures"))
    assert json.loads(Path("figures/signatures.json").read_bytes()) == measured.to_dict()
    assert measured.documents == 4 and Path("figures/signatures.html").exists()


def test_demo(source):
    found = demonstrate(PlantedCorpus(200), Output("mine"), threads=1)
    assert found.score.recall == found.score.precision == 1
    said = done("demo", "-o", "theirs", "--documents", 200, "--threads", 1)
    data = found.to_dict()
    assert list(data) == list(said) and data["counts"] == said["counts"]


def test_no_job_knows_the_command_line():
    """Nor does one need Click or Rich, which a service or a cluster need not have."""
    names = ", ".join(f"sosie.jobs.{module.name}" for module in pkgutil.iter_modules(jobs.__path__))
    code = f"import sys, {names}\nassert not {{'click', 'rich', 'sosie.cli'}} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
