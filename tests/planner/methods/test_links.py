"""What linking is expected to find and to take, beside what it found and counted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.crosslingual.twins import twins

import sosie
from sosie.crosslingual.compared import best_rows, nearest
from sosie.crosslingual.sides import read_side
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Languages, word_views
from sosie.jobs.link_alarms import measured_recall
from sosie.jobs.link_plan import plan_linking
from sosie.jobs.link_spec import LinkSpec
from sosie.jobs.planning.measure_links import measure
from sosie.jobs.planning.of_links import facts_of_links
from sosie.planner.choose import choose
from sosie.planner.constants.links import LINKS
from sosie.planner.facts import Facts, Spread
from sosie.planner.machine import Machine
from sosie.planner.methods import link_exact, link_signatures
from sosie.planner.wish import Wish
from sosie.storage.room import Room

TWINS = twins()


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("room"), threads=2)
    sides = [read_side(side.batches(2), room) for side in TWINS.sides()]
    both = Languages.of(sides[0].terms, sides[1].terms, 2)
    return word_views(both, TWINS.dictionary(), room), room


def test_additions_are_counted_as_they_are_made(views):
    rows, room = views
    dense = [np.zeros((len(side.offsets) - 1, rows.width)) for side in (rows.source, rows.target)]
    for side, table in zip((rows.source, rows.target), dense, strict=True):
        for row in range(len(table)):
            table[row, side.columns[side.offsets[row] : side.offsets[row + 1]]] = 1
    facts = facts_of_links(rows, room)
    assert facts.products == (dense[0] @ dense[1].T).sum()
    assert facts.features == pytest.approx((dense[0].sum() + dense[1].sum()) / 240)


def test_the_places_of_the_most_similar_are_those_of_a_plain_search(views):
    rows, room = views
    by = Signed(64)
    facts = facts_of_links(rows, room, by=by, k=3)
    (source, _), (target, _) = by.sign(rows.source, room), by.sign(rows.target, room)
    apart = np.bitwise_count(source.words[:, None, :] ^ target.words[None, :, :]).sum(axis=2)
    best, _ = best_rows(rows.source, rows.target, rows.width, 3, room)
    places = []
    for own, wanted in enumerate(best):
        ahead = np.argsort(apart[own], kind="stable").tolist()
        for row in wanted:
            back = np.argsort(apart[:, row], kind="stable")[: link_exact.BACK].tolist()
            places.append(1 if own in back else ahead.index(row) + 1)
    values, weights = np.unique(places, return_counts=True)
    assert facts.reached.values.tolist() == values.tolist() and facts.reached.weights.tolist() == weights.tolist()


@pytest.mark.parametrize("recall", (0.7, 0.9, 0.97))
def test_as_many_are_compared_as_reach_the_recall(views, recall):
    rows, room = views
    facts = facts_of_links(rows, room, by=Signed(64), k=10)
    compared = link_signatures.compared_for(facts.reached, recall)
    assert link_signatures.share_reached(facts.reached, compared) >= recall
    assert link_signatures.share_reached(facts.reached, compared - 1) < recall
    measured, _ = measured_recall(rows, nearest(rows, max(compared, 10), room, Signed(64)), 10, room)
    assert measured >= recall - 0.02


def test_nothing_is_promised_that_the_sample_did_not_reach():
    reached = Spread(np.array([1.0, math.inf]), np.array([9.0, 1.0]))
    assert link_signatures.compared_for(reached, 0.9) == 1 and link_signatures.compared_for(reached, 0.95) is None
    wish = Wish(task="link", rows=10**6, others=10**5, k=10, recall=0.95)
    plan = choose(wish, Facts(counted=True, features=300, products=1e12, reached=reached), Machine())
    assert plan.chosen.method == "link exact" and plan.chosen.estimate.recall == 1
    plan = choose(wish, Facts(), Machine())
    assert plan.chosen.method == "link exact"
    assert any("assumed" in note for each in plan.candidates for note in each.estimate.notes)


def test_all_are_compared_where_that_takes_no_longer(views):
    rows, room = views
    assert plan_linking(LinkSpec(), rows, room).by is None
    assert plan_linking(LinkSpec(signed=Signed(128)), rows, room).by == Signed(128)
    assert plan_linking(LinkSpec(compared=7), rows, room).compared == 10
    wish = {"task": "link", "k": 10, "bits": 1000, "recall": 0.9, "threads": 2}
    large, facts = Wish(rows=10**7, others=10**6, **wish), Facts(counted=True, features=300.0, products=1e14)
    exact = link_exact.estimate(large, facts, Machine(), {"exact": True}).estimate
    signed = link_signatures.estimate(large, facts, Machine(), {"bits": 1000, "compared": 100}).estimate
    assert exact.seconds > signed.seconds and signed.work["compared"] == 10**8 + 10**8


def test_the_links_of_a_recall_of_all_are_those_of_comparing_all():
    exact, asked = (
        sosie.link(*TWINS.sides(), dictionary=TWINS.dictionary(), **how) for how in ({"exact": True}, {"recall": 1})
    )
    assert asked.table == exact.table and asked.report.recall == 1
    assert asked.report.plan["method"] == "link exact" and asked.report.plan["measured"] == 1


def test_all_constants_are_measured():
    found = measure(1)
    assert found.keys() == LINKS.keys()
    values = [each for value in found.values() for each in (value.values() if isinstance(value, dict) else [value])]
    assert all(0 < each < math.inf for each in values)
