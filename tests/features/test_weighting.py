"""Weights: the formulas, rounded once, of each feature by itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie import Features, UsageError
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import FIXED_POINT, WEIGHTINGS, fixed_point, weights

documents = st.lists(st.dictionaries(st.integers(0, 12), st.integers(1, 1000), max_size=6), max_size=8)


def counted(rows) -> Features:
    flat = [pair for row in rows for pair in sorted(row.items())]
    hashes, counts = np.array([h for h, _ in flat], np.uint64), np.array([n for _, n in flat], np.int32)
    return Features(hashes, np.cumsum([0, *map(len, rows)]), counts)


@settings(max_examples=100)
@given(documents, documents, st.sampled_from(WEIGHTINGS))
@example([], [{1: 2}], "tf-idf")
@example([{}], [{1: 2}], "bm25")
def test_weights_are_the_rounded_formulas(collection, rows, weighting):
    """Of new documents, too, which hold features that the collection does not know."""
    features = counted(rows)
    found = weights(features, weighting, count_frequencies([counted(collection)]))
    exact = [oracle.weights(row, weighting, collection)[feature] for row in rows for feature in sorted(row)]
    assert found.dtype == np.float64
    assert found.tolist() == [round(Fraction(weight) * FIXED_POINT) / FIXED_POINT for weight in exact]
    assert (found > 0).all()


@settings(max_examples=30)
@given(documents, st.sampled_from(WEIGHTINGS), st.data())
def test_pieces_weigh_like_the_whole(rows, weighting, data):
    frequencies = count_frequencies([counted(rows)])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    pieces = [weights(counted(rows[a:b]), weighting, frequencies) for a, b in pairwise([0, *cuts, len(rows)])]
    assert np.array_equal(np.concatenate(pieces), weights(counted(rows), weighting, frequencies))


def test_large_numbers():
    """As many repeats as a count can hold: no overflow."""
    features = counted([{7: 2**31 - 1, 9: 1}])
    for weighting in ("tf-idf", "bm25"):
        found = weights(features, weighting, count_frequencies([counted([Counter({7: 2**31 - 1}), Counter({9: 3})])]))
        assert np.isfinite(found).all() and (found > 0).all()


def test_rounding_is_half_to_even_and_exact():
    values = np.array([0.5, 1.5, -0.5, 2.4, 2.6]) / FIXED_POINT
    assert fixed_point(values).tolist() == [0, 2, 0, 2, 3]
    assert fixed_point([2.0**36 / FIXED_POINT]).tolist() == [2**36]


def test_what_weights_need():
    plain = Features(np.array([1], np.uint64), np.array([0, 1]))
    assert weights(plain, "binary").tolist() == [1]
    for weighting in ("tf", "tf-idf", "bm25"):
        with pytest.raises(UsageError, match=f"{weighting} needs term counts"):
            weights(plain, weighting)
    for weighting in ("tf-idf", "bm25"):
        with pytest.raises(UsageError, match="document frequencies"):
            weights(counted([{1: 1}]), weighting)
    with pytest.raises(UsageError, match="idf"):
        weights(counted([{1: 1}]), "idf")
