"""Sparse rows as Hypothesis draws them, and as the kernels take them."""

import numpy as np
from hypothesis import strategies as st

from sosie.arrays import read_only
from sosie.kernels.vectors.dots import SparseRows
from sosie.types import offsets_of

WIDTH = 9
# Of few kinds, so that products are equal by chance; and such that no sum of them is exact.
weights = st.one_of(st.sampled_from([0.25, 0.5, 1.0]), st.floats(2**-7, 1, width=32))
row = st.dictionaries(st.integers(0, WIDTH - 1), weights, max_size=6)


def rows(most=8, least=0):
    return st.lists(row, min_size=least, max_size=most)


def sparse(drawn):
    """Return dicts as rows, read-only."""
    columns = [column for each in drawn for column in sorted(each)]
    values = [each[column] for each in drawn for column in sorted(each)]
    made = offsets_of([len(each) for each in drawn]), np.array(columns, np.int32), np.array(values, np.float32)
    return SparseRows(*map(read_only, made))


def dicts(made):
    """Return rows as dicts."""
    return [
        dict(zip(made.columns[start:end].tolist(), made.weights[start:end].astype(float).tolist(), strict=True))
        for start, end in zip(made.offsets[:-1].tolist(), made.offsets[1:].tolist(), strict=True)
    ]
