"""`sosie.plan`: what is asked, as people write it, and what is known of the data."""

import random
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import sosie
from sosie.features.weighting import WEIGHTINGS
from sosie.jobs.planning.picture import picture
from sosie.jobs.planning.plan import Planning
from sosie.matches.sets.similarity import Measure
from sosie.planner import wish as asked
from sosie.planner.amounts import as_count, as_seconds
from sosie.planner.choose import choose
from sosie.planner.facts import Facts
from sosie.planner.machine import CONSTANTS, Machine
from sosie.planner.registry import METHODS

LIMITS = {"memory": "4GB", "threads": 1}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("said", "task", "wanted"),
    [
        ({"rows": 10}, "dedup", {"threshold": 0.8, "bits": None, "measure": "jaccard"}),
        ({"rows": 10, "similarity": 0.5, "measure": "cosine", "weighting": "tf"}, "dedup", {"threshold": 0.5}),
        ({"rows": "10M", "bits": 64, "radius": 3}, "join", {"rows": 10**7, "others": 0}),
        ({"rows": 10, "bits": 64, "radius": 3, "queries": "1k"}, "search", {"others": 1000, "k": None}),
        ({"rows": 10, "bits": 64, "queries": 5}, "search", {"k": 10, "radius": None}),
        ({"rows": 10, "bits": 64, "queries": 5, "k": 3, "single": True}, "search", {"k": 3, "single": True}),
        ({"rows": 10, "bits": 64, "radius": 3, "queries": 5, "task": "join"}, "join", {"others": 5}),
        ({"rows": 10, "bits": 64, "radius": 3, "queries": 5, "task": "batch"}, "batch", {"others": 5}),
        ({"rows": 10, "queries": 5, "task": "link"}, "link", {"others": 5, "k": 10}),
        ({"rows": 10, "queries": 5, "task": "link", "similarity": 0.3}, "link", {"k": None, "threshold": 0.3}),
        ({"rows": 10, "time": "2min", "recall": 0.5}, "dedup", {"seconds": 120.0, "recall": 0.5}),
    ],
)
def test_what_is_to_be_done_follows_from_what_is_given(said, task, wanted):
    planning = Planning(**said)
    rows = as_count("rows", planning.rows)
    wish = planning.wish(rows, planning.bits, 10**9, 2)
    assert wish.task == task and wish.memory == 10**9 and wish.threads == 2
    assert {name: getattr(wish, name) for name in wanted} == wanted


def test_words_are_those_of_the_layers_above():
    assert asked.WEIGHTINGS == WEIGHTINGS and asked.MEASURES == Measure.__args__
    assert {task for method in METHODS.values() for task in method.tasks} == set(asked.Task.__args__)


@pytest.mark.parametrize("text", ["", "M", "10 million", "1.5", "-1", "0x10", "1e", "1e999", "١٠x", "1_", "1e400M"])
def test_numbers_that_are_none(text):
    with pytest.raises(sosie.UsageError, match="is not a number of them"):
        as_count("rows", text)


@pytest.mark.parametrize("value", ["", "s", "-1s", "0", 0, -2.0, float("nan"), float("inf"), True, "1e999", [], "5 y"])
def test_times_that_are_none(value):
    with pytest.raises(sosie.UsageError, match="is not a time above 0"):
        as_seconds(value)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"rows": 1.5}, "rows: 1.5 is not a number"),
        ({"rows": True}, "rows: True is not a number"),
        ({"rows": 10, "recall": "0.9"}, "recall must be above 0"),
        ({"rows": 10, "recall": True}, "recall must be above 0"),
        ({"rows": 10, "bits": 64.0, "radius": 3}, "bits must be a whole number, got 64.0"),
        ({"rows": 10, "bits": 64, "radius": "3"}, "radius must be a whole number, got '3'"),
        ({"rows": 10, "similarity": "jaccard"}, "similarity must be above 0"),
        ({"rows": 10, "measure": 0.8}, "measure must be one of jaccard"),
        ({"rows": 10, "task": "sort"}, "task must be one of dedup"),
        ({"rows": 10, "threads": 0}, "threads must be at least 1"),
        ({"rows": 10, "memory": 1.5}, "1.5 is not a size"),
        ({"documents": ["a rose"], "rows": 3}, "rows: the documents say that themselves"),
        ({"documents": {"text": []}}, "there are no documents"),
        ({"documents": []}, "the list is empty"),
        ({"documents": sosie.Signatures(np.zeros(0, np.uint64)), "radius": 3}, "there are no signatures"),
        ({"documents": sosie.Keys(np.zeros((3, 2), np.uint64))}, "keys are joined in one way"),
    ],
)
def test_what_makes_no_sense_is_refused(said, why):
    with pytest.raises((sosie.UsageError, sosie.DataError), match=why):
        sosie.plan(**{**LIMITS, **said})


