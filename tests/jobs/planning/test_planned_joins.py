"""Joins that are planned: what is chosen is run, all pairs are found unless less is asked for, and it is told."""

import json

import numpy as np
import pytest
from tests.cli.running import done, refused
from tests.jobs.planning import rows as drawn

import sosie
from sosie.errors import UsageError
from sosie.jobs.planning import joins
from sosie.jobs.planning.joins import method_of, plan_join, taken
from sosie.planner.estimate import Candidate, Estimate
from sosie.planner.machine import Machine


@pytest.fixture
def curious(monkeypatch):
    """Let whatever finds all look slow, so that a sample is drawn of short joins, too."""
    constants = {
        "brute row": {64: 1e9},
        "window row": {64: 1e6},
        "word row": 1e6,
        "hashed row": {256: 1e6},
        "hashed pair": {256: 1e5},
    }
    monkeypatch.setattr(joins, "load_machine", lambda: Machine(constants=constants))


def test_all_is_found_unless_less_is_asked_for():
    rows = drawn.planted(3000, 64, 0.2, 6)
    pairs, brute = sosie.join(rows, radius=6), sosie.join(rows, radius=6, method="brute")
    assert len(pairs) == len(brute) and pairs.recall == 1 and brute.planned is None
    planned = pairs.planned
    assert planned.method in ("brute", "blocks join") and planned.asked == planned.predicted == planned.measured == 1
    predicted, counted = planned.work["comparisons"]
    assert counted == pairs.counters["comparisons"] == pytest.approx(predicted, rel=0.3)
    assert planned.seconds > 0 and planned.predicted_seconds > 0


def test_with_less_a_window_may_be_taken_that_reaches_it(curious):
    rows = drawn.planted(6000, 256, 0.3, 60)
    every = sosie.join(rows, radius=60, method="brute")
    for recall in (0.95, 0.7):
        pairs = sosie.join(rows, radius=60, recall=recall)
        planned = pairs.planned
        assert planned.method == "window" and planned.asked == recall <= planned.predicted < 1
        assert len(pairs) / len(every) == pytest.approx(planned.predicted, abs=0.03)
        assert planned.measured == pairs.recall == pytest.approx(planned.predicted, abs=0.05)
    assert sosie.join(rows, radius=60).planned.method != "window"  # however slow the machine


def test_the_sample_is_looked_at_only_where_it_is_worth_it(monkeypatch, curious):
    looked = []
    real = joins.facts_of_signatures
    monkeypatch.setattr(joins, "facts_of_signatures", lambda *args, **more: looked.append(args) or real(*args, **more))
    rows = drawn.planted(4000, 256, 0.3, 60)
    assert plan_join(rows, radius=60, recall=0.9).facts.counted and len(looked) == 1
    monkeypatch.setattr(joins, "load_machine", Machine)
    assert not plan_join(rows, radius=60, recall=0.9).facts.counted and len(looked) == 1


def test_two_collections_and_none():
    a, b = drawn.planted(500, 64, 0, 3), drawn.planted(300, 64, 0, 3, 1)
    none = sosie.Signatures(np.empty((0, 1), np.uint64))
    assert len(sosie.join(a, b, radius=9, recall=0.9)) == len(sosie.join(a, b, radius=9, method="brute"))
    for sides in ((none, None), (a, none), (none, b)):
        assert len(sosie.join(*sides, radius=3)) == 0


def test_what_is_taken_where_nothing_fits():
    rows = drawn.planted(500, 64, 0, 3)
    plan = plan_join(rows, radius=3, memory=1)
    assert plan.chosen is None and taken(plan).exact
    with pytest.raises(UsageError, match="too little"):
        sosie.join(rows, radius=3, memory=1)
    assert method_of(Candidate(method="brute", parameters={}, estimate=Estimate(recall=1, seconds=1))) == "brute"


@pytest.mark.parametrize("recall", (0, 1.5, -1, float("nan")))
def test_a_recall_that_is_none_is_refused(recall):
    with pytest.raises(UsageError, match="recall"):
        sosie.join(drawn.planted(50, 64, 0, 3), radius=3, recall=recall)


def test_recall_is_for_signatures_and_for_auto():
    keys = sosie.Keys(np.zeros((3, 1), np.uint64))
    features = sosie.Shingles().extract(["a b c d", "a b c e"])
    for of, more in ((keys, {}), (features, {"threshold": 0.5}), (["a b c d", "a b c e"], {})):
        with pytest.raises(UsageError, match="is for signatures"):
            sosie.join(of, recall=0.9, **more)
    for method in ("brute", sosie.Window()):
        with pytest.raises(UsageError, match="is for --method auto"):
            sosie.join(drawn.planted(50, 64, 0, 3), radius=3, method=method, recall=0.9)


def test_the_command_says_what_was_planned(tmp_path, monkeypatch, curious):
    monkeypatch.chdir(tmp_path)
    sosie.save_signatures("sigs", drawn.planted(4000, 256, 0.3, 60), sosie.Simhash(bits=256))
    report = done("join", "sigs", "-o", "out", "--radius", 60, "--recall", 0.9)
    plan = report["plan"]
    assert plan["method"] == "window" and plan["parameters"].keys() >= {"tables", "window"}
    assert plan["asked"] == 0.9 and plan["measured"] == report["recall"] and plan["bytes"] > 10**8
    assert plan["said"].startswith("asked .9, predicted .9") and report["parameters"]["recall"] == 0.9
    assert json.loads((tmp_path / "out/report.json").read_text())["plan"] == plan
    exact = done("join", "sigs", "-o", "exact", "--radius", 60)
    assert exact["plan"]["predicted"] == 1 and "recall" not in exact["parameters"]
    assert done("join", "sigs", "-o", "brute", "--radius", 60, "--method", "brute")["plan"] is None
    _, said = refused("join", "sigs", "-o", "no", "--radius", 3, "--method", "brute", "--recall", 0.9)
    assert "--method auto" in said
