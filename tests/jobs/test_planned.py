"""A de-duplication as it is planned: the recall that was asked, what was expected, and what came of it."""

import json

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.running import run

import sosie
from sosie import Deduplicator, Exact, Minhash, Simhash, UsageError
from sosie.evaluation.planted import PlantedCorpus
from sosie.jobs.auto import chosen, wish_of
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine

CORPUS = PlantedCorpus(6000, copies=0.4, seed=4)


@pytest.fixture(scope="module")
def table():
    return pa.concat_tables(list(CORPUS.tables()))


@pytest.mark.parametrize("method", ["minhash", "simhash"])
@pytest.mark.parametrize("recall", [0.8, 0.95])
def test_what_is_asked_is_found_and_was_expected(table, method, recall):
    every = len(CORPUS.pairs("0.8"))
    result = sosie.dedup(table, method=method, recall=recall)
    found, plan = len(result.found) / every, result.report.planned
    assert found == pytest.approx(plan.predicted, abs=0.05) and found >= recall - 0.05
    assert plan.asked == recall <= plan.predicted
    assert result.report.parameters.to_dict()["recall"] == recall
    assert result.report.planned.parameters == {
        name: value
        for name, value in plan.parameters.items()
        if name == "radius" or result.report.parameters.method[name] == value
    }


def test_auto_takes_another_method_only_where_less_is_asked(table, monkeypatch):
    slow = Machine(constants={"count": 1e5, "rank": 1e5})
    monkeypatch.setattr("sosie.jobs.auto.load_machine", lambda: slow)
    whole, less = sosie.dedup(table), sosie.dedup(table, recall=0.9)
    assert whole.report.parameters.method["method"] == "exact" == whole.plan.chosen.method
    assert less.report.parameters.method["method"] in ("minhash", "simhash")
    assert {each.method for each in less.report.considered} == {"exact", "minhash", "simhash"}
    assert 0.85 < len(less.found) / len(whole.found) < 1


def test_the_plan_is_in_report_json_and_on_the_page_with_what_happened(table, tmp_path):
    result = sosie.dedup(table, 0.8, output=tmp_path / "out", method="minhash", recall=0.9)
    said = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    plan = said["plan"]
    assert plan["asked"] == 0.9 and plan["measured"] == said["measured"]["recall"]
    assert plan["seconds"] == pytest.approx(said["seconds"], abs=0.01) and plan["predicted_seconds"] > 0
    assert plan["bytes"] == max(stage["peak_memory_bytes"] for stage in said["stages"])
    assert plan["said"].startswith("asked .9, predicted .9") and "took" in plan["said"] and "held" in plan["said"]
    assert plan["said"] in (tmp_path / "out/report.html").read_text("utf-8")
    assert result.report["plan"] == plan


def test_the_bands_of_minhash_without_a_recall_are_those_of_ever():
    for threshold, rows in ((0.8, 5), (0.9, 8), (0.5, 2)):
        job = Deduplicator(threshold=threshold, method="minhash")
        assert job.choose(10**6, 10**4) == Minhash.for_threshold(threshold) and job.choose(1, 1).rows == rows


@pytest.mark.parametrize(
    ("method", "name"),
    [(Exact(), "exact"), (Minhash(minima=64, rows=4), "minhash"), (Simhash(bits=128, weighting="binary"), "simhash")],
)
def test_a_method_that_is_given_is_taken_as_it_is(table, method, name):
    result = sosie.dedup(table, method=method)
    assert result.plan is None and result.report.planned.method == name
    assert result.report.planned.predicted > 0.7


def test_what_is_compared_byte_for_byte_is_not_planned(table):
    assert sosie.dedup(table, method="identical").report.planned is None
    with pytest.raises(UsageError, match="recall: has no meaning for the method identical"):
        sosie.dedup(table, method="identical", recall=0.9)


@pytest.mark.parametrize("recall", [0, 1.5, -1, "much", True, float("nan")])
def test_a_recall_that_cannot_be_is_refused(recall):
    with pytest.raises(UsageError, match="recall is above 0 and at most 1"):
        Deduplicator(recall=recall)


@pytest.mark.parametrize("recall", [1e-9, 0.5, 0.999, 1 - 1e-12])
def test_any_recall_between_is_answered(recall):
    job = Deduplicator(recall=recall)
    for facts in (Facts(), Facts(counted=True, features=0.0), Facts(counted=True, features=1e6)):
        found = chosen(job, wish_of(job, 1000), facts, Machine())
        assert found.candidate.estimate.recall >= min(recall, 0.99)


def test_the_choice_does_not_depend_on_threads():
    job = Deduplicator(recall=0.9)
    for rows in (10**3, 10**5, 10**7):
        found = [
            chosen(job, wish_of(job, rows, threads=threads), Facts(features=80.0), Machine()) for threads in (1, 2, 64)
        ]
        assert len({(each.candidate.method, str(each.candidate.parameters)) for each in found}) == 1
        assert found[0].candidate.estimate.seconds > found[2].candidate.estimate.seconds
        assert all(each.plan.chosen is each.candidate is each.plan.candidates[0] for each in found)


def test_containment_and_weights_by_what_can_tell_them(table):
    for asked, methods in (
        ({"similarity": "containment"}, {"exact"}),
        ({"similarity": "cosine", "weighting": "tf"}, {"exact", "simhash"}),
    ):
        report = sosie.dedup(table.slice(0, 500), 0.8, recall=0.9, **asked).report
        assert {each.method for each in report.considered} <= methods
        assert report.planned.predicted >= 0.9


def test_on_the_command_line(table, tmp_path):
    rows = zip(table["id"].to_pylist()[:800], table["text"].to_pylist()[:800], strict=True)
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows), "utf-8")
    code, out, err = run("dedup", str(file), "--dry-run", "--recall", "0.9")
    assert code == 0 and "plan: asked .9, predicted" in out, err
    code, _, err = run("dedup", str(file), "--dry-run", "--recall", "1.5")
    assert code == 2 and "recall is above 0 and at most 1" in err
    code, _, err = run("dedup", str(file), "--dry-run", "--recall", "0.9", "--method", "identical")
    assert code == 2 and "--recall: for near-duplicates" in err


def test_facts_cost_nothing_to_the_result(table):
    """The plan draws at random, but nothing that is found depends on it."""
    found = [sosie.dedup(table, threads=threads).found for threads in (1, 2)]
    assert np.array_equal(found[0].a, found[1].a) and np.array_equal(found[0].b, found[1].b)
