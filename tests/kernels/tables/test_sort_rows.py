import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.tables.equal import first_equal
from sosie.kernels.tables.keys import group_by_key
from sosie.kernels.tables.sort_rows import gather_equal, sort_by_top_bits

words = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=80)


@settings(deadline=None)
@given(words, st.integers(1, 44))
def test_sorted_by_the_top_bits(values, bits):
    keys = np.array(values, np.uint64)
    top = keys >> np.uint64(64 - bits)
    order = np.argsort(top, kind="stable")
    out_keys, rows = sort_by_top_bits(keys.copy(), np.arange(len(keys)), bits)
    assert np.array_equal(rows, order)
    assert np.array_equal(out_keys, keys[order])
    gather_equal(out_keys, rows, bits)
    full = np.argsort(keys, kind="stable")
    assert np.array_equal(out_keys, keys[full])
    assert np.array_equal(rows, full)


@settings(deadline=None)
@given(words)
def test_groups_of_equal_keys(values):
    offsets, members = group_by_key(np.array(values, np.uint64))
    groups = [part.tolist() for part in np.split(members, offsets[1:-1]) if len(part)]
    expected = [[i for i, v in enumerate(values) if v == value] for value in set(values)]
    assert sorted(groups) == sorted(group for group in expected if len(group) > 1)
    assert np.all(np.diff(offsets) > 1)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=50))
def test_the_first_equal_row(rows):
    array = np.array(rows, np.uint64).reshape(-1, 2)
    assert first_equal(array).tolist() == [rows.index(row) for row in rows]