def test_signatures_and_documents_are_looked_at():
    rows = np.random.default_rng(0).integers(0, 2**63, 1000, dtype=np.uint64)
    plan = sosie.plan(sosie.Signatures(np.concatenate([rows, rows ^ np.uint64(1)])), radius=3, **LIMITS)
    assert plan.facts.counted and plan.wish.rows == 2000 and plan.wish.bits == 64
    assert "matches are 1.0 bits apart on average" in str(plan)
    texts = [f"document {number} says {number * number} and {number % 7} of it" for number in range(50)]
    plan = sosie.plan([*texts, *texts], similarity=0.5, recall=0.9, **LIMITS)
    assert plan.facts.counted and plan.wish.rows == 100 and plan.wish.threshold == 0.5
    assert "Counted in 100 of 100 documents" in str(plan)
    one = sosie.plan(["a rose"], **LIMITS)
    assert one.chosen.method == "exact" and "Counted in 1 of 1 document:" in str(one)
    assert sosie.plan(sosie.Signatures(np.zeros(1, np.uint64)), radius=3, **LIMITS).chosen.exact


@pytest.mark.parametrize("said", [{"bits": 64, "radius": 3}, {"bits": 64, "radius": 3, "queries": 100}, {}])
def test_which_answer_is_given_does_not_depend_on_measured_speed(said):
    """All is found, on a machine on which every step takes another time."""
    chosen, taken = random.Random(1), set()
    for _ in range(30):
        factors = {name: 10 ** chosen.uniform(-3, 3) for name in CONSTANTS if name != "threads"}
        constants = {
            name: {size: each * factor for size, each in CONSTANTS[name].usual.items()}
            if isinstance(CONSTANTS[name].usual, Mapping)
            else CONSTANTS[name].usual * factor
            for name, factor in factors.items()
        }
        rows = chosen.choice([10, 10**4, 10**6])
        wish = Planning(rows=rows, **said).wish(rows, said.get("bits"), 10**11, 1)
        found = choose(wish, Facts(), Machine("another", "today", constants))
        assert found.chosen.exact
        taken.add(found.chosen.method)
    assert not said or len(taken) > 1, "the ways are others, the answer is the same"


def test_the_picture_has_every_method_and_stands_by_itself():
    for recall, memory in ((0.9, "4GB"), (0.999, "251MB")):
        plan = sosie.plan(rows="1M", bits=64, radius=3, queries=10, recall=recall, memory=memory, time=1, threads=1)
        root = ElementTree.fromstring(picture(plan))
        words = " ".join(root.itertext())
        assert {each.method for each in plan.candidates} <= set(words.split()) | {"blocks join"}
        assert ("This cannot be had." in words) == (plan.chosen is None)
        width, height = (float(root.get(name)) for name in ("width", "height"))
        for dot in root.iter("{http://www.w3.org/2000/svg}circle"):
            assert 0 <= float(dot.get("cx")) <= width and 0 <= float(dot.get("cy")) <= height
        assert "http" not in picture(plan).replace("http://www.w3.org/2000/svg", "")


def test_a_plan_in_a_notebook_is_no_markup():
    plan = sosie.plan(rows=10, **LIMITS)
    assert plan._repr_html_().startswith("<pre>De-duplication of 10 documents") and "<script" not in plan._repr_html_()


def test_the_kept_constants_are_used_and_no_plan_measures(monkeypatch):
    monkeypatch.setattr(Path, "mkdir", None)  # nothing is written
    assert sosie.plan(rows=10, **LIMITS).machine.measured is None
