"""The logarithm of the weights: right to the last places, and the same bits everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.sign.weigh import logarithm


@settings(max_examples=300)
@given(st.one_of(st.floats(1, 1e18), st.floats(1, 4), st.fractions(min_value=1, max_value=10**9).map(float)))
def test_the_logarithm_is_that_of_the_library_up_to_the_last_places(x):
    assert logarithm(x) == pytest.approx(math.log(x), rel=4e-16, abs=3e-16)


def test_the_logarithm_of_a_power_of_two_and_near_one():
    assert logarithm(1.0) == 0 and logarithm(2.0) == 0.6931471805599453
    assert logarithm(1 + 2**-52) == 2**-52
    assert [logarithm(2.0**e) for e in (-3, 5, 60)] == pytest.approx([e * math.log(2) for e in (-3, 5, 60)], rel=1e-15)


@settings(max_examples=200)
@given(st.floats(1, 1e18))
def test_machine_code_rounds_like_plain_python(x):
    """No fused operations, no other order: Python's floats give the same bits."""
    assert logarithm(x).hex() == getattr(logarithm, "py_func", logarithm)(x).hex()


def test_golden_logarithms():
    """Other bits here are other signatures."""
    values = [logarithm(x) for x in (1.5, 3.0, 1 + 1 / 3, 1e6 / 7, 12345678.9)]
    golden = "4c98bfec23f3d93f0a03ad7aea93f13f92db34116269d23f55b4c9433cbd274067a959542d543040"
    assert np.array(values, "<f8").tobytes().hex() == golden
