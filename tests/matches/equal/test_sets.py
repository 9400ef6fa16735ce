"""Identical feature sets: collapsed to one representative, expanded to all pairs or to stars."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie.matches.equal import sets as identical
from sosie.matches.equal.groups import STAR
from sosie.matches.equal.sets import collapse, expand, listable
from sosie.matches.sets.rows import rows_of
from sosie.types import VerifiedPairs

rows = st.lists(st.frozensets(st.integers(0, 3), max_size=3), max_size=14)


def sets_of(collection):
    hashes = [sorted(map(oracle.splitmix64, row)) for row in collection]
    edges = np.cumsum([0, *map(len, hashes)])
    return rows_of(np.array([*chain.from_iterable(hashes)], np.uint64), edges[:-1], edges[1:])


def members(groups) -> list[list[int]]:
    return [part.tolist() for part in np.split(groups.rows, groups.offsets[1:-1])] if len(groups) else []


@settings(max_examples=150)
@given(rows, st.randoms())
def test_collapse(collection, random):
    rank = list(range(len(collection)))
    random.shuffle(rank)
    groups = collapse(sets_of(collection), np.array(rank, np.int64))
    expected = oracle.identical_groups(collection, rank)
    assert members(groups) == expected
    assert groups.sizes.tolist() == [len(group) for group in expected]
    assert groups.representatives.tolist() == [group[0] for group in expected]


@settings(max_examples=100)
@given(st.lists(st.dictionaries(st.integers(0, 2), st.integers(1, 2), max_size=2), max_size=14), st.randoms())
def test_rows_with_other_weights_are_not_identical(collection, random):
    rank = list(range(len(collection)))
    random.shuffle(rank)
    sets = sets_of(collection)
    weights = [row[item] / 2 for row in collection for item in sorted(row, key=oracle.splitmix64)]
    groups = collapse(sets, np.array(rank, np.int64), np.array(weights, np.float64))
    assert members(groups) == oracle.identical_groups([set(row.items()) for row in collection], rank)


@settings(max_examples=150)
@given(st.lists(st.dictionaries(st.integers(0, 2), st.integers(2, 4), max_size=2), max_size=14), st.randoms())
def test_rows_of_other_words_are_not_identical(collection, random):
    rank = list(range(len(collection)))
    random.shuffle(rank)
    tags = [row[item] for row in collection for item in sorted(row, key=oracle.splitmix64)]
    groups = collapse(sets_of(collection), np.array(rank, np.int64), None, np.array(tags, np.uint32))
    assert members(groups) == oracle.identical_groups([set(row.items()) for row in collection], rank)


def test_rows_of_unknown_words_pass_for_any():
    tags = np.array([0, 0, 2, 3, 4, 4], np.uint32)
    assert members(collapse(sets_of([{1}, {2}, {1}, {1}, {3}, {3}]), np.arange(6), None, tags)) == [
        [0, 2, 3],
        [1],
        [4, 5],
    ]


def test_equal_digests_of_different_sets_do_not_collapse_them(monkeypatch):
    monkeypatch.setattr(identical, "set_digests", lambda hashes, starts, stops: np.zeros(len(starts), np.uint64))
    collection = [{1}, {2}, {1}, {1, 2}, {1}]
    groups = collapse(sets_of(collection), np.arange(5))
    together = [group for group in members(groups) if len(group) > 1]
    assert sorted(row for group in members(groups) for row in group) == [0, 1, 2, 3, 4]
    assert all(len({frozenset(collection[row]) for row in group}) == 1 for group in together)


def expanded(collection, rank, star, threshold=0.5):
    """Join the representatives by brute force, expand, and return everything."""
    groups = collapse(sets_of(collection), np.array(rank, np.int64))
    sets = [collection[row] for row in groups.representatives.tolist()]
    pairs = oracle.similar_pairs(sets, threshold)
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    shared = np.array([len(sets[i] & sets[j]) for i, j in pairs], np.int64)
    total = np.array([len(sets[i] | sets[j]) for i, j in pairs], np.int64)
    verified = VerifiedPairs(a, b, shared / np.maximum(total, 1), shared, total, {"candidates": 9}, recall=0.5)
    groups = replace(groups, star=star)
    return groups, expand(verified, groups, np.array([len(each) for each in sets], np.int64))


@settings(max_examples=150)
@given(rows, st.randoms(), st.integers(1, 5))
def test_expand(collection, random, star):
    rank = list(range(len(collection)))
    random.shuffle(rank)
    groups, found = expanded(collection, rank, star)
    truth = oracle.similar_pairs(collection, 0.5)
    pairs = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    group_of = {row: group for group in members(groups) for row in group}

    def written(a: int, b: int) -> bool:
        """All pairs of small groups; of a large one, or of a group and a large one, those with a representative."""
        large = max(len(group_of[a]), len(group_of[b])) > star
        return not large or a == group_of[a][0] or b == group_of[b][0]

    expected = [
        (a, b)
        for a, b in truth
        if written(a, b)
        and not (group_of[a] is group_of[b] and len(group_of[a]) > star and group_of[a][0] not in (a, b))
    ]
    assert pairs == expected and found.recall == 0.5
    for index, (a, b) in enumerate(pairs):
        assert found.shared[index] == len(collection[a] & collection[b])
        assert found.total[index] == len(collection[a] | collection[b])
        assert found.similarity[index] == found.shared[index] / found.total[index]
    assert found.counters == {
        "candidates": 9,
        "identical_documents": sum(map(bool, collection)) - len(groups),
        "bounded_above": star,
        "bounded_groups": sum(len(group) > star for group in members(groups)),
        "bounded_pairs": len(truth) - len(pairs),
    }


def test_a_group_of_64_is_written_whole_and_one_of_65_as_a_star():
    for size, pairs in ((64, 64 * 63 // 2), (65, 64)):
        _, found = expanded([frozenset({1})] * size, range(size), STAR)
        assert len(found) == pairs
        assert found.counters["bounded_groups"] == (size > 64)
        assert found.counters["bounded_pairs"] == size * (size - 1) // 2 - pairs
    assert set(found.a.tolist()) == {0} and found.b.tolist() == list(range(1, 65))


def test_two_large_groups_meet_in_their_representatives():
    collection = [frozenset({1, 2})] * 70 + [frozenset({1, 2, 3})] * 70
    _, found = expanded(collection, range(140), STAR)
    across = [(a, b) for a, b in zip(found.a.tolist(), found.b.tolist(), strict=True) if a < 70 <= b]
    assert across == [(0, b) for b in range(70, 140)] + [(a, 70) for a in range(1, 70)]
    assert len(found) == 69 + 69 + 139
    assert found.counters["bounded_pairs"] == 140 * 139 // 2 - len(found)


def test_more_pairs_than_anyone_looks_at_are_written_as_stars(monkeypatch):
    monkeypatch.setattr("sosie.matches.sets.partitions.FEW", 0)
    copies = [frozenset({1, 2}), frozenset({1, 2, 3}), frozenset({9})]
    for count, star in ((5, STAR), (9, 1)):  # 45 pairs of 11 rows; 153 of 19
        collection = copies[:2] * count + copies[2:]
        groups, whole = expanded(collection, range(len(collection)), STAR)
        pairs = VerifiedPairs(np.array([0]), np.array([1]), np.array([2 / 3]), np.array([2]), np.array([3]))
        chosen = listable(pairs, groups)
        assert chosen.star == star
        assert len(whole) == 2 * count * (2 * count - 1) // 2
        found = expand(pairs, chosen, np.array([2, 3, 1]))
        assert len(found) + found.counters["bounded_pairs"] == len(whole)
    assert len(found) == 2 * (count - 1) + 2 * count - 1
