"""What is estimated from how often pairs were found again, by simulation: every pair has its own chance."""

import numpy as np
import pytest

from sosie.matches.recaptured import SAMPLE, Recaptured, at_least, chance_found


def simulated(count, tries, chance, seed, size=SAMPLE):
    """Pairs at distances 0 to 99, each found in a try with the chance of its distance; the truth, and what is said."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 100, count)
    again, known = Recaptured(tries, size), set()
    for number in range(tries):
        found = np.flatnonzero(rng.random(count) < chance(distances))
        again.add(number, found.astype(np.uint64))
        known.update(found.tolist())
    return len(known) / count, again.share(lambda pairs: distances[pairs.astype(np.int64)])


def falling(distances):
    return 0.5 * 0.975**distances


def test_the_interval_holds_the_truth_in_95_of_100_runs():
    runs = [simulated(3000, 20, falling, seed) for seed in range(100)]
    held = sum(said.interval[0] <= truth <= said.interval[1] for truth, said in runs)
    assert 90 <= held <= 100
    assert abs(np.mean([said.recall - truth for truth, said in runs])) < 0.01


def test_pairs_at_one_distance_may_differ_in_their_chances():
    """Half of the pairs are in a crowd, where hardly any is found: the mean of all would say that few are missing."""
    rng, missed, said = np.random.default_rng(7), [], []
    for _ in range(20):
        crowded = rng.random(4000) < 0.5
        times = rng.binomial(20, np.where(crowded, 0.05, 0.3))
        seen = times[times > 0]
        missed.append(len(times) - len(seen))
        pooled = len(seen) / chance_found(float(seen.mean()), 20) - len(seen)
        said.append((pooled, at_least(seen, 20) - len(seen)))
    pooled, bound = np.mean(said, axis=0)
    assert pooled < 0.3 * np.mean(missed) < 0.6 * np.mean(missed) < bound < np.mean(missed)


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
    pooled = chance_found(float(times[times > 0].mean()), 20)
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
    assert Recaptured(20).share(lambda pairs: pairs.astype(np.int64)) is None


def test_what_is_always_found_is_all():
    truth, said = simulated(1000, 10, lambda distances: np.ones(len(distances)), 1)
    assert truth == said.recall == said.interval[0] == said.interval[1] == 1.0


@pytest.mark.parametrize("p", (0.1, 0.5, 0.99))
@pytest.mark.parametrize("tries", (2, 10, 300))
def test_the_chance_from_the_mean(p, tries):
    times = np.random.default_rng(1).binomial(tries, p, 500_000)
    assert chance_found(float(times[times > 0].mean()), tries) == pytest.approx(1 - (1 - p) ** tries, rel=0.05)
