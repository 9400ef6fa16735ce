"""Beads: a monotone cover of both sides, as cheap as plain dynamic programming finds it."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.crosslingual import beads
from sosie.crosslingual.beads import Bead, align, deviation, in_one_measure

PRIORS = {(1, 1): 0.89, (1, 0): 0.00495, (0, 1): 0.00495, (2, 1): 0.0445, (1, 2): 0.0445, (2, 2): 0.011}
lengths = st.lists(st.integers(1, 400), max_size=12)


def bead_cost(source, target, shape):
    """Return what a bead costs, by the formula: how likely its shape and, of a pair, so great a deviation are."""
    if 0 in shape:
        return -math.log(PRIORS[shape])
    mean = (source + target) / 2
    off = abs(source - target) / math.sqrt(6.8 * mean + (0.15 * mean) ** 2) if mean else 0
    tail = math.erfc(off / math.sqrt(2))
    return -math.log(PRIORS[shape]) - math.log(max(tail, 1e-4))


def cost_of(source, target, found, score=None):
    total = 0.0
    for bead in found:
        shape = bead.last - bead.first, bead.end - bead.start
        total += bead_cost(sum(source[bead.first : bead.last]), sum(target[bead.start : bead.end]), shape)
        if score is not None and bead.is_pair:
            total += 10 * (1 - 2 * score(range(bead.first, bead.last), range(bead.start, bead.end)))
    return total


def least_cost(source, target):
    """Return the cost of the cheapest alignment, by plain recursion."""

    @cache
    def least(row, column):
        if row == column == 0:
            return 0.0
        return min(
            least(row - up, column - left)
            + bead_cost(sum(source[row - up : row]), sum(target[column - left : column]), (up, left))
            for up, left in PRIORS
            if up <= row and left <= column
        )

    return least(len(source), len(target))


def check_cover(found, rows, columns):
    """Every part is in one bead, in order."""
    assert [i for bead in found for i in range(bead.first, bead.last)] == [*range(rows)]
    assert [j for bead in found for j in range(bead.start, bead.end)] == [*range(columns)]
    assert all((bead.last - bead.first, bead.end - bead.start) in PRIORS for bead in found)


@given(lengths, lengths)
def test_the_cheapest_cover(source, target):
    found = align(np.array(source, float), np.array(target, float))
    check_cover(found, len(source), len(target))
    assert cost_of(source, target, found) == pytest.approx(least_cost(source, target), abs=1e-6)


@given(lengths, lengths, st.integers(0, 3))
def test_a_narrow_band_still_covers(source, target, width):
    saved = beads._LEAST_BAND, beads._BLOCK
    try:
        beads._LEAST_BAND, beads._BLOCK = width, 7
        check_cover(align(np.array(source, float), np.array(target, float)), len(source), len(target))
        check_cover(align(np.array([1.0]), np.array(target, float)), 1, len(target))
        check_cover(align(np.array(source, float), np.array([1.0])), len(source), 1)
    finally:
        beads._LEAST_BAND, beads._BLOCK = saved


@given(lengths, lengths)
def test_blocks_do_not_matter(source, target):
    whole = align(np.array(source, float), np.array(target, float))
    saved = beads._BLOCK
    try:
        beads._BLOCK = 7
        assert align(np.array(source, float), np.array(target, float)) == whole
    finally:
        beads._BLOCK = saved


@given(lengths, lengths)
def test_no_side_is_preferred(source, target):
    ours = align(np.array(source, float), np.array(target, float))
    theirs = align(np.array(target, float), np.array(source, float))
    assert cost_of(source, target, ours) == pytest.approx(cost_of(target, source, theirs), abs=1e-6)


@given(st.floats(0.1, 10), lengths, lengths)
def test_measures_are_those_of_the_other_side(ratio, source, target):
    ours = in_one_measure(source, target, ratio)
    theirs = in_one_measure(target, source, 1 / ratio)
    assert np.allclose(ours[0], theirs[1]) and np.allclose(ours[1], theirs[0])


def test_deviations():
    assert deviation(0, 0) == 0 and deviation(50, 50) == 0
    assert deviation(100, 130) == deviation(130, 100) < deviation(100, 200) < deviation(100, 400)


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=6),
    st.lists(st.integers(1, 400), min_size=1, max_size=6),
    st.randoms(),
)
def test_scores_are_counted(source, target, random):
    known = {}

    def score(some, others):
        return known.setdefault((tuple(some), tuple(others)), random.random())

    found = align(np.array(source, float), np.array(target, float), score)
    check_cover(found, len(source), len(target))

    def full(some, others):
        return known.get((tuple(some), tuple(others)), 0.0)

    without = align(np.array(source, float), np.array(target, float))
    assert cost_of(source, target, found, full) <= cost_of(source, target, without, full) + 1e-6


def test_a_score_tells_which_of_equal_ones_is_new():
    ours, theirs = np.array([80.0] * 4), np.array([80.0] * 5)
    right = {0: 0, 1: 1, 2: 3, 3: 4}

    def score(some, others):
        return float(all(right[i] in others for i in some) and len(some) == len(others))

    found = [bead for bead in align(ours, theirs, score) if bead.is_pair]
    assert found == [Bead(i, i + 1, right[i], right[i] + 1) for i in range(4)]


def test_thousands_of_parts():
    random = np.random.default_rng(7)
    source = random.integers(20, 600, 3000).astype(float)
    target = np.delete(source * random.normal(1, 0.05, 3000), [100, 2000])
    found = align(source, target)
    check_cover(found, 3000, 2998)
    single = [bead for bead in found if bead.last - bead.first == bead.end - bead.start == 1]
    right = sum(bead.first - bead.start == (bead.first > 100) + (bead.first > 2000) for bead in single)
    assert right > 2950


def test_one_part_for_thousands():
    check_cover(align(np.array([9e4, 9e4]), np.full(3000, 60.0)), 2, 3000)
    check_cover(align(np.full(3000, 60.0), np.array([9e4])), 3000, 1)
