"""Sought features: found wherever the filter knows their leading bits, in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sosie.kernels.sets.sought import sought_places

ROWS = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=6, unique=True).map(sorted), max_size=8)


@given(ROWS, st.lists(st.booleans(), min_size=16, max_size=16))
def test_against_looking_at_each(rows, known):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    hashes = np.array([value for row in rows for value in row], np.uint64)
    places, at = sought_places(hashes, offsets[:-1], offsets[1:], np.array(known), 60)
    expected = [(place, row) for row, values in enumerate(rows) for place, value in enumerate(values, offsets[row])
                if known[value >> 60]]  # fmt: skip
    assert list(zip(places.tolist(), at.tolist(), strict=True)) == expected
