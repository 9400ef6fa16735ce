"""Random projections of vectors: bits that differ as angles do, and what share of similar pairs they bring together."""

import math

import numpy as np
import pytest
from tests.kernels.vectors.rows import sparse

from sosie.crosslingual import signed
from sosie.crosslingual.signed import Signed
from sosie.errors import UsageError
from sosie.matches.share import weighted_share
from sosie.storage.room import Room
from sosie.types import Pairs


def chance(bits, radius, similarity):
    """How probable it is that at most so many bits differ: Equation 5."""
    apart = math.acos(similarity) / math.pi
    return sum(math.comb(bits, i) * apart**i * (1 - apart) ** (bits - i) for i in range(radius + 1))


@pytest.mark.parametrize("bits", [1, 16, 64, 200, 500])
@pytest.mark.parametrize("least", [0.05, 0.3, 0.5, 0.8, 0.99])
def test_the_radius_is_the_smallest_that_lets_nearly_all_through(bits, least):
    radius = Signed(bits).radius(least)
    assert chance(bits, radius, least) >= 0.98
    assert radius == 0 or chance(bits, radius - 1, least) < 0.98


def test_radii_at_the_ends():
    assert Signed(100).radius(1.0) == 0 == Signed(100).radius(1.5)
    assert Signed(100).radius(-1.0) == 100


def test_the_share_is_told_by_the_pairs_that_were_found():
    by, found = Signed(200), np.array([0.5, 0.6, 0.9])
    chances = [chance(200, by.radius(0.5), value) for value in found]
    some = np.array([0, 1, 2])
    share, interval = by.share(found, 0.5, Pairs(some, some, recall=1.0))
    assert share == pytest.approx(3 / sum(1 / each for each in chances)) and share < 1
    own = weighted_share(np.array(chances), some, np.ones(3, np.int64))
    assert interval == pytest.approx(own.interval)
    half, narrow = by.share(found, 0.5, Pairs(some, some, recall=0.5, interval=(0.25, 0.75)))
    assert half == pytest.approx(share / 2)
    assert narrow == pytest.approx((interval[0] * 0.25, interval[1] * 0.75))
    assert by.share(found, 0.5, Pairs(some, some, recall=None)) == (None, None)
    assert by.share(np.empty(0), 0.5, Pairs(some, some, recall=1.0)) == (None, None)


def bits_of(by, made, threads=1):
    signatures, numbers = by.sign(made, Room(".", threads=threads))
    return np.unpackbits(signatures.words.view(np.uint8), axis=1), numbers.tolist()


def test_bits_differ_as_angles_do():
    angles = [0, 0.1, 0.5, math.pi / 3, math.pi / 2]
    made = sparse([{0: 1.0}, *({0: math.cos(angle), 7: math.sin(angle)} for angle in angles)])
    bits, _ = bits_of(Signed(4096), made)
    for angle, row in zip(angles, bits[1:], strict=True):
        share = angle / math.pi
        spread = math.sqrt(share * (1 - share) / 4096)
        assert abs((bits[0] != row).mean() - share) <= 5 * spread


def test_rows_without_columns_have_no_signature(monkeypatch):
    made = sparse([{}, {0: 1.0}, {}, {3: 0.5, 4: 0.5}, {0: 0.5}, {}])
    bits, numbers = bits_of(Signed(100), made)
    assert numbers == [1, 3, 4] and len(bits) == 3
    assert np.array_equal(bits[0], bits[2]) and not np.array_equal(bits[0], bits[1])  # only directions count
    assert not bits[:, 104:].any() and bits[:, :96].any()
    monkeypatch.setattr(signed, "_SPAN", 1)
    for threads in (1, 2):
        assert np.array_equal(bits_of(Signed(100), made, threads)[0], bits)
    assert not np.array_equal(bits_of(Signed(100, seed=1), made)[0], bits)


@pytest.mark.parametrize("bits", [0, -1, True, 64.0, 1 << 20])
def test_bits_that_are_refused(bits):
    with pytest.raises(UsageError, match="signatures have 1 to"):
        Signed(bits)


@pytest.mark.parametrize("seed", [-1, True, 1.5, 1 << 32])
def test_seeds_that_are_refused(seed):
    with pytest.raises(UsageError, match="seed must be from 0"):
        Signed(64, seed)
