import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.planner.models.cuts import widths
from sosie.planner.models.multi import candidates, chance_at_step, lookups, step, substrings


@given(st.integers(4, 40), st.integers(1, 6), st.integers(0, 12))
def test_look_ups_are_those_of_section_3(bits, tables, radius):
    """For a radius of m r' + a, a + 1 tables are searched within r' bits and the others within r' - 1."""
    tables, radius = min(tables, bits), min(radius, bits)
    whole, more = divmod(radius, tables)
    expected = 0
    for table, width in enumerate(widths(bits, tables)):
        for flips in range(whole + (table <= more)):
            expected += len([*combinations(range(width), flips)]) if width < 12 else math.comb(width, flips)
    assert lookups(bits, tables, radius) == expected


@pytest.mark.parametrize(("bits", "tables", "radius"), ((24, 3, 4), (25, 2, 5), (32, 4, 3)))
def test_lists_are_as_long_as_predicted(bits, tables, radius):
    rng = np.random.default_rng(0)
    rows, queries = rng.integers(0, 2, (3000, bits)), rng.integers(0, 2, (200, bits))
    edges = np.cumsum([0, *widths(bits, tables)])
    apart = [(queries[:, None, low:high] != rows[None, :, low:high]).sum(axis=2) for low, high in pairwise(edges)]
    read = sum(np.count_nonzero(apart[number % tables] == number // tables) for number in range(radius + 1))
    predicted = candidates(len(rows), bits, tables, radius) * len(queries)
    assert read == pytest.approx(predicted, rel=0.02)


@pytest.mark.parametrize(("bits", "tables", "distance"), ((24, 3, 5), (30, 4, 9), (13, 2, 3)))
def test_a_row_is_seen_as_early_as_predicted(bits, tables, distance):
    rng = np.random.default_rng(1)
    edges = np.cumsum([0, *widths(bits, tables)])
    flipped = np.zeros((20_000, bits), np.int64)
    np.put_along_axis(flipped, np.argsort(rng.random(flipped.shape), axis=1)[:, :distance], 1, axis=1)
    parts = np.stack([flipped[:, low:high].sum(axis=1) for low, high in pairwise(edges)], 1)
    first = (parts * tables + np.arange(tables)).min(axis=1)
    for number in range(distance + 2):
        predicted = chance_at_step(bits, tables, distance, number)
        assert predicted == pytest.approx(np.mean(first <= number), abs=0.015)
    assert chance_at_step(bits, tables, distance, distance) == 1.0


def test_a_step_looks_up_each_value_at_its_distance():
    assert [step(64, 3, number) for number in range(4)] == [(0, 1), (1, 1), (2, 1), (0, 21)]
    assert substrings(128, 2**20) == 6
