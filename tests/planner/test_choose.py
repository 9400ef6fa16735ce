"""Which candidate is taken, and which come nearest where none keeps all limits."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planner.methods_of_tests import Listed, table

from sosie.errors import UsageError
from sosie.planner.choose import EQUAL, choose
from sosie.planner.facts import Facts
from sosie.planner.limits import missed
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.wish import Wish


def plan(methods, **wish):
    wish = {"task": "join", "rows": 1000, **wish}
    if "memory" in wish:
        wish["memory"] += PROGRAM
    return choose(Wish(**wish), Facts(), Machine(), methods)


def names(found):
    return [(each.method, each.parameters["setting"]) for each in found]


METHODS = table(
    Listed("brute", ((1.0, 100.0, 10),)),
    Listed("tables", ((1.0, 10.0, 1000), (0.99, 8.0, 900))),
    Listed("window", ((0.9, 2.0, 100), (0.96, 4.0, 100), (0.999, 50.0, 100))),
    Listed("other", ((1.0, 0.1, 1),), ("search",)),
)


@pytest.mark.parametrize(
    ("wish", "taken"),
    [
        ({}, ("tables", 0)),
        ({"memory": 999}, ("brute", 0)),
        ({"recall": 0.95}, ("window", 1)),
        ({"recall": 0.99}, ("tables", 1)),
        ({"recall": 0.99, "memory": 500}, ("window", 2)),
        ({"recall": 0.99, "memory": 50}, ("brute", 0)),
        ({"recall": 0.9, "seconds": 2.0, "memory": 100}, ("window", 0)),
    ],
)
def test_the_fastest_that_keeps_all_limits_is_taken(wish, taken):
    found = plan(METHODS, **wish)
    assert names([found.chosen]) == [taken]
    assert found.candidates[0] is found.chosen and not found.nearest
    assert found.giving_way("recall") is found.chosen


def test_candidates_that_keep_the_limits_come_before_those_that_do_not():
    found = plan(METHODS, recall=0.9, memory=500)
    assert names(found.candidates) == [
        *(("window", 0), ("window", 1), ("window", 2), ("brute", 0)),
        *(("tables", 1), ("tables", 0)),
    ]
    assert names(found.best) == [("window", 0), ("brute", 0), ("tables", 1)]


def test_among_equals_what_finds_all_is_taken_and_then_what_is_simple():
    close = table(
        Listed("simple", ((0.99, 10.2, 5),)), Listed("exact", ((1.0, 10.4, 9),)), Listed("fast", ((0.99, 10.0, 1),))
    )
    assert names([plan(close, recall=0.9).chosen]) == [("exact", 0)]
    del close["exact"]
    assert names([plan(close, recall=0.9).chosen]) == [("simple", 0)]
    far = table(Listed("exact", ((1.0, 10.0 * EQUAL + 0.1, 9),)), Listed("fast", ((0.99, 10.0, 1),)))
    assert names([plan(far, recall=0.9).chosen]) == [("fast", 0)]
    assert names([plan(far, recall=1.0).chosen]) == [("exact", 0)]


def test_a_cluster_is_taken_where_one_machine_is_not_enough():
    methods = table(Listed("cluster", ((1.0, 5.0, 10),), cluster=True), Listed("here", ((1.0, 50.0, 1000),)))
    assert names([plan(methods).chosen]) == [("here", 0)]
    assert names(plan(methods).candidates) == [("here", 0), ("cluster", 0)]
    assert names([plan(methods, memory=100).chosen]) == [("cluster", 0)]
    assert names([plan(methods, seconds=10.0).chosen]) == [("cluster", 0)]


def test_where_one_limit_is_enough_each_that_may_give_way_has_its_nearest():
    found = plan(METHODS, memory=500, seconds=20.0)
    assert found.chosen is None
    assert [(near.limits, *names([near.candidate])) for near in found.nearest] == [
        (("recall",), ("window", 1)),
        (("memory",), ("tables", 0)),
        (("seconds",), ("brute", 0)),
    ]
    assert found.giving_way("recall").estimate.recall == 0.96


def test_where_two_limits_have_to_give_way_both_ends_are_told():
    found = plan(METHODS, memory=5, seconds=3.0)
    assert [(near.limits, *names([near.candidate])) for near in found.nearest] == [
        (("recall", "memory"), ("window", 0)),
        (("memory", "seconds"), ("brute", 0)),
        (("memory", "seconds"), ("tables", 0)),
    ]
    assert found.giving_way("recall") is None


def test_a_task_that_no_method_answers():
    with pytest.raises(UsageError, match="no method answers this link: none considered"):
        plan(METHODS, task="link")


def test_a_plan_is_plain_data():
    said = plan(METHODS, recall=0.9).to_dict()
    assert json.loads(json.dumps(said)) == said
    assert said["chosen"]["method"] == "window" and said["wish"]["recall"] == 0.9
    assert [each["seconds"] for each in said["candidates"]] == [2.0, 4.0, 8.0, 10.0, 50.0, 100.0]


SETTINGS = st.lists(
    st.tuples(st.sampled_from([0.2, 0.5, 0.9, 0.95, 1.0]), st.integers(1, 9).map(float), st.integers(1, 9)), min_size=1
).map(tuple)


@given(
    st.lists(SETTINGS, min_size=1, max_size=4),
    st.sampled_from([0.5, 0.95, 1.0]),
    st.none() | st.integers(1, 9),
    st.none() | st.integers(1, 9).map(float),
)
def test_no_candidate_is_better_than_the_one_that_is_taken(methods, recall, heap, seconds):
    methods = table(*(Listed(f"m{number}", listed) for number, listed in enumerate(methods)))
    limits = {"recall": recall, "seconds": seconds} | ({} if heap is None else {"memory": heap})
    every = [setting for method in methods.values() for setting in method.listed]
    fit = [each for each in every if each[0] >= recall and each[1] <= (seconds or 99) and each[2] <= (heap or 99)]
    found = plan(methods, **limits)
    if fit:
        assert not missed(found.wish, found.chosen)
        assert found.chosen.estimate.seconds <= EQUAL * min(each[1] for each in fit)
        return
    assert found.chosen is None and found.nearest
    for near in found.nearest:
        assert missed(found.wish, near.candidate) and set(missed(found.wish, near.candidate)) <= set(near.limits)
        if near.limits == ("recall",):
            kept = [each[0] for each in every if each[1] <= (seconds or 99) and each[2] <= (heap or 99)]
            assert near.candidate.estimate.recall == max(kept)
