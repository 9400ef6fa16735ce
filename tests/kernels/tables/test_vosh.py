from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.tables.vosh import (
    COSTLIEST,
    FEW,
    NEVER,
    WIDEST,
    costs_by_size,
    costs_by_table,
    few_sets,
    flip_places,
    write_few_flips,
    write_flips,
)

COSTS = st.integers(1, 12).flatmap(
    lambda bits: st.lists(
        st.lists(st.one_of(st.integers(1, 5), st.integers(1, COSTLIEST)), min_size=bits, max_size=bits),
        min_size=1,
        max_size=3,
    )
)


def every_set(costs, most):
    """Return all sets of at most `most` bits as masks: none, then by cost, then by their bits from cheap to costly."""
    ranked = sorted(range(len(costs)), key=lambda bit: (costs[bit], bit))
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(range(len(costs)), size)]
    sets.sort(key=lambda chosen: (sum(costs[ranked[place]] for place in chosen), chosen))
    return [0, *(sum(1 << ranked[place] for place in chosen) for chosen in sets)]


def written(costs, most, count):
    flips = np.empty((len(costs), count), np.uint32)
    write_flips(costs, most, flips)
    return flips


@settings(deadline=None, max_examples=80)
@given(costs=COSTS, data=st.data())
def test_every_set_once_the_cheapest_first(costs, data):
    bits = len(costs[0])
    most = data.draw(st.integers(1, bits))
    count = sum(comb(bits, size) for size in range(most + 1))
    flips = written(np.array(costs, np.int32), most, count)
    assert flips.tolist() == [every_set(line, most) for line in costs]
    assert all(len(set(line)) == count for line in flips.tolist())
    few = data.draw(st.integers(2, count))
    assert np.array_equal(written(np.array(costs, np.int32), most, few), flips[:, :few])


@settings(deadline=None, max_examples=80)
@given(costs=COSTS, data=st.data())
def test_few_sets_are_those_of_the_heap(costs, data):
    bits = len(costs[0])
    most = data.draw(st.integers(1, bits))
    count = data.draw(st.integers(1, min(FEW, sum(comb(bits, size) for size in range(most + 1)))))
    few = np.empty((len(costs), count), np.uint32)
    write_few_flips(np.array(costs, np.int32), few_sets(count, bits, most), few)
    assert few.tolist() == [every_set(line, most)[:count] for line in costs]


def test_the_widest_header_and_the_dearest_bits():
    costs = np.full((1, WIDEST), COSTLIEST, np.int32)
    sets = few_sets(FEW, WIDEST, WIDEST)
    assert len(sets) < 256  # their order has 8 bits of a key
    few = np.empty((1, FEW), np.uint32)
    write_few_flips(costs, sets, few)
    assert few.tolist() == written(costs, WIDEST, FEW).tolist()
    assert few[0, 1 : 1 + WIDEST].tolist() == [1 << bit for bit in range(WIDEST)]


@settings(deadline=None, max_examples=40)
@given(costs=COSTS, limit=st.integers(0, 30))
def test_places_are_where_sets_are_written(costs, limit):
    bits = len(costs[0])
    limit = min(limit, 2**bits - 1)
    wanted = np.arange(2**bits, dtype=np.uint32)
    offsets = np.arange(len(costs) + 1) * len(wanted)
    places = flip_places(np.array(costs, np.int32), bits, offsets, np.tile(wanted, len(costs)), limit)
    for line, found in zip(costs, places.reshape(len(costs), -1), strict=True):
        order = every_set(line, bits)
        expected = [order.index(mask) if order.index(mask) <= limit else NEVER for mask in wanted.tolist()]
        assert found.tolist() == expected


@pytest.mark.parametrize("scale", (1e-20, 1.0, 1e20))
def test_costs_grow_with_the_sums(scale):
    sums = np.array([[0, -3, 1, 2], [0, 0, 0, 0]], np.float32) * np.float32(scale)
    costs = costs_by_size(sums, np.array([0, 1, 3]))
    assert costs[0, 0] == 1 and costs[0, 1] == COSTLIEST and abs(costs[0, 2] - COSTLIEST * 2 / 3) < 2
    assert costs[1].tolist() == [1, 1, 1]


def test_costs_from_a_table():
    table = np.array([5, 6, 9], np.int32)
    sums = np.array([[0.0, 0.49, -0.5, 1.2, -1e30]], np.float32)
    assert costs_by_table(sums, np.arange(5), 0.5, table).tolist() == [[5, 5, 6, 9, 9]]
