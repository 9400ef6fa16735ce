"""Neighbours and who goes, beside plain Python that compares all with all."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.thresholds.going import count_going, estimate_going, interval_of
from sosie.evaluation.thresholds.neighbours import GRID, SHOWN, first_before, nearest_of
from sosie.matches.equal.sets import collapse
from sosie.matches.sets.join import join_similar
from sosie.matches.sets.rows import rows_of, sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import verify_rows
from sosie.types import Features, offsets_of


def prepared(documents, measure="jaccard"):
    rows = [sorted(each) for each in documents]
    hashes = np.array([value for row in rows for value in row], np.uint64)
    features = Features(hashes, offsets_of(np.array([len(row) for row in rows], np.int64)))
    sets, _ = sets_of(features)
    groups = collapse(sets, np.arange(len(rows)))
    first = groups.representatives
    distinct = rows_of(features.hashes, features.offsets[first], features.offsets[first + 1])
    return Comparison(distinct, Similarity(measure)), groups


def jaccard(a, b):
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def going(documents, threshold):
    """Return which documents go, by the definition."""
    kept, gone = [], []
    for place, each in enumerate(documents):
        (gone if any(jaccard(each, documents[other]) >= threshold for other in kept) else kept).append(place)
    return set(gone)


collections = st.lists(st.sets(st.integers(0, 9), max_size=8), max_size=14)


@settings(deadline=None, max_examples=60)
@given(collections)
def test_neighbours_are_those_of_all_pairs(documents):
    compared, groups = prepared(documents)
    drawn = np.arange(len(documents))[::-1]
    found = nearest_of(compared, groups, drawn, len(documents), 1)
    for row, similarity, again in zip(drawn.tolist(), found.similarity.tolist(), found.again.tolist(), strict=True):
        others = [jaccard(documents[row], each) for place, each in enumerate(documents) if place != row]
        nearest = max(others, default=Fraction(0))
        assert similarity == (float(nearest) if nearest >= Fraction(3, 10) else 0)
        assert again == (documents[row] in documents[:row] and bool(documents[row]))
    sets = [documents[row] for row in groups.representatives]
    for step, threshold in enumerate(GRID):
        for probe, first in zip(found.probes.tolist(), found.first[step].tolist(), strict=True):
            earlier = [other for other in range(probe) if jaccard(sets[probe], sets[other]) >= threshold]
            assert first == min(earlier, default=probe)
        every = [(a, b, jaccard(sets[a], sets[b])) for b in range(len(sets)) for a in range(b)]
        above = sorted(each for *_, each in every if each >= threshold)
        below = sorted((each for *_, each in every if Fraction(3, 10) <= each < threshold), reverse=True)
        near = found.near[step]
        assert near.above.similarity.tolist()[:1] == [float(each) for each in above[:1]]
        assert near.below.similarity.tolist()[:1] == [float(each) for each in below[:1]]
        assert len(near.above) == min(SHOWN, len(above)) and len(near.below) == min(SHOWN, len(below))
        for pairs in (near.above, near.below):
            assert all(
                float(jaccard(sets[a], sets[b])) == s
                for a, b, s in zip(pairs.a, pairs.b, pairs.similarity, strict=True)
            )
    assert np.array_equal(first_before(compared, found.probes, GRID[0], 1), found.first)
    least = GRID[4]
    limited = first_before(compared, found.probes, least, 1)
    assert np.array_equal(limited[4:], found.first[4:]) and (limited[:4] == found.probes).all()


@settings(deadline=None, max_examples=60)
@given(collections)
def test_who_goes_is_counted_and_bounded_rightly(documents):
    compared, groups = prepared(documents)
    thresholds = [Fraction(1, 2), Fraction(7, 10), Fraction(19, 20)]
    pairs = join_similar(compared.sets, compared.by, thresholds[0], 1)
    verified = verify_rows(compared.sets, pairs, thresholds[0], 1)
    counted = count_going(compared, groups, verified, thresholds, len(documents))
    found = nearest_of(compared, groups, np.arange(len(documents)), len(documents), 1)
    estimated = estimate_going(compared, found, thresholds, len(documents), 1)
    for threshold, exact, about in zip(thresholds, counted, estimated, strict=True):
        truth = len(going(documents, threshold))
        assert exact.exact and exact.documents == truth and exact.interval == (exact.share, exact.share)
        low, high = about.interval
        assert not about.exact and low - 1e-9 <= truth / max(len(documents), 1) <= high + 1e-9


def test_the_interval_holds_the_share_in_nineteen_of_twenty_samples():
    random, share, size = np.random.default_rng(0), 0.1, 200
    seen = random.binomial(size, share, 400)
    held = [low <= share <= high for low, high in (interval_of(int(n), int(n), size) for n in seen)]
    assert np.mean(held) >= 0.94
    assert interval_of(0, 0, 100)[0] == 0 and interval_of(100, 100, 100)[1] == 1
    assert interval_of(0, 100, 100) == (0.0, 1.0)


def test_estimates_hold_the_truth_of_a_chain():
    """Each resembles the one before: every second one goes, which a sampled one cannot know."""
    documents = [set(range(3 * place, 3 * place + 12)) for place in range(200)]
    compared, groups = prepared(documents)
    found = nearest_of(compared, groups, np.arange(0, 200, 4), 200, 1)
    [about] = estimate_going(compared, found, [Fraction(3, 5)], 200, 1)
    truth = len(going(documents, Fraction(3, 5))) / 200
    assert truth == pytest.approx(0.5)
    assert about.interval[0] <= truth <= about.interval[1] and about.interval[1] - about.interval[0] > 0.5
