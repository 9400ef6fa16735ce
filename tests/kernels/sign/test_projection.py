"""The numbers of random vectors, for every field that they can be made of, and the words that they are drawn from."""

from __future__ import annotations

import numpy as np
from tests import oracle_projection

from sosie.kernels.sign.mix import lane_word
from sosie.kernels.sign.projection import _draw, _make_gaussian, _make_ternary

EVERY = np.arange(1 << 16, dtype=np.uint16)


def test_every_gaussian_number():
    drawn = EVERY.copy().view(np.uint64)
    _make_gaussian(drawn)
    expected = [oracle_projection.gaussian(field) for field in EVERY.tolist()]
    assert (2 * drawn.view(np.uint16).astype(int) - 207).tolist() == expected


def test_every_ternary_number():
    drawn = EVERY.copy().view(np.uint64)
    _make_ternary(drawn)
    expected = [oracle_projection.ternary(field) for field in EVERY.tolist()]
    assert (drawn.view(np.uint16).astype(int) - 1).tolist() == expected


def test_words_are_drawn_lane_by_lane():
    feature, first = np.uint64(2**64 - 5), np.uint64(1024 * (2**32 - 1))
    drawn = np.empty(40, np.uint64)
    _draw(feature, first, drawn)
    assert drawn.tolist() == [int(lane_word(feature, first + np.uint64(j))) for j in range(40)]
