"""What matching a batch with a store is expected to find and to do, beside what it finds and does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sosie
from sosie.planner.choose import choose
from sosie.planner.facts import Facts, Spread
from sosie.planner.machine import Machine
from sosie.planner.methods import store_blocks, store_probes
from sosie.planner.wish import Wish
from sosie.types import Signatures

COSTED = {"store blocks": store_blocks, "store probes": store_probes}


def stored(path, rows, bits):
    words = np.random.default_rng(0).integers(0, 2**64, (rows, bits // 64), dtype=np.uint64)
    store = sosie.SignatureStore(path / "store")
    store.append(Signatures(words, bits))
    return store, words


def near(words, count, far, seed=1):
    """Rows that differ in just so many bits from some of the words."""
    rng = np.random.default_rng(seed)
    batch = words[rng.choice(len(words), count, replace=False)]
    for row in batch:
        for place in rng.choice(64 * len(row), far, replace=False):
            row[place // 64] ^= np.uint64(1) << np.uint64(place % 64)
    return Signatures(batch, 64 * batch.shape[1])


@pytest.mark.parametrize("bits", (64, 256))
def test_recall_and_counters_are_those_of_the_store(tmp_path, bits):
    store, words = stored(tmp_path, 40_000, bits)
    batch = near(words, 2000, 3)
    facts = Facts(counted=True, matches=1.0, distances=Spread.at(3))
    wish = Wish(task="batch", rows=len(store), others=len(batch), bits=bits, radius=3, recall=0.9)
    for costed, given_ in (
        (store_blocks, {"blocks": 4}),
        (store_blocks, {"blocks": 5}),
        (store_probes, {"probes": 60}),
    ):
        found = costed.estimate(wish, facts, Machine(), given_).estimate
        matches = store.match(batch, 3, **given_)
        assert (np.diff(matches.offsets) > 0).mean() == pytest.approx(found.recall, abs=0.03)
        for counter, expected in found.work.items():
            assert matches.counters[counter] == pytest.approx(expected, rel=0.15)


def test_wide_rows_are_met_in_pieces(tmp_path):
    store, words = stored(tmp_path, 30_000, 1024)
    batch = near(words, 500, 3)
    wish = Wish(task="batch", rows=len(store), others=len(batch), bits=1024, radius=3, recall=0.9)
    found = store_probes.estimate(wish, Facts(), Machine(), {"probes": 20}).estimate
    assert store.match(batch, 3, probes=20).counters["probes"] == found.work["probes"] == 4 * 21 * 500


def test_what_is_chosen():
    def chosen(rows, batch, recall, radius=3, **facts):
        wish = Wish(task="batch", rows=rows, others=batch, bits=64, radius=radius, recall=recall)
        return choose(wish, Facts(**facts), Machine()).chosen

    assert chosen(10**8, 10**6, 1.0).method == "store blocks"
    assert chosen(10**7, 100, 1.0).method == "store probes"  # all sets of flips of so few are soon tried
    assert chosen(10**7, 100, 1.0).estimate.recall == 1
    some = chosen(10**7, 10**5, 0.9, volatile=True)
    assert some.method == "store probes" and 0.9 <= some.estimate.recall < 1


@settings(deadline=None, max_examples=40)
@given(
    rows=st.integers(1, 10**9),
    batch=st.integers(1, 10**7),
    bits=st.sampled_from((8, 64, 256, 1000)),
    radius=st.integers(0, 8),
    recall=st.sampled_from((1.0, 0.9)),
)
def test_estimates_are_numbers_of_any_wish(rows, batch, bits, radius, recall):
    wish = Wish(task="batch", rows=rows, others=batch, bits=bits, radius=radius, recall=recall)
    for costed in COSTED.values():
        for given_ in costed.settings(wish, Facts()):
            found = costed.estimate(wish, Facts(), Machine(), given_).estimate
            assert 0 < found.recall <= 1 and found.seconds > 0
            assert min(vars(found.bytes).values()) >= 0 and min(found.work.values()) >= 0
