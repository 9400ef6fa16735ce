import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle_hamming import queries_near, signatures

from sosie.errors import MismatchError, UsageError
from sosie.evaluation.ratios import cumulative_distance_ratio, distance_ratios, recall_at
from sosie.index.flat import FlatIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.types import Matches

BITS = 50


def matches(lists):
    offsets = np.concatenate([[0], np.cumsum([len(found) for found in lists])]).astype(np.int64)
    distances = np.array([d for found in lists for d in sorted(found)], np.int32)
    return Matches(offsets, np.arange(len(distances)), distances)


def ratio(found, exact, k):
    """ISSL 6, word for word, for one query."""
    found = [*sorted(found), *[BITS] * k]
    values = []
    for p in range(1, min(k, len(exact)) + 1):
        top, bottom = sum(sorted(exact)[:p]), sum(found[:p])
        values.append(1 if top == bottom == 0 else top / bottom)
    return values


distances = st.lists(st.integers(0, BITS), max_size=6)


@given(lists=st.lists(st.tuples(distances, distances), min_size=1, max_size=5), k=st.integers(1, 8))
def test_the_ratios_are_those_of_the_paper(lists, k):
    exact = [sorted(a + b)[: max(len(a), len(b))] for a, b in lists]
    found = [a for a, _ in lists]
    expected = [ratio(f, e, k) for f, e in zip(found, exact, strict=True)]
    got = distance_ratios(matches(found), matches(exact), k, BITS)
    for row, values in zip(got, expected, strict=True):
        assert row[: len(values)].tolist() == pytest.approx(values)
        assert np.all(np.isnan(row[len(values) :]))
    every = [value for values in expected for value in values]
    mean = cumulative_distance_ratio(matches(found), matches(exact), k, BITS)
    assert mean == pytest.approx(math.fsum(every) / len(every) if every else 1)
    right = sum(d <= sorted(e)[:k][-1] for f, e in zip(found, exact, strict=True) if e for d in sorted(f)[:k])
    wanted = sum(min(k, len(e)) for e in exact)
    assert recall_at(matches(found), matches(exact), k) == pytest.approx(right / wanted if wanted else 1)


def test_a_high_ratio_is_no_recall():
    rows = signatures("random", 3000, 1024, ids=[f"d{i}" for i in range(3000)])
    queries = rows.take(np.arange(20))
    exact = FlatIndex(rows).search(queries, 10, exclude_self=True)
    found = SliceIndex(rows, 8, SliceSearch(0, candidates=20)).search(queries, 10, exclude_self=True)
    assert cumulative_distance_ratio(found, exact, 10, 1024) > 0.9
    assert recall_at(found, exact, 10) < 0.3
    assert recall_at(exact, exact, 10) == cumulative_distance_ratio(exact, exact, 10, 1024) == 1


def test_what_does_not_fit_is_refused():
    rows = signatures("random", 9, 64)
    exact = FlatIndex(rows).search(queries_near(rows, 3), 2)
    with pytest.raises(MismatchError, match=r"2 queries.*3"):
        recall_at(FlatIndex(rows).search(queries_near(rows, 2), 2), exact, 2)
    with pytest.raises(UsageError, match="k"):
        distance_ratios(exact, exact, 0, 64)
