"""Exact search and what it says of a result, by each measure, against comparing everything in plain Python."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.evaluation.sampling import draw as drawing
from sosie.evaluation.sampling import search
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import MARGIN, affordable, draw
from sosie.evaluation.sampling.interval import recall_interval, seen_from_pairs
from sosie.evaluation.sampling.recall import MISSES, SampledRecall, measure_recall
from sosie.evaluation.sampling.search import sought
from sosie.matches.equal.groups import STAR
from sosie.matches.equal.sets import collapse
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.types import Pairs

MEASURES = ("jaccard", "cosine", "containment", "weighted")
HASHES = np.random.default_rng(0).integers(0, 2**64, 64, np.uint64)
THRESHOLDS = [Fraction(1, 20), Fraction(3, 10), Fraction(1, 2), Fraction(4, 5), Fraction(1)]


def weight(feature):
    return 0.5 + feature % 3


def compared(rows, measure):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    values = [value for row in rows for value in sorted(row, key=HASHES.__getitem__)]
    sets = rows_of(HASHES[np.array(values, np.int64)], offsets[:-1], offsets[1:])
    if measure != "weighted":
        return Comparison(sets, Similarity(measure))
    return Comparison(sets, Similarity("cosine", np.array([weight(value) for value in values], np.float64)))


def test_weights_exactly_at_the_threshold_reach_it():
    """A cosine of 7/10, rounded to a multiple of 2^-40 as all cosines of weights are, is a little less than 0.7."""
    weights = np.array([7.0, math.sqrt(51), 10.0])
    sets = rows_of(np.array([1, 2, 1], np.uint64), np.array([0, 2]), np.array([2, 3]))
    weighted = Comparison(sets, Similarity("cosine", weights))
    pairs = weighted.similar(np.array([0]), np.array([1]), Fraction(7, 10))
    assert len(pairs) == 1 and pairs.similarity[0] < 0.7
    assert weighted.reaches(pairs, Fraction(7, 10)).tolist() == [True]
    assert weighted.reaches(pairs, Fraction(700_001, 10**6)).tolist() == [False]


def similarity(measure, x, y):
    """Return the similarity of two sets as an exact fraction, of cosine its square."""
    shared = len(x & y)
    if not shared:
        return Fraction(0)
    if measure == "jaccard":
        return Fraction(shared, len(x | y))
    if measure == "containment":
        return Fraction(shared, min(len(x), len(y)))
    weights = weight if measure == "weighted" else lambda feature: 1
    dot, *squares = (sum(Fraction(weights(f)) ** 2 for f in part) for part in (x & y, x, y))
    return dot**2 / (squares[0] * squares[1])


def reaches(measure, value, least):
    return value > 0 and value >= (least * abs(least) if measure in ("cosine", "weighted") else least)


def as_float(measure, value):
    return math.sqrt(value) if measure in ("cosine", "weighted") else float(value)


def partners_of(pairs, rows):
    """Return how many of the pairs each of the rows is in, the rows in order."""
    return [sum(row in pair for pair in pairs) for row in sorted(rows)]


def listed_with(row, listed):
    return [pair for pair in listed if row in pair]


def equal_to(row, rows):
    return [other for other in range(len(rows)) if rows[other] == rows[row] != set() and other != row]


ROWS = st.lists(st.sets(st.integers(0, 7), max_size=6), min_size=1, max_size=14)


@settings(max_examples=60)
@pytest.mark.parametrize("measure", MEASURES)
@given(rows=ROWS, size=st.integers(1, 16), threshold=st.sampled_from(THRESHOLDS), data=st.data())
def test_against_comparing_everything(measure, rows, size, threshold, data):
    count = len(rows)
    every = list(combinations(range(count), 2))
    values = {pair: similarity(measure, *(rows[row] for row in pair)) for pair in every}
    listed = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    comparison = compared(rows, measure)
    groups = collapse(comparison.sets, np.arange(count))
    drawn = draw(count, size, 3)
    sampled = np.isin(np.arange(count), drawn)
    a, b = (np.array([pair[side] for pair in listed], np.int64) for side in (0, 1))
    measured, near = measure_recall(comparison, groups, drawn, Pairs(a, b), kept, threshold)
    seen = {pair for pair in every if sampled[list(pair)].any()}
    true = {pair for pair in seen if reaches(measure, values[pair], threshold)}
    unsettled = {pair for pair in true if kept[list(pair)].all()}
    partners = [partners_of(part, drawn) for part in (true, true & set(listed))]
    known = [max(len(listed_with(row, listed)), len(equal_to(row, rows))) for row in range(count)]
    unseen = 1 - len(drawn) / count
    interval = recall_interval(
        *(unseen * np.array(part, np.float64) for part in partners),
        pairs=(len(true), len(true & set(listed))),
        inside=len(true),
        documents=count,
        known=seen_from_pairs(unseen * np.array(known)),
    )
    assert measured.interval == pytest.approx(interval)
    assert replace(measured, interval=(0.0, 1.0)) == SampledRecall(
        documents=count,
        sampled=int(sampled.sum()),
        true_pairs=len(true),
        found_pairs=len(true & set(listed)),
        wrong_pairs=len((seen - true) & set(listed)),
        unsettled_pairs=len(unsettled),
        kept=int((kept & sampled).sum()),
        missed=len({row for pair in unsettled for row in pair if sampled[row]}),
    )
    stays = {}
    for row in reversed(range(count)):
        if kept[row]:
            stays[frozenset(rows[row])] = row
    pairs = list(zip(near.a.tolist(), near.b.tolist(), strict=True))
    assert all({stays[frozenset(rows[row])] for row in pair} == set(pair) for pair in pairs)
    for index, pair in enumerate(pairs):
        assert near.shared[index] == len(rows[pair[0]] & rows[pair[1]])
        assert near.similarity[index] == pytest.approx(as_float(measure, values[pair]))
        if near.total is not None:
            assert Fraction(int(near.shared[index]), int(near.total[index])) == values[pair]
    contents = {frozenset(map(frozenset, (rows[i], rows[j]))): values[i, j] for i, j in seen - true}
    by_content = {content: value for content, value in contents.items() if content <= stays.keys()}
    close = (value for value in by_content.values() if reaches(measure, value, threshold - MARGIN))
    below = sorted(close, reverse=True)
    assert near.similarity.tolist() == pytest.approx([as_float(measure, value) for value in below[:MISSES]])


@pytest.mark.parametrize("measure", MEASURES)
def test_small_pieces_and_threads_change_nothing(measure, monkeypatch):
    generator = np.random.default_rng(2)
    rows = [set(generator.choice(64, generator.integers(1, 12), replace=False).tolist()) for _ in range(120)]
    comparison = compared(rows * 2, measure)
    groups = collapse(comparison.sets, np.arange(240))
    every = Pairs(*np.triu_indices(240, 1))
    kept = generator.random(240) < 0.8

    def measure_with(threads):
        measured, near = measure_recall(
            comparison, groups, draw(240, 90, 1), every, kept, Fraction(2, 5), threads=threads
        )
        return measured, [array.tolist() for array in (near.a, near.b, near.similarity, near.shared)]

    whole = measure_with(1)
    assert whole[0].recall == 1 and whole[0].true_pairs >= 100 and whole[0].wrong_pairs > 1_000
    assert len(whole[1][0]) == MISSES and whole[0].missed
    monkeypatch.setattr(search, "SPAN", 16)
    monkeypatch.setattr(search, "CANDIDATES", 5)
    monkeypatch.setattr(search, "FILTER_BITS", 2)
    monkeypatch.setattr(search, "COUNTED", 100)
    assert measure_with(2) == whole


def test_near_misses_are_distinct_groups_and_the_nearest_ones():
    base = set(range(40))
    rows = [base, *(base - set(range(gone)) for gone in range(3, 20)), base]
    comparison = compared(rows, "jaccard")
    groups = collapse(comparison.sets, np.arange(len(rows)))
    none = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    _, near = measure_recall(comparison, groups, np.arange(len(rows)), none, None, Fraction(9, 10))
    exact = sorted({similarity("jaccard", x, y) for x, y in combinations(rows, 2)}, reverse=True)
    assert near.similarity[0] == max(float(value) for value in exact if value < Fraction(9, 10))
    assert len(near) == MISSES and len({*zip(near.a.tolist(), near.b.tolist(), strict=True)}) == MISSES
    assert len(rows) - 1 not in near.b


@pytest.mark.parametrize("sampled_rows", [[0], [5, 70], [STAR + 10], list(range(STAR + 12))])
def test_of_a_star_all_pairs_count_as_listed(sampled_rows):
    """65 or more identical rows are listed as pairs with the first of them: nothing is missing."""
    rows = [{1, 2, 3, 4}] * (STAR + 10) + [{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}]
    comparison = compared(rows, "jaccard")
    count, large = len(rows), STAR + 10
    star = [(0, row) for row in range(1, large)]
    between = [(row, large) for row in range(large)] + [(0, large + 1)]
    groups = collapse(comparison.sets, np.arange(count))
    sampled = np.isin(np.arange(count), sampled_rows)

    def measured(listed):
        a, b = (np.array([pair[side] for pair in listed], np.int64) for side in (0, 1))
        return measure_recall(comparison, groups, np.array(sampled_rows), Pairs(a, b), None, Fraction(4, 5))[0]

    true = sum(sampled[list(pair)].any() for pair in combinations(range(count), 2))
    whole = measured([*star, *between, (large, large + 1)])
    assert (whole.true_pairs, whole.found_pairs, whole.wrong_pairs) == (true, true, 0)
    inside = sum(sampled[list(pair)].any() for pair in combinations(range(large), 2))
    assert measured(star).found_pairs == inside
    assert measured([*between]).found_pairs == sum(
        bool(sampled[i] or sampled[j]) for i in range(large) for j in (large, large + 1)
    )
    assert measured([]).found_pairs == 0


def test_cosine_at_the_threshold_is_decided_in_whole_numbers():
    rows = [set(range(25)), set(range(9)) | set(range(30, 33)) | {40, 41, 42, 43}]  # 9 / sqrt(25 * 16) = 0.45
    comparison = compared(rows, "cosine")
    one = np.array([0]), np.array([1])
    assert len(comparison.similar(*one, Fraction(9, 20))) == 1
    assert len(comparison.similar(*one, Fraction(9, 20) + Fraction(1, 10**6))) == 0


def test_nothing_below_the_least_similarity_is_asked_for(monkeypatch):
    """Without a shared feature there is no similarity, however low the threshold."""
    monkeypatch.setattr(drawing, "MARGIN", Fraction(1))
    comparison = compared([{1, 2}, {3, 4}, {2, 3}], "jaccard")
    groups = collapse(comparison.sets, np.arange(3))
    none = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    _, near = measure_recall(comparison, groups, np.arange(3), none, None, Fraction(1, 2))
    assert list(zip(near.a.tolist(), near.b.tolist(), strict=True)) == [(0, 2), (1, 2)]


@pytest.mark.parametrize("measure", MEASURES)
def test_as_many_rows_as_the_budget_allows(measure, monkeypatch):
    """A row costs as many steps as its features occur in distinct rows; for Jaccard, as its rarest ones do."""
    rows = [{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}, {0, 1, 2, 5}, set()]
    comparison = compared(rows, measure)
    groups = collapse(comparison.sets, np.arange(5))
    monkeypatch.setattr(drawing, "FEWEST", 1)
    # at least 0.9 - 0.1 of a set of four needs one feature, its own; the group of rows 2 and 3 is searched for once
    each = 1000 if measure == "jaccard" else 1000 * (3 * 3 + 1)
    monkeypatch.setattr(drawing, "sought", lambda *given: replace(found := sought(*given), steps=1000 * found.steps))

    def expected(count):
        """Two rows alone in their groups, one group of two, and a row that costs nothing."""
        without = 1 - count / 5
        return int(each * (2 * (1 - without) + (1 - without**2)))

    for count in range(1, 6):
        for drawn in (np.array([3, 4, 2, 0, 1]), np.array([4, 0, 1, 3, 2])):
            enough = affordable(comparison, groups, drawn, Fraction(9, 10), expected(count))
            assert enough.tolist() == drawn[:count].tolist()
            fewer = affordable(comparison, groups, drawn, Fraction(9, 10), expected(count) - 1)
            assert fewer.tolist() == drawn[: max(count - 1, 1)].tolist()
