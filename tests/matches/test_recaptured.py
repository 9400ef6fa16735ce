"""What is estimated from how often pairs were found again, by simulation: every pair has its own chance."""

import numpy as np
import pytest

from sosie.matches.recaptured import SAMPLE, Recaptured, agreeing, at_least

BITS = 200


def simulated(count, tries, chance, seed, size=SAMPLE):
    """Pairs at distances 0 to 99, each found in a try with the chance of its distance; the truth, and what is said."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 100, count)
    again, known = Recaptured(tries, size), set()
    for number in range(tries):
        found = np.flatnonzero(rng.random(count) < chance(distances))
        again.add(number, found.astype(np.uint64))
        known.update(found.tolist())
    return len(known) / count, again.share(lambda pairs: distances[pairs.astype(np.int64)], BITS)


def falling(distances):
    """The chance that five bits drawn at random are among those that agree."""
    return (1 - distances / BITS) ** 5


def test_the_interval_holds_the_truth_in_95_of_100_runs():
    runs = [simulated(3000, 20, lambda far: 0.5 * falling(far) ** 0.7, seed) for seed in range(100)]
    held = sum(said.interval[0] <= truth <= said.interval[1] for truth, said in runs)
    assert 90 <= held <= 100
    assert abs(np.mean([said.recall - truth for truth, said in runs])) < 0.01


def test_few_pairs_are_enough():
    """Two numbers are fitted: with one for each fifty pairs, too many were believed missing, or nothing was said."""
    runs = [simulated(3000, 20, lambda far: 0.08 * falling(far) ** 0.6, seed) for seed in range(60)]
    off = [said.recall - truth for truth, said in runs]
    assert 0.4 < np.mean([truth for truth, _ in runs]) < 0.7
    assert np.sqrt(np.mean(np.square(off))) < 0.027 and abs(np.mean(off)) < 0.01


@pytest.mark.parametrize(
    "chance",
    [lambda far: 0.5 * 0.975**far, lambda far: 0.25 - far / 600, lambda far: np.where(far < 50, 0.6, 0.12)],
    ids=["level", "line", "step"],
)
def test_chances_that_fall_otherwise_are_fitted_too(chance):
    off = [said.recall - truth for truth, said in (simulated(6000, 20, chance, seed) for seed in range(20))]
    assert abs(np.mean(off)) < 0.01


def test_pairs_at_one_distance_may_differ_in_their_chances():
    """Half of the pairs are in a crowd, where hardly any is found: the mean of all would say that few are missing."""
    rng, missed, said = np.random.default_rng(7), [], []
    for _ in range(20):
        crowded = rng.random(4000) < 0.5
        times = rng.binomial(20, np.where(crowded, 0.05, 0.3))
        seen = times[times > 0]
        missed.append(len(times) - len(seen))
        pooled = (1 / agreeing(np.full(len(seen), 0.5), seen, 20)[2]).sum() - len(seen)
        said.append((pooled, at_least(seen, 20) - len(seen)))
    pooled, bound = np.mean(said, axis=0)
    assert pooled < 0.3 * np.mean(missed) < 0.6 * np.mean(missed) < bound < np.mean(missed)


def test_crowds_are_noticed():
    """Where chances differ at one distance, what is said is nearer to the truth than one chance for all of them is."""
    rng, off, alike = np.random.default_rng(9), [], []
    for _ in range(10):
        crowded = rng.random(4000) < 0.5
        found = rng.random((20, 4000)) < np.where(crowded, 0.05, 0.3)
        again = Recaptured(20)
        for number, row in enumerate(found):
            again.add(number, np.flatnonzero(row).astype(np.uint64))
        truth, times = found.any(axis=0).mean(), again.times.sum(axis=1)
        off.append(again.share(lambda pairs: np.full(len(pairs), 100), BITS).recall - truth)
        alike.append(len(times) / (1 / agreeing(np.full(len(times), 0.5), times, 20)[2]).sum() - truth)
    assert 0 < np.mean(off) < 0.6 * np.mean(alike)


def test_where_all_have_one_chance_the_bound_is_their_number():
    rng = np.random.default_rng(8)
    times = rng.binomial(20, 0.1, 200_000)
    assert at_least(times[times > 0], 20) == pytest.approx(200_000, rel=0.01)
    assert at_least(np.full(9, 20), 20) == 9


def test_one_chance_for_all_would_say_too_much():
    """Far pairs are found less often: whoever pools all distances believes that nearly all were found."""
    truth, said = simulated(20_000, 20, falling, 5)
    rng = np.random.default_rng(5)
    times = rng.binomial(20, falling(rng.integers(0, 100, 20_000)))
    pooled = agreeing(np.full(20_000, 0.5), times, 20)[2][0]
    assert pooled > truth + 0.02 > said.recall + 0.01


def test_a_sample_says_the_same_as_all_pairs():
    truth, said = simulated(30_000, 20, falling, 3, size=2000)
    assert abs(said.recall - truth) < 0.02
    again = Recaptured(20, size=500)
    for number in range(20):
        again.add(number, np.arange(5000, dtype=np.uint64))
    assert 500 <= len(again.pairs) <= 1000
    assert (again.times.sum(axis=1) == 20).all()  # who stays was counted from the first finding on


@pytest.mark.parametrize("tries", (1, 9))
def test_few_tries_say_nothing(tries):
    assert simulated(1000, tries, falling, 1)[1] is None


def test_what_was_hardly_found_twice_says_nothing():
    assert simulated(3000, 10, lambda distances: np.full(len(distances), 0.002), 1)[1] is None
    assert Recaptured(20).share(lambda pairs: pairs.astype(np.int64), BITS) is None


def test_what_is_always_found_is_all():
    truth, said = simulated(1000, 10, lambda distances: np.ones(len(distances)), 1)
    assert truth == said.recall == said.interval[0] == said.interval[1] == 1.0


@pytest.mark.parametrize("bits", (0.5, 3, 12))
@pytest.mark.parametrize("tries", (10, 300))
def test_the_number_of_bits_that_agree_is_found_again(bits, tries):
    rng = np.random.default_rng(1)
    share = rng.uniform(0.1, 0.3, 50_000)
    p = (1 - share) ** bits
    times = rng.binomial(tries, p)
    seen = times > 0
    mean, variance, found = agreeing(share[seen], times[seen], tries)
    assert found == pytest.approx(1 - (1 - p[seen]) ** tries, rel=0.03)
    assert mean.mean() == pytest.approx(times[seen].mean(), rel=0.01)
    assert variance.mean() == pytest.approx(((times[seen] - mean) ** 2).mean(), rel=0.05)


def test_equal_rows_and_opposite_ones():
    """Rows that agree in all bits are always found; those that agree in none have no chance, but here they were."""
    _, _, found = agreeing(np.array([0.0, 0.0, 0.5, 0.5, 0.5]), np.array([9, 9, 1, 2, 1]), 9)
    assert found[:2].tolist() == [1, 1] and 0 < found[2] < 1
    assert np.isfinite(agreeing(np.array([1.0, 0.2]), np.array([1, 2]), 9)).all()
