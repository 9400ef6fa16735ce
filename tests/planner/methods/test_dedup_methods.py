"""Methods of a de-duplication as they are planned: what reaches the wish, and what grows with what."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import UsageError
from sosie.planner.choose import choose
from sosie.planner.corpus import Corpus
from sosie.planner.facts import Facts, Spread
from sosie.planner.limits import missed
from sosie.planner.machine import Machine
from sosie.planner.memory import check_fits, check_limit, held_bytes, in_memory
from sosie.planner.methods import exact, minhash, simhash
from sosie.planner.models.bands import band_chance, cosine_of, radius_chance
from sosie.planner.registry import METHODS
from sosie.planner.wish import Wish

OF_DOCUMENTS = {name: METHODS[name] for name in ("exact", "minhash", "simhash")}
SPREAD = Spread(np.array([0.4, 0.8, 0.85, 0.9, 0.95, 1.0]), np.array([900.0, 40, 50, 60, 80, 50]))


def wish(**asked):
    return Wish(**{"task": "dedup", "rows": 100_000, "threshold": 0.8, "threads": 2, **asked})


def corpus(**known):
    return Corpus(**{"documents": 100_000, "sampled": 5000, **known})


@settings(max_examples=20)
@given(st.floats(0.3, 1.0), st.floats(0.5, 0.998), st.booleans())
def test_every_setting_reaches_the_recall_at_the_threshold(threshold, recall, known):
    asked = wish(threshold=threshold, recall=recall)
    facts = Facts(similarities=SPREAD if known else None)
    for method in (minhash, simhash):
        for parameters in method.settings(asked, facts):
            found = method.estimate(asked, facts, Machine(), parameters).estimate
            assert recall - 1e-9 <= found.recall < 1


def test_of_known_pairs_fewer_bands_and_a_smaller_radius_are_enough():
    asked = wish(recall=0.9)
    blind = {each["rows"]: each["minima"] for each in minhash.settings(asked, Facts())}
    known = {each["rows"]: each["minima"] for each in minhash.settings(asked, Facts(similarities=SPREAD))}
    assert all(known[rows] < blind[rows] for rows in (4, 5, 6) if rows in blind and rows in known)
    assert {4, 5} <= set(known)
    radii = [list(simhash.settings(asked, facts)) for facts in (Facts(), Facts(similarities=SPREAD))]
    assert all(few["radius"] < many["radius"] for many, few in zip(*radii, strict=True))


def test_the_recall_is_that_of_drawn_pairs():
    """Pairs are drawn from the spread, each is found by its chance, and so many are told."""
    rng, draws = np.random.default_rng(1), 200_000
    above = SPREAD.values >= 0.8
    values = rng.choice(SPREAD.values[above], draws, p=SPREAD.weights[above] / SPREAD.weights[above].sum())
    facts, asked = Facts(similarities=SPREAD), wish(recall=0.9)
    bands = minhash.estimate(asked, facts, Machine(), {"minima": 24, "rows": 6}).estimate.recall
    assert (rng.random(draws) < band_chance(values, 6, 4)).mean() == pytest.approx(bands, abs=0.005)
    within = simhash.estimate(asked, facts, Machine(), {"bits": 64, "radius": 10}).estimate.recall
    assert (rng.random(draws) < radius_chance(cosine_of(values), 64, 10)).mean() == pytest.approx(within, abs=0.005)


def test_few_pairs_that_were_seen_do_not_stand_for_all():
    few = Spread(SPREAD.values, SPREAD.weights, np.ones(len(SPREAD.values)))
    found = minhash.estimate(wish(recall=0.9), Facts(similarities=few), Machine(), {"minima": 24, "rows": 6}).estimate
    assert found.recall == pytest.approx(float(band_chance(0.8, 6, 4)))
    assert "the recall is that of a pair at the threshold" in found.notes


@pytest.mark.parametrize(
    ("asked", "methods"),
    [
        ({}, {"exact"}),
        ({"recall": 0.9}, {"exact", "minhash", "simhash"}),
        ({"recall": 0.9, "measure": "cosine", "weighting": "tf"}, {"exact", "simhash"}),
        ({"recall": 0.9, "measure": "containment"}, {"exact"}),
    ],
)
def test_only_methods_that_can_answer_are_considered(asked, methods):
    plan = choose(wish(**asked), Facts(), Machine(), OF_DOCUMENTS)
    assert {each.method for each in plan.candidates} == methods


def test_all_is_found_by_the_exact_join_or_the_wish_cannot_be_had():
    facts = Facts(counted=True, features=2000.0)
    assert choose(wish(), facts, Machine(), OF_DOCUMENTS).chosen.method == "exact"
    small = choose(wish(memory=700_000_000), facts, Machine(), OF_DOCUMENTS)
    assert small.chosen is None and small.giving_way("recall").method in ("minhash", "simhash")
    assert small.giving_way("memory").method == "exact"
    usual = minhash.estimate(wish(), facts, Machine(), minhash.usual(wish())).estimate
    assert usual.recall == pytest.approx(0.99995, abs=1e-5)


def test_the_method_by_recall_never_depends_on_speed():
    slow = Machine(constants={"count": 1e6, "rank": 1e6})
    for machine in (Machine(), slow):
        assert choose(wish(), Facts(), machine, OF_DOCUMENTS).chosen.method == "exact"
    assert choose(wish(recall=0.9), Facts(), slow, OF_DOCUMENTS).chosen.method != "exact"


def test_more_documents_take_more_of_everything():
    for method in (exact, minhash, simhash):
        parameters = {"exact": {}, "minhash": minhash.usual(wish()), "simhash": simhash.usual(wish())}
        name = method.__name__.rpartition(".")[2]
        before = None
        for rows in (1_000, 100_000, 10_000_000):
            found = method.estimate(wish(rows=rows), Facts(), Machine(), parameters[name]).estimate
            held = found.bytes.heap + found.bytes.mapped
            if before is not None:
                assert found.seconds > before[0] and held > before[1] and found.bytes.disk > before[2]
            before = (found.seconds, held, found.bytes.disk)
        assert all(map(math.isfinite, before))


def test_what_is_large_goes_to_disk_and_a_limit_keeps_it_out_of_memory():
    facts = Facts(counted=True, features=80.0)
    free = exact.estimate(wish(rows=1_000_000), facts, Machine(), {}).estimate
    tight = exact.estimate(wish(rows=1_000_000, memory=1_500_000_000), facts, Machine(), {}).estimate
    assert free.bytes.mapped == pytest.approx(12 * 80 * 10**6) and tight.bytes.mapped < free.bytes.mapped / 3
    assert exact.estimate(wish(rows=10_000), facts, Machine(), {}).estimate.bytes.mapped == 0
    assert (in_memory(None), in_memory(1_600_000_000)) == (1 << 28, 100_000_000)


def test_dense_lists_and_many_pairs_cost_time_and_memory():
    plain = exact.estimate(wish(), Facts(corpus=corpus(dense=0, listed=0)), Machine(), {}).estimate
    dense = exact.estimate(wish(), Facts(corpus=corpus(dense=1e9, listed=1e6)), Machine(), {}).estimate
    assert dense.seconds > plain.seconds + 1 and dense.bytes.heap > plain.bytes.heap + 10**8


def test_what_packing_reading_pages_and_parquet_take_is_told():
    def seconds(**known):
        return exact.estimate(wish(), Facts(corpus=corpus(**known)), Machine(), {}).estimate.seconds

    plain = seconds()
    assert seconds(compression="xz") > seconds(compression="gzip") > seconds(compression="zstd") > plain
    assert seconds(html=True, file_bytes=20_000.0) > 2 * plain
    assert seconds(format="parquet") > plain and seconds(format="text") > plain


def test_a_limit_is_kept_if_a_run_is_sure_to_keep_to_it():
    facts, asked = Facts(counted=True, features=50.0), wish(rows=200_000, memory=700_000_000)
    found = exact.estimate(asked, facts, Machine(), {})
    assert found.estimate.least == held_bytes(10**7, 200_000) + 32 * (2 * 10**6 + 200_000)
    assert missed(asked, found) == ("memory",)


def test_too_little_memory_is_refused():
    with pytest.raises(UsageError, match="too little"):
        check_limit(300_000_000)
    with pytest.raises(UsageError, match="allow more, or split them"):
        check_fits("binary", 10**9, 10**8, 10**9)
    with pytest.raises(UsageError, match="weigh by tf"):
        check_fits("bm25", 10**8, 10**4, 3 * 10**9)
