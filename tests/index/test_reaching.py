"""The effort that is chosen for a recall has about that recall, measured beside exact search."""

import numpy as np
import pytest

from sosie.errors import UsageError
from sosie.index.flat import FlatIndex
from sosie.index.multi import MultiIndex
from sosie.index.probe_search import ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.reaching import effort_for
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.types import Signatures


def near_pairs(count, bits, flips, seed=0):
    """Return random rows, and queries of which up to so many bits differ from one of them."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, (count, bits // 64), dtype=np.uint64)
    queries = words[:600].copy()
    for query in queries:
        for bit in rng.choice(bits, rng.integers(0, flips + 1), replace=False):
            query[bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return Signatures(words, bits), Signatures(queries, bits)


@pytest.mark.parametrize("recall", (0.6, 0.8, 0.95))
def test_probes_reach_a_recall_within_a_radius(recall):
    rows, queries = near_pairs(20_000, 64, 4)
    index, truth = ProbeIndex(rows), FlatIndex(rows).within(queries, 4)
    found = effort_for(index, queries, recall, radius=4)
    measured = len(index.within(queries, 4, effort=found.effort).rows) / len(truth.rows)
    assert found.recall >= recall and measured == pytest.approx(found.recall, abs=0.06)


@pytest.mark.parametrize("recall", (0.5, 0.9))
@pytest.mark.parametrize("bits", (64, 256))
def test_slices_reach_a_recall_of_the_nearest(bits, recall):
    rows, queries = near_pairs(20_000, bits, bits // 5)
    index, truth = SliceIndex(rows, 10), FlatIndex(rows).search(queries, 1)
    found = effort_for(index, queries, recall, k=1)
    matches = index.search(queries, 1, effort=found.effort)
    hit = np.zeros(len(queries), np.bool_)
    asked = np.repeat(np.arange(len(matches)), np.diff(matches.offsets))
    hit[asked] = matches.distances <= truth.distances[asked]
    assert found.recall >= recall and hit.mean() == pytest.approx(found.recall, abs=0.05)


def test_what_cannot_be_reached_by_lists_is_searched_in_full():
    rows = Signatures(np.random.default_rng(0).integers(0, 2**64, (3000, 4), dtype=np.uint64), 256)
    index = SliceIndex(rows, 12)
    found = effort_for(index, rows.take(np.arange(5)), 0.99, k=100)
    assert found.effort == SliceSearch(None, stop="certain") and found.recall == 1
    assert index.search(rows.take(np.arange(5)), 100, effort=found.effort).recall == 1


def test_slices_within_a_radius_are_exact():
    rows, queries = near_pairs(3000, 64, 3)
    index = SliceIndex(rows, 8)
    found = effort_for(index, queries, 1.0, radius=3)
    assert found.recall == 1 and index.within(queries, 3, effort=found.effort).recall == 1


def test_an_index_that_was_calibrated_knows():
    rows, queries = near_pairs(20_000, 64, 4)
    index = ProbeIndex(rows)
    index = index.tuned(index.calibrate(queries, 4, 0.8))
    assert effort_for(index, queries, index.effort.recall, radius=4) == (index.effort, index.effort.recall)
    assert effort_for(index, queries, 0.99, radius=4).effort.probes > index.effort.probes


def test_rows_that_are_the_query_do_not_count():
    rows, _ = near_pairs(5000, 64, 0)
    alone = effort_for(ProbeIndex(rows), rows.take(np.arange(100)), 0.9, radius=3, exclude_self=True)
    itself = effort_for(ProbeIndex(rows), rows.take(np.arange(100)), 0.9, radius=3)
    assert itself.effort == ProbeSearch(0) and alone.effort.probes > 10


def test_exact_kinds_need_no_effort_and_bad_recalls_are_refused():
    rows, queries = near_pairs(3000, 64, 2)
    assert effort_for(MultiIndex(rows), queries, 0.5, k=3) == (None, 1.0)
    for recall in (0, -1, 1.5):
        with pytest.raises(UsageError, match=r"recall is above 0 and at most 1"):
            effort_for(ProbeIndex(rows), queries, recall, radius=3)
    with pytest.raises(UsageError, match="too many probes"):
        effort_for(ProbeIndex(rows, header=20), queries, 1.0, k=3)
