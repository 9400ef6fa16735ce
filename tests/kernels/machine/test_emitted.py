"""Single instructions against plain Python: rotations, and copies of the first elements of an array."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.kernels.machine.bits import rotated
from sosie.kernels.machine.memory import copy_first


@numba.njit
def rotate(x, bits):
    return rotated(x, bits)


@numba.njit
def copy(source, target, count):
    copy_first(source, target, count)


@given(st.integers(0, 2**64 - 1), st.integers(0, 63))
def test_rotated(x, bits):
    assert int(rotate(np.uint64(x), bits)) == ((x << bits) | (x >> (64 - bits))) % 2**64


@pytest.mark.parametrize("kind", ["u1", "i4", "u8", "f8"])
def test_copied(kind):
    source, target = np.arange(9).astype(kind), np.full(12, 77).astype(kind)
    source.flags.writeable = False
    copy(source, target, 0)
    copy(source[2:], target[1:], 4)
    assert target.tolist() == [77, 2, 3, 4, 5, *[77] * 7]


def test_arrays_of_another_type_are_refused():
    with pytest.raises(Exception, match="cannot copy"):
        copy(np.zeros(2, np.int32), np.zeros(2, np.int64), 2)
