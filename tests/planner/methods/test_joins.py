"""What the joins are expected to find and to do, beside what they find and do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sosie
from sosie.jobs.planning.of_signatures import facts_of_signatures
from sosie.kernels.planes.weighed import stages_of
from sosie.planner.choose import choose
from sosie.planner.facts import Facts, Spread
from sosie.planner.held import held_rows
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.methods import block_join, brute, window
from sosie.planner.methods.brute import first_look
from sosie.planner.wish import Wish
from sosie.types import Signatures

JOINS = {"brute": brute, "blocks": block_join, "window": window}


def planted(count, bits, share, far, seed=0):
    """Random rows; so many of them have another that differs in up to `far` bits."""
    rng = np.random.default_rng(seed)
    rows = rng.random((count, bits)) < 0.5
    for row in range(round(count * share)):
        rows[-1 - row] = rows[row]
        rows[-1 - row, rng.choice(bits, rng.integers(1, far + 1), replace=False)] ^= True
    words = np.packbits(rows[rng.permutation(count)], axis=1, bitorder="little").view(np.uint64)
    return Signatures(np.ascontiguousarray(words), bits)


def wish_of(rows, radius, recall=1.0, **more):
    return Wish(task="join", rows=len(rows), bits=rows.bits, radius=radius, recall=recall, **more)


@pytest.mark.parametrize(("bits", "radius"), ((64, 3), (64, 14), (256, 60)))
def test_recall_and_counters_are_those_of_the_join(bits, radius):
    rows = planted(6000, bits, 0.2, radius)
    facts = facts_of_signatures(rows, radius=radius)
    every = len(sosie.join(rows, radius=radius, method="brute"))
    for name, costed in JOINS.items():
        wish = wish_of(rows, radius, 0.9 if name == "window" else 1.0)
        chosen = next(iter(costed.settings(wish, facts)))
        found = costed.estimate(wish, facts, Machine(), chosen).estimate
        pairs = sosie.join(rows, radius=radius, method=sosie.Window(**chosen) if name == "window" else name)
        assert found.recall >= wish.recall
        assert len(pairs) / every == pytest.approx(found.recall, abs=0.03)
        for counter in ("comparisons", "tables", "window_comparisons", "brute_comparisons"):
            assert (counter in found.work) == (counter in pairs.counters)
            if counter in found.work:
                assert pairs.counters[counter] == pytest.approx(found.work[counter], rel=0.15)


def test_two_collections_are_compared_across():
    a, b = planted(2000, 64, 0.0, 3), planted(5000, 64, 0.0, 3, 1)
    wish = Wish(task="join", rows=len(a), others=len(b), bits=64, radius=9, recall=0.8)
    for name, costed in JOINS.items():
        chosen = {"tables": 12, "window": 40} if name == "window" else {}
        found = costed.estimate(wish, Facts(), Machine(), chosen).estimate
        pairs = sosie.join(a, b, radius=9, method=sosie.Window(**chosen) if name == "window" else name)
        assert pairs.counters["comparisons"] == pytest.approx(found.work["comparisons"], rel=0.1)


def test_a_window_is_for_those_who_want_less_than_all():
    facts = Facts(distances=Spread.at(300))
    assert not list(window.settings(Wish(task="join", rows=10**6, bits=1024, radius=350), facts))
    asked = Wish(task="join", rows=10**6, bits=1024, radius=350, recall=0.95)
    shown = list(window.settings(asked, facts))
    assert 1 < len(shown) <= 4 and all(each["tables"] >= window.LEAST_TABLES for each in shown)
    for each in shown:
        found = window.estimate(asked, facts, Machine(), each).estimate
        assert 0.95 <= found.recall < 1
        fewer = {**each, "tables": each["tables"] * 9 // 10}
        assert window.estimate(asked, facts, Machine(), fewer).estimate.recall < found.recall


def test_what_is_chosen():
    def chosen(rows, bits, radius, recall=1.0, facts=Facts(), **more):  # noqa: B008
        wish = Wish(task="join", rows=rows, bits=bits, radius=radius, recall=recall, **more)
        return choose(wish, facts, Machine()).chosen.method

    assert chosen(10**6, 64, 3) == "blocks join"
    assert chosen(10**6, 256, 53) == "brute"
    assert chosen(10**7, 1024, 350, 0.9, Facts(distances=Spread.at(300))) == "window"
    assert chosen(10**4, 1024, 350, 0.9, Facts(distances=Spread.at(300))) == "brute"
    assert chosen(10**6, 64, 3, 0.5) == "blocks join"  # exact and cheaper anyway
    assert chosen(5 * 10**6, 1024, 40, memory=1_000_000_000) == "blocks join"  # in pieces: copies of all do not fit


@settings(deadline=None, max_examples=60)
@given(
    rows=st.integers(1, 10**9),
    others=st.integers(0, 10**8),
    bits=st.sampled_from((64, 256, 1000)),
    radius=st.integers(0, 60),
    recall=st.sampled_from((1.0, 0.9)),
    memory=st.none() | st.integers(600, 8000).map(lambda megabytes: megabytes * 10**6),
    threads=st.integers(1, 64),
)
def test_estimates_are_numbers_of_any_wish(rows, others, bits, radius, recall, memory, threads):
    wish = Wish(
        task="join", rows=rows, others=others, bits=bits, radius=radius, recall=recall, memory=memory, threads=threads
    )
    for costed in JOINS.values():
        for chosen in costed.settings(wish, Facts()):
            found = costed.estimate(wish, Facts(), Machine(), chosen).estimate
            assert 0 < found.recall <= 1 and found.seconds >= 0
            assert min(vars(found.bytes).values()) >= 0 and found.bytes.mapped == (rows + others) * bits // 8
            assert all(value >= 0 for value in found.work.values())


def test_tables_in_pieces_take_longer_and_hold_less():
    rows, limits = 10**8, (None, 4 * 10**9, 10**9)
    found = [
        block_join.estimate(
            Wish(task="join", rows=rows, bits=64, radius=3, memory=limit, threads=2), Facts(), Machine(), {}
        )
        for limit in limits
    ]
    heaps = [each.estimate.bytes.heap for each in found]
    assert heaps == sorted(heaps, reverse=True)
    seconds = [each.estimate.seconds for each in found]
    assert seconds == sorted(seconds)
    for limit, each in zip(limits[1:], found[1:], strict=True):
        assert PROGRAM + each.estimate.bytes.heap <= limit
        assert held_rows(limit, 12, 2) * block_join.pieces_of(rows, 64, limit, 2) >= rows


@pytest.mark.parametrize("bits", (32, 64, 100, 256, 1000, 1024))
def test_rows_are_given_up_where_the_join_looks_first(bits):
    for radius in range(0, bits, max(bits // 40, 1)):
        stages = stages_of(bits, radius)
        assert first_look(bits, radius) == stages.ends[np.argmax(stages.looks)]


def test_no_method_joins_what_is_no_signature():
    for costed in JOINS.values():
        assert not list(costed.settings(Wish(task="join", rows=10, threshold=0.8), Facts()))
    assert not list(block_join.settings(Wish(task="join", rows=10, bits=8, radius=8), Facts()))
