from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.index.flips import FlipModel
from sosie.planner.models.probes import (
    Delays,
    even_chance,
    even_recall,
    flip_chances,
    latency,
    likeliest_sets,
    likely_recall,
    most_flips,
    storage,
    tables,
    total_recall,
)
from sosie.types import Signatures


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 6))
def test_sets_come_once_and_in_order(costs, most):
    costs = sorted(map(float, costs))
    every = [*chain.from_iterable(combinations(range(len(costs)), size) for size in range(min(most, len(costs)) + 1))]
    found = [*likeliest_sets(costs, most, len(every) + 5)]
    sums = [sum(costs[bit] for bit in chosen) for chosen in found]
    assert sorted(found) == sorted(every) and sums == sorted(sums)
    assert len(every) == 1 + most_flips(len(costs), most)


@pytest.mark.parametrize(("header", "distance", "most"), ((12, 1, 3), (12, 3, 3), (20, 6, 6), (12, 6, 3)))
def test_recall_without_volatility_is_as_often_as_drawn(header, distance, most):
    """Sets of equal size come in some order; the bits that flipped are anywhere."""
    bits, rng = 40, np.random.default_rng(0)
    order = [chosen for size in range(most + 1) for chosen in combinations(range(header), size)]
    place = {chosen: i for i, chosen in enumerate(order)}
    flipped = [np.sort(rng.choice(bits, distance, replace=False)) for _ in range(4000)]
    found = np.array([place.get(tuple(each[each < header].tolist()), 10**9) for each in flipped])
    for flips in (0, 1, 5, 40, 300, 5000):
        assert even_recall(bits, header, distance, flips, most) == pytest.approx(np.mean(found <= flips), abs=0.025)
    assert even_chance(header, 0, 0, most) == 1.0


@pytest.mark.parametrize(("bits", "header", "most"), ((64, 16, 3), (64, 20, 8), (128, 12, 3)))
def test_recall_by_volatility_is_as_often_as_drawn(bits, header, most):
    """Pairs of sums with all kinds of cosines are drawn, and sets of the smallest sums are tried one by one."""
    rng, limit = np.random.default_rng(1), 64
    sums = rng.standard_normal((20_000, bits))
    cosine = np.cos(np.pi * rng.uniform(0, 0.15, (len(sums), 1)))
    others = cosine * sums + np.sqrt(1 - cosine**2) * rng.standard_normal(sums.shape)
    differ = (sums > 0) != (others > 0)
    distances, places = differ.sum(axis=1), np.full(len(sums), 10**9)
    wanted = {1: 400, 3: 400, 5: 400, most: 400}
    for pair, distance in enumerate(distances.tolist()):
        if wanted.get(distance, 0) <= 0:
            continue
        wanted[distance] -= 1
        order = np.argsort(np.abs(sums[pair, :header]))
        flipped = {place for place, bit in enumerate(order.tolist()) if differ[pair, bit]}
        costs = np.abs(sums[pair, order]).tolist()
        tried = likeliest_sets(costs, min(most, header), limit + 1)
        places[pair] = next((i for i, chosen in enumerate(tried) if set(chosen) == flipped), 10**9)
    for distance in {1, 3, 5} if most >= 5 else {1, 3}:
        of = places[distances == distance][:400]
        assert len(of) >= 150
        predicted = likely_recall(bits, header, distance, most, limit)
        for flips in (0, 2, 8, 64):
            assert predicted[flips] == pytest.approx(np.mean(of <= flips), abs=0.06)


def test_bits_of_small_sums_flip_as_often_as_in_pairs():
    rng, share = np.random.default_rng(2), 1 / 16
    cosine = np.cos(np.pi * share)
    sums = rng.standard_normal(400_000)
    others = cosine * sums + np.sqrt(1 - cosine**2) * rng.standard_normal(sums.size)
    flipped = (sums > 0) != (others > 0)
    assert flipped.mean() == pytest.approx(share, abs=0.002)
    for low, high in ((0, 0.05), (0.1, 0.2), (0.5, 0.6)):
        here = (np.abs(sums) >= low) & (np.abs(sums) < high)
        assert flip_chances(np.array([(low + high) / 2]), share)[0] == pytest.approx(flipped[here].mean(), abs=0.01)


def test_a_model_of_flips_from_a_sample_falls_as_the_closed_form_does():
    sums = np.random.default_rng(3).normal(size=(4000, 64)).astype(np.float32)
    model = FlipModel.of(Signatures(np.zeros(4000, np.uint64), volatility=sums))
    chances = model.probability([0.0, 0.5, 1.0, 2.0])
    assert np.all(np.diff(chances) < 0) and np.all(np.diff(flip_chances(np.array([0.0, 0.5, 1.0, 2.0]), 0.1)) < 0)


def test_time_is_least_at_t_equal_to_d_while_scans_dominate():
    costs = Delays(0.0, 0.0, 1.0)
    taken = [latency(most_flips(t, 3), t, 2**26, costs) for t in range(16, 27)]
    assert taken == sorted(taken, reverse=True)


def test_memory_is_worth_some_tables():
    assert storage(64, 26, 2**26) == tables(26, 2**26) * 2**26 * 8
    assert tables(20, 1_500_000, entry=4) == pytest.approx(1 + 4 * 2**20 / (8 * 1_500_000))
    assert total_recall(0.5, 0.9) == 0.45
