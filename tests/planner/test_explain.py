"""A plan in words, and its curves."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planner.methods_of_tests import Listed, table

from sosie.planner.choose import choose
from sosie.planner.command import commands
from sosie.planner.curve import RECALLS, Curve, place, plot, trade_offs
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.explain import asked, constants, explain
from sosie.planner.facts import Facts, Spread
from sosie.planner.limits import held
from sosie.planner.machine import Machine
from sosie.planner.wish import Wish

WINDOW = tuple((recall, 2.0**number, 500_000_000) for number, recall in enumerate((0.5, 0.8, 0.9, 0.96, 0.995)))
METHODS = table(
    Listed("brute", ((1.0, 7300.0, 400_000_000),)), Listed("tables", ((1.0, 41.0, 10**9),)), Listed("window", WINDOW)
)


def plan(facts=None, machine=None, **wish):
    wish = Wish(**{"task": "join", "rows": 10**7, "bits": 64, "radius": 3, **wish})
    return choose(wish, facts or Facts(), machine or Machine(), METHODS)


def test_a_plan_that_is_had():
    assert explain(plan(recall=0.95, memory=4 * 10**9, threads=2)) == [
        "All pairs within radius 3 of 10,000,000 signatures of 64 bits: .95 of them, within 4.0 GB, on 2 threads",
        "",
        "   method  parameters  recall  time    memory  disk",
        ">  window  setting=3      .96   8 s  750.0 MB     -",
        "   tables  setting=0        1  41 s    1.2 GB     -",
        "   brute   setting=0        1   2 h  650.0 MB     -",
        "",
        "window finds .96 of them in about 8 s, with 750.0 MB."
        " The next, tables, finds all of them in about 41 s, with 1.2 GB.",
        "Assumed, because no signatures were given: matches lie at the radius, the hardest to find, and bits are spread"
        " evenly.",
        "Times are those of a usual machine: sosie plan --machine measures this one, once.",
    ]


def test_a_plan_that_cannot_be_had():
    lines = explain(plan(recall=0.999, memory=10**9, seconds=1.0))
    assert lines[2:5] == [
        "method  parameters  recall  time    memory  disk",
        "tables  setting=0        1  41 s    1.2 GB     -  too much memory, too slow",
        "brute   setting=0        1   2 h  650.0 MB     -  too slow",
    ]
    assert lines[5].endswith("finds too few, too slow")
    assert lines[7:13] == [
        "This cannot be had. The nearest that can:",
        "",
        "what gives way  method  parameters  recall  time    memory  disk",
        "less recall     window  setting=0       .5   1 s  750.0 MB     -",
        "more time       brute   setting=0        1   2 h  650.0 MB     -",
        "",
    ]


def test_what_is_counted_and_measured_is_told():
    facts = Facts(counted=True, distances=Spread.at(2), sharing=((8, 1.0), (16, 9.0)))
    machine = Machine("A processor", "2030-01-02T03:04:05+00:00", {"threads": 1.5})
    lines = explain(plan(facts, machine))
    assert (
        "Counted in the signatures themselves, or in a sample of them: matches are 2.0 bits apart on average, and"
        " 16 bits are shared 9.0 times as often as by chance." in lines
    )
    assert lines[-1] == "Times are those of this machine (A processor), measured on 2030-01-02."
    first, _, head, threads, *_ = constants(machine)
    assert first == lines[-1] and head.split()[:3] == ["constant", "here", "usual"]
    assert threads.split()[:3] == ["threads", "1.5", "1.9"]
    assert constants(Machine("B"))[0] == "This machine (B) was not measured."


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"task": "search", "others": 1, "single": True}, "All within radius 3 of 1 query, one after the other, among"),
        ({"others": 5}, "All pairs within radius 3 of 10,000,000 signatures of 64 bits with 5 others"),
        ({"task": "batch", "others": 7, "rows": 1}, "All within radius 3 of a batch of 7 among 1 signature of 64 bits"),
        ({"task": "link", "others": 9, "k": 3}, "Links of 10,000,000 documents with 9 of another language"),
    ],
)
def test_what_is_asked_is_told(wish, said):
    assert asked(Wish(**{"task": "join", "rows": 10**7, "bits": 64, "radius": 3, **wish})).startswith(said)


def test_curves_have_what_no_setting_beats():
    curves = trade_offs(plan(recall=0.95), methods=METHODS)
    assert [curve.method for curve in curves] == ["window", "tables", "brute"]
    assert [(each.estimate.recall, each.estimate.seconds) for each in curves[0].settings] == [w[:2] for w in WINDOW]
    assert curves[0].at(0.95).estimate.seconds == 8 and curves[0].at(0.999) is None
    by_memory = trade_offs(plan(recall=0.95), held, METHODS)
    assert [len(curve.settings) for curve in by_memory] == [1, 1, 1] and by_memory[0].at(0.99) is not None
    said = [curve.to_dict() for curve in curves]
    assert json.loads(json.dumps(said)) == said and said[1]["points"][0]["bytes"] == 1_250_000_000


def test_the_plot_shows_each_curve_where_it_is():
    lines = plot(trade_offs(plan(recall=0.95), methods=METHODS))
    assert lines[0].startswith("      2 h |ccc") and lines[-1].endswith("recall: a window   b tables   c brute")
    drawn = [line[11:].ljust(61) for line in lines[:15]]
    assert {drawn[row][60] for row in range(15)} == {"c", "b", " "}, "the window never finds all"
    height = [next(row for row in range(15) if drawn[row][column] == "a") for column in range(46)]
    assert all(after <= before for before, after in pairwise(height)) and len(set(height)) == 5
    assert lines[7].startswith("     85 s |") and lines[14].startswith("      1 s |")


SETTING = st.tuples(st.sampled_from([0.2, 0.5, 0.93, 0.9995, 1.0]), st.floats(1e-6, 1e12), st.integers(0, 10**13))


@given(st.lists(st.lists(SETTING, min_size=1, max_size=4), min_size=1, max_size=30))
def test_any_curves_can_be_drawn(found):
    curves = []
    for number, settings in enumerate(found):
        made = [
            Candidate(method="m", parameters={}, estimate=Estimate(recall=r, seconds=s, bytes=Bytes(heap=heap)))
            for r, s, heap in settings
        ]
        curves.append(Curve(f"m{number}", tuple(sorted(made, key=lambda each: each.estimate.recall))))
    for cost in ({}, {"cost": held}):
        lines = plot(curves, **cost)
        assert len(lines) == 18 and all(len(line) < 90 for line in lines[:-1])


def test_the_axis_goes_with_the_recall():
    places = [place(recall) for recall in (0.0, *RECALLS)]
    assert places == sorted(places) and places[0] == 0 and places[-1] == 1


def test_names_of_files_are_quoted():
    chosen = Candidate(method="window", parameters={"tables": 3}, estimate=Estimate(recall=1.0, seconds=1.0))
    wish = Wish(task="join", rows=9, bits=64, radius=3, others=2)
    assert commands(chosen, wish, ["my signatures"]) == [
        "sosie join 'my signatures' -o PAIRS --with OTHERS --radius 3 --method window --tables 3"
    ]
