"""A cluster is planned only where one machine is not enough, and costs what its parts say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.planner.choose import choose
from sosie.planner.command import commands
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods.spark import estimate, settings
from sosie.planner.wish import Wish


def wish(rows, **more):
    return Wish(task="dedup", rows=rows, threshold=0.8, **more)


def test_one_machine_that_is_enough_is_enough():
    assert not list(settings(wish(10**6, memory=16 << 30), Facts()))
    assert not list(settings(wish(10**8), Facts()))
    assert choose(wish(10**6, memory=16 << 30), Facts(), Machine()).chosen.method == "exact"


def test_what_no_machine_holds_goes_to_a_cluster():
    plan = choose(wish(10**9, memory=64 << 30), Facts(), Machine())
    assert plan.chosen.method == "spark" and plan.chosen.parameters == {"method": "exact", "cores": 1024}
    line = commands(plan.chosen, plan.wish)[0]
    assert line == "sosie dedup DOCUMENTS -o OUT --threshold 0.8 --method exact --engine spark --master MASTER"


@pytest.mark.parametrize(("recall", "method"), [(1.0, "exact"), (0.99, "minhash")])
def test_the_method_reaches_the_recall(recall, method):
    (found,) = settings(wish(10**10, recall=recall), Facts())
    assert found["method"] == method
    assert estimate(wish(10**10, recall=recall), Facts(), Machine(), found).estimate.recall >= recall


def test_what_spark_does_not_do_is_not_planned():
    assert not list(settings(wish(10**10, measure="containment"), Facts()))
    assert not list(settings(wish(10**10, measure="cosine", weighting="tf"), Facts()))


@given(
    rows=st.integers(1, 10**11),
    cores=st.integers(1, 10**4),
    text=st.floats(50, 10**5),
    method=st.sampled_from(["exact", "minhash"]),
)
def test_more_documents_take_longer_and_more_cores_less(rows, cores, text, method):
    def seconds(rows, cores, text=text):
        asked = wish(rows, recall=0.99 if method == "minhash" else 1.0)
        found = estimate(asked, Facts(text_bytes=text), Machine(), {"method": method, "cores": cores})
        return found.estimate.seconds, found.estimate.bytes.disk

    here, shuffled = seconds(rows, cores)
    assert seconds(rows, 2 * cores)[0] < here < seconds(2 * rows, cores)[0]
    assert seconds(rows, cores, 2 * text)[0] > here
    assert abs(seconds(2 * rows, cores)[1] - 2 * shuffled) <= 1
    assert here - seconds(rows, 10**15)[0] >= 0  # what is not divided stays


def test_a_time_is_kept_by_more_cores():
    (usual,) = settings(wish(10**9, memory=64 << 30), Facts())
    several = [each["cores"] for each in settings(wish(10**9, seconds=600.0), Facts())]
    assert several == [usual["cores"] * times for times in (1, 4, 16)]
