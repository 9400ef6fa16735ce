import numpy as np
import pytest
from tests.oracle_hamming import signatures

from sosie.errors import UsageError
from sosie.evaluation.index_quality import evaluate_index
from sosie.evaluation.ratios import cumulative_distance_ratio, recall_at
from sosie.index.flat import FlatIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex

ROWS = signatures("random", 400, 64, ids=[f"d{i}" for i in range(400)])
ASKED = ROWS.take(np.arange(0, 400, 20))


def distances(a, b):
    return np.bitwise_count(a[:, None, :] ^ b[None, :, :]).sum(axis=2)


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("effort", [SliceSearch(1, 20), SliceSearch(3, 20, j=1), SliceSearch(None, 20)])
def test_it_is_what_an_exhaustive_search_by_hand_says(effort, exclude_self):
    index = SliceIndex(ROWS, 8)
    found = evaluate_index(index, ASKED, 5, effort=effort, exclude_self=exclude_self, threads=1)
    got = index.search(ASKED, 5, effort=effort, exclude_self=exclude_self)
    far = np.sort(distances(ASKED.words, ROWS.words), axis=1)[:, exclude_self : 5 + exclude_self]
    ours = np.array([got.of(query)[1] for query in range(len(ASKED))])
    tops, bottoms = np.cumsum(far, axis=1), np.cumsum(ours, axis=1)
    ratios = np.where(bottoms > 0, tops / np.maximum(bottoms, 1), 1.0)
    expected = [ratios[:, :rank].mean() for rank in range(1, 6)]
    assert found.ratios.tolist() == pytest.approx(expected) and found.ratio == pytest.approx(expected[-1])
    assert found.recall == pytest.approx((ours <= far[:, -1:]).mean())
    exact = FlatIndex(ROWS).search(ASKED, 5, exclude_self=exclude_self)
    assert found.ratio == pytest.approx(cumulative_distance_ratio(got, exact, 5, 64))
    assert found.recall == recall_at(got, exact, 5)
    assert (found.kind, found.rows, found.bits, found.queries, found.k) == ("slices", 400, 64, 20, 5)
    assert found.effort["j"] == effort.j and found.counters == got.counters
    assert found.seconds > 0 and found.exhaustive_seconds > 0


def test_without_an_effort_the_index_searches_as_it_was_built():
    found = evaluate_index(SliceIndex(ROWS, 8, SliceSearch(None)), ASKED, 5)
    assert found.recall == found.ratio == 1 and found.effort["breadth"] is None
    assert evaluate_index(FlatIndex(ROWS), ASKED, 5).effort == {}


def test_fewer_rows_than_k_are_all_asked_for():
    few = ROWS.take(np.arange(3))
    assert evaluate_index(FlatIndex(few), few, 10).k == 3
    assert evaluate_index(FlatIndex(few), few, 10, exclude_self=True).k == 2


def test_where_nothing_is_to_compare():
    one = ROWS.take(np.arange(1))
    with pytest.raises(UsageError, match="1 queries and 1 rows: there is nothing to compare"):
        evaluate_index(FlatIndex(one), one, exclude_self=True)
    with pytest.raises(UsageError, match="0 queries"):
        evaluate_index(FlatIndex(ROWS), ROWS.take(np.arange(0)))
