"""The interval of a measured recall: in how many of some hundred samples it holds the truth, which is known here."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.evaluation.sampling import draw as drawing
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import affordable, draw
from sosie.evaluation.sampling.interval import recall_interval
from sosie.evaluation.sampling.recall import measure_recall
from sosie.matches.equal.groups import Groups
from sosie.matches.equal.sets import collapse
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.types import Pairs

RUNS, LEAST = 200, 0.92
THRESHOLD = Fraction(4, 5)


@dataclass(frozen=True)
class Population:
    """Rows with their true pairs, those of them that a run has found, and how many rows are a reference."""

    comparison: Comparison
    groups: Groups
    true: np.ndarray
    found: np.ndarray
    reference: int = 0

    @property
    def recall(self):
        return float(self.found.mean())

    @property
    def documents(self):
        return len(self.comparison.sizes) - self.reference

    def measured(self, seed, size, budget=None):
        """Measure the recall on a sample."""
        drawn = draw(self.documents, size, seed) + self.reference
        if budget is not None:
            drawn = affordable(self.comparison, self.groups, drawn, THRESHOLD, budget)
        pairs = Pairs(*self.true[self.found].T)
        return measure_recall(self.comparison, self.groups, drawn, pairs, None, THRESHOLD, 1, reference=self.reference)[
            0
        ]


def of_clusters(sizes, find, reference=None):
    """Make clusters in which every row is similar to every other: nine features that all have, and one of its own.

    `find` says of arrays of pairs, by their rows, the size of their cluster and the place in it of the first row, which
    ones were found. The rows that `reference` chooses come first, and the pairs among them do not count.
    """
    generator = np.random.default_rng(0)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    count = len(cluster)
    order = np.arange(count) if reference is None else np.argsort(~reference(cluster), kind="stable")
    outside = 0 if reference is None else int(reference(cluster).sum())
    hashes = generator.integers(0, 2**64, (len(sizes), 9), np.uint64)[cluster[order]]
    hashes = np.sort(np.append(hashes, generator.integers(0, 2**64, (count, 1), np.uint64), axis=1), axis=1).ravel()
    first = np.cumsum(sizes) - sizes
    inside = [np.stack(np.triu_indices(size, 1), axis=1) for size in sizes]
    pairs = np.concatenate([part + start for part, start in zip(inside, first, strict=True)])
    which = cluster[pairs[:, 0]]
    found = find(generator, pairs, np.array(sizes)[which], pairs[:, 0] - first[which])
    pairs = np.argsort(order)[pairs]
    counts = (pairs >= outside).any(axis=1)
    return population(hashes, np.full(count, 10), "jaccard", pairs[counts], found[counts], outside)


def population(hashes, sizes, measure, pairs, found, reference=0):
    stops = np.cumsum(sizes)
    comparison = Comparison(rows_of(hashes, stops - sizes, stops), Similarity(measure))
    groups = collapse(comparison.sets, np.arange(len(sizes)))
    return Population(comparison, groups, pairs, found, reference)


def even():
    """One pair in ten is missed, whichever."""
    return of_clusters(np.tile([1, 2, 3, 4], 400), lambda random, pairs, size, place: random.random(len(pairs)) < 0.9)


def almost_all_found():
    """One document in 250 has lost all of its pairs."""
    return of_clusters(np.tile([1, 2, 3, 4], 500), lambda random, pairs, size, place: (pairs % 250 > 0).all(axis=1))


def giant_clusters():
    """A few clusters hold most pairs, and in them most are missed."""
    sizes = [300, 200, 150, *np.tile([1, 2, 3], 600)]
    return of_clusters(sizes, lambda random, pairs, size, place: (size < 150) | (random.random(len(pairs)) < 0.3))


def one_cluster_lost():
    """A third of all pairs is in one cluster of which nothing was found."""
    sizes = [120, *[60] * 5, *np.tile([1, 2, 3], 800)]
    return of_clusters(sizes, lambda random, pairs, size, place: size < 100)


def leaders():
    """In dense groups, documents were compared with three leaders only."""
    sizes = [300, 200, 100, 100, *np.tile([1, 2, 3, 4, 5], 300)]
    return of_clusters(sizes, lambda random, pairs, size, place: (size < 100) | (place < 3))


def descriptions():
    """Like descriptions of packages: sizes of clusters have a long tail, and the larger one is, the more it lacks."""
    sizes = np.minimum((np.random.default_rng(4).pareto(1.3, 2500) + 1).astype(np.int64), 250)
    return of_clusters(sizes, lambda random, pairs, size, place: random.random(len(pairs)) < 1 / (1 + size / 60))


def against_a_reference():
    """Of each cluster of three, two are in the reference, and of its pairs few were found; of those beside it, most."""
    sizes = np.tile([3, 2, 2, 1], 700)

    def reference(cluster):
        first = np.append(True, cluster[1:] != cluster[:-1])
        return (cluster % 4 == 0) & ~first

    return of_clusters(
        sizes, lambda random, pairs, size, place: random.random(len(pairs)) < np.where(size == 3, 0.2, 0.9), reference
    )


def hubs():
    """Long documents contain a few hundred short ones each, and of some of them almost nothing was found."""
    random = np.random.default_rng(5)
    short = random.integers(0, 2**64, (3000, 5), np.uint64)
    contained = [np.sort(random.choice(3000, random.integers(20, 300), replace=False)) for _ in range(40)]
    rows = [*short, *(np.unique(short[part]) for part in contained)]
    pairs = np.array([(row, 3000 + hub) for hub, part in enumerate(contained) for row in part])
    also = [
        (3000 + x, 3000 + y)
        for (x, a), (y, b) in combinations(enumerate(contained), 2)
        if len(np.intersect1d(a, b)) >= 0.8 * min(len(a), len(b))
    ]
    assert not also
    found = (pairs[:, 1] % 4 > 0) | (random.random(len(pairs)) < 0.2)
    hashes = np.concatenate([np.sort(row) for row in rows])
    return population(hashes, np.array([len(row) for row in rows]), "containment", pairs, found)


POPULATIONS = (
    even,
    almost_all_found,
    giant_clusters,
    one_cluster_lost,
    leaders,
    descriptions,
    against_a_reference,
    hubs,
)


@pytest.mark.parametrize("make", POPULATIONS)
def test_it_holds_the_truth_in_95_percent_of_samples(make):
    whole = make()
    measured = [whole.measured(seed, 300) for seed in range(RUNS)]
    assert share_held(whole, measured) >= LEAST
    recalls = np.array([each.recall for each in measured])
    assert abs(recalls.mean() - whole.recall) < 3 * recalls.std() / RUNS**0.5 + 0.005
    everything = whole.measured(0, whole.documents)
    assert (everything.true_pairs, everything.found_pairs) == (len(whole.true), whole.found.sum())
    assert everything.interval == pytest.approx((whole.recall, whole.recall))


@pytest.mark.parametrize("make", POPULATIONS)
def test_it_holds_in_small_samples(make):
    """Of a few documents often none has many partners; what is listed for all others says that some have."""
    whole = make()
    assert share_held(whole, [whole.measured(seed, 30) for seed in range(RUNS)]) >= LEAST


def share_held(whole, measured):
    return np.mean([each.interval[0] <= whole.recall <= each.interval[1] for each in measured])


def test_a_sample_within_a_budget_is_as_good_as_any_other(monkeypatch):
    """Documents with many partners are dear: to stop at the first that is too dear would leave them out."""
    monkeypatch.setattr(drawing, "FEWEST", 1)
    whole = giant_clusters()
    measured = [whole.measured(seed, 100, budget=1500) for seed in range(RUNS)]
    sizes = np.array([each.sampled for each in measured])
    assert 5 < sizes.min() < sizes.max() < 100
    true = np.array([each.true_pairs / each.sampled for each in measured])
    partners = 2 * len(whole.true) / whole.documents
    assert abs(true.mean() - partners) < 3 * true.std() / RUNS**0.5


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted), min_size=1, max_size=9),
    st.integers(0, 9),
    st.sampled_from([0.0, 3.0, 50.0]),
)
def test_it_holds_what_was_measured_and_goes_by_documents(counts, more, known):
    found, true = np.array(counts, np.float64).T
    pairs = float(true.sum()), float(found.sum())
    documents = len(true) + more
    low, high = recall_interval(true, found, pairs=pairs, inside=0, documents=documents, known=known)
    assert 0 <= low <= high <= 1
    if not pairs[0]:
        assert (low, high) == (0, 1)
        return
    recall = pairs[1] / pairs[0]
    assert low <= recall <= high and (more > 0) == (low < high)
    # a thousand times as many pairs of as many documents say no more
    true, found, pairs, known = 1000 * true, 1000 * found, (1000 * pairs[0], 1000 * pairs[1]), 1000 * known
    larger = recall_interval(true, found, pairs=pairs, inside=0, documents=documents, known=known)
    assert larger == pytest.approx((low, high))


def test_where_nothing_was_missed_three_documents_are_in_doubt():
    for documents in (100, 1000, 10_000):
        one = np.ones(documents)
        pairs = float(documents), float(documents)
        low, high = recall_interval(one, one, pairs=pairs, inside=0, documents=10**9, known=0)
        assert high == 1 and 2.9 / documents < 1 - low < 3.1 / documents
