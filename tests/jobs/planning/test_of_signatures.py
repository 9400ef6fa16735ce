"""Facts of signatures against counting all of them."""

import numpy as np
import pytest

from sosie.errors import MismatchError
from sosie.jobs.planning import of_signatures
from sosie.jobs.planning.of_signatures import facts_of_signatures, sharing_of
from sosie.types import Signatures


def rows_of(count, bits, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, (count, bits // 64), dtype=np.uint64)


def distances(a, b):
    return np.bitwise_count(a[:, None] ^ b[None]).sum(axis=2)


def spread(facts):
    return dict(zip(facts.distances.values.astype(int).tolist(), facts.distances.weights.tolist(), strict=True))


@pytest.mark.parametrize("bits", (64, 128))
def test_of_few_rows_all_is_counted(bits):
    words = rows_of(300, bits)
    words[200:] = words[:100] ^ np.uint64(0b110)
    words[0] = words[1]
    radius = 7 * bits // 20
    facts = facts_of_signatures(Signatures(words, bits), radius=radius)
    every = distances(words, words)[~np.eye(300, dtype=bool)]
    near = every[every <= radius]
    assert spread(facts) == dict(zip(*(each.tolist() for each in np.unique(near, return_counts=True)), strict=True))
    assert facts.counted and facts.matches == pytest.approx(len(near) / 300)
    assert facts.copies == pytest.approx((2 * 0.5 + 2 * 0) / 300)


def test_two_collections_and_their_equal_rows():
    a, b = rows_of(200, 64), rows_of(50, 64, 1)
    b[:20] = a[:20]
    facts = facts_of_signatures(Signatures(a), Signatures(b), radius=0)
    assert spread(facts) == {0: 20.0} and facts.matches == 0.4


def test_the_nearest_of_all_and_within_a_radius():
    a, b = rows_of(500, 64), rows_of(40, 64, 1)
    facts = facts_of_signatures(Signatures(a), Signatures(b), k=3)
    nearest = np.sort(distances(b, a), axis=1)[:, :3]
    assert spread(facts) == dict(zip(*(each.tolist() for each in np.unique(nearest, return_counts=True)), strict=True))
    assert facts.matches is None
    within = facts_of_signatures(Signatures(a), Signatures(b), k=3, radius=18)
    assert within.distances.values.max() <= 18 and within.distances.total == (nearest <= 18).sum()
    own = facts_of_signatures(Signatures(a), k=1)
    every = distances(a, a) + 1000 * np.eye(500, dtype=int)
    assert sum(d * w for d, w in spread(own).items()) == every.min(axis=1).sum()  # none is a match of itself


def test_a_sample_of_many_tells_about_all(monkeypatch):
    monkeypatch.setattr(of_signatures, "_PART", 1 << 14)
    monkeypatch.setattr(of_signatures, "_FEW", 1 << 9)
    words = rows_of(60_000, 64)
    words[30_000:] = words[:30_000]
    words[30_000:, 0] ^= np.uint64(1) << np.random.default_rng(1).integers(0, 64, 30_000, dtype=np.uint64)
    facts = facts_of_signatures(Signatures(words[np.random.default_rng(2).permutation(60_000)]), radius=3)
    assert facts.matches == pytest.approx(1.0, abs=0.2) and facts.distances.values.tolist() == [1.0]


def test_sharing_is_that_of_all_pairs():
    words = rows_of(400, 64)
    words &= np.uint64(0x0FFF0FFF0FFF0FFF)
    words[:200, 0] = words[0, 0]
    facts = sharing_of(Signatures(words))
    assert facts[0][0] == 4 and facts[-1][0] == 64
    differ = np.bitwise_count(words[:, None] ^ words[None])[..., 0].astype(float)[~np.eye(400, dtype=bool)]
    for bits, factor in facts[:3]:
        chance = ((1 - differ / 64) ** bits).mean()
        assert factor == pytest.approx(chance * 2.0**bits, rel=0.25)


def test_nothing_is_known_of_nothing():
    none = Signatures(np.empty((0, 1), np.uint64))
    some = Signatures(rows_of(3, 64))
    for facts in (facts_of_signatures(none, radius=3), facts_of_signatures(some, none, radius=3)):
        assert facts.distances is None and facts.matches is None and facts.sharing == ()
    assert facts_of_signatures(some.take(np.array([0])), k=5).distances is None
    with pytest.raises(MismatchError):
        facts_of_signatures(some, Signatures(rows_of(3, 128), 128), radius=3)
