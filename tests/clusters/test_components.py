"""Connected components, against those of SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sosie.clusters import components as module
from sosie.clusters.components import Components, connected
from sosie.errors import MismatchError, UsageError
from sosie.types import Pairs


def by_scipy(a, b, rows):
    """Return the number of components, and the first row of each row's component."""
    count, labels = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(rows, rows)), directed=False)
    first = np.full(count, rows)
    np.minimum.at(first, labels, np.arange(rows))
    return count, first[labels]


def some(rows, pairs, seed):
    return np.random.default_rng(seed).integers(0, rows, (2, pairs))


@settings(deadline=None, max_examples=100)
@given(rows=st.integers(1, 60), pairs=st.integers(0, 60), cut=st.integers(0, 60), seed=st.integers(0, 999))
def test_pairs_in_pieces_connect_what_scipy_connects(rows, pairs, cut, seed):
    a, b = some(rows, pairs, seed)
    components = Components(rows)
    components.add(a[:cut], b[:cut])
    before = by_scipy(a[:cut], b[:cut], rows)
    assert components.first().tolist() == before[1].tolist() and components.count == before[0]
    components.add(b[cut:], a[cut:])
    count, first = by_scipy(a, b, rows)
    assert components.first().tolist() == first.tolist() and components.count == count


def test_many_rows_and_long_chains(monkeypatch):
    monkeypatch.setattr(module, "_STEP", 1000)
    for a, b in (
        some(30_000, 20_000, 1),
        (np.arange(29_999), np.arange(1, 30_000)),
        (np.arange(29_999)[::-1], np.arange(1, 30_000)[::-1]),
    ):
        first = connected(Pairs(a, b), 30_000)
        assert np.array_equal(first, by_scipy(a, b, 30_000)[1]) and first.dtype == np.uint32


def test_pairs_that_are_mapped(tmp_path):
    a, b = some(500, 300, 2)
    for name, side in (("a", a), ("b", b)):
        side.tofile(tmp_path / name)
    mapped = Pairs(*(np.memmap(tmp_path / name, np.int64, "r") for name in "ab"))
    assert np.array_equal(connected(mapped, 500), by_scipy(a, b, 500)[1])


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(MismatchError, match="from 0 to 2, got 3"):
        connected(Pairs(np.array([0]), np.array([3])), 3)
    with pytest.raises(UsageError, match="rows must be between 0 and 4,294,967,295"):
        Components(2**32)
    assert connected(Pairs(np.empty(0, np.int64), np.empty(0, np.int64)), 0).tolist() == []
