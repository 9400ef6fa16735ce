"""Pairs to learn from: the best of both ends, ahead of the second best by a margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle_vectors as oracle

from sosie.crosslingual.compared import Compared
from sosie.crosslingual.confident import Confident, confident

pair = st.tuples(st.integers(0, 5), st.integers(0, 5))
pairs = st.dictionaries(pair, st.one_of(st.sampled_from([0.25, 0.5]), st.floats(0.001, 1)), max_size=20)


def compared(drawn):
    a, b = (np.array([pair[end] for pair in sorted(drawn)], np.int64) for end in (0, 1))
    return Compared(a, b, np.array([drawn[pair] for pair in sorted(drawn)], np.float64))


def confident_of(listed):
    a, b = (np.array([pair[end] for pair in listed], np.int64) for end in (0, 1))
    return Confident(a, b, np.ones(len(listed)))


@given(pairs, st.sampled_from([0.0, 1.0, 1.05, 2.0]))
def test_against_looking_at_all_pairs(drawn, least):
    margins = oracle.margins(drawn)
    found = confident(compared(drawn), least)
    expected = sorted((p for p in margins if margins[p] >= least), key=lambda p: (-margins[p], p))
    assert list(zip(found.a.tolist(), found.b.tolist(), strict=True)) == expected
    assert found.margin.tolist() == pytest.approx([margins[p] for p in expected])


def test_those_hardly_ahead_are_not_confident():
    drawn = {(0, 0): 0.5, (0, 1): 0.48, (1, 1): 0.5, (1, 2): 0.1, (2, 2): 0.5}
    assert confident(compared(drawn)).a.tolist() == [2, 0, 1]  # 0 has a rival on one side only
    drawn[1, 0] = 0.49
    assert confident(compared(drawn)).a.tolist() == [2]


def test_alone_is_far_ahead():
    found = confident(compared({(3, 1): 0.25}))
    assert found.a.tolist() == [3] and found.b.tolist() == [1] and found.margin[0] > 1e6


def test_the_surest_come_first():
    found = confident(compared({(0, 0): 0.5, (0, 1): 0.25, (1, 1): 1.0, (2, 2): 0.75, (2, 0): 0.25}))
    assert found.margin.tolist() == sorted(found.margin.tolist(), reverse=True)
    assert [each.tolist() for each in found.first(1)] == [each[:1].tolist() for each in found]
    assert len(found.first(99).a) == len(found.a) == 3


@given(st.sets(pair, max_size=12), st.sets(pair, max_size=12))
def test_how_much_two_rounds_have_in_common(some, others):
    expected = len(some & others) / len(some | others) if some | others else 1.0
    assert confident_of(list(some)).same(confident_of(list(others))) == expected
