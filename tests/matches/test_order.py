"""Pairs in their one order: whatever is done to them, what they say of their recall stays."""

import numpy as np

from sosie.matches.order import merged, ordered_pairs, renumbered
from sosie.types import VerifiedPairs


def verified(pairs, recall=None) -> VerifiedPairs:
    a, b = np.array(pairs, np.int64).reshape(-1, 2).T
    ones = np.ones(len(a), np.int64)
    return VerifiedPairs(a, b, ones / 2, ones, 2 * ones, {"candidates": 7}, recall)


def test_recall_and_counters_are_carried_through():
    pairs = ordered_pairs(np.array([3, 1]), np.array([4, 2]), {"comparisons": 5}, recall=0.9)
    assert pairs.recall == pairs.take(np.array([1])).recall == 0.9 and pairs.counters == {"comparisons": 5}
    assert ordered_pairs(np.array([3]), np.array([4])).recall is None
    for changed in (
        renumbered(verified([(0, 1), (1, 2)], 0.8), np.array([9, 5, 7])),
        merged(verified([(0, 1)], 0.8), verified([(0, 3)])),
        verified([(0, 1), (2, 3)], 0.8).take(np.array([True, False])),
    ):
        assert changed.recall == 0.8 and changed.counters == {"candidates": 7}


def test_merged_pairs_are_in_order():
    both = merged(verified([(0, 1), (2, 3)]), verified([(1, 2)]))
    assert list(zip(both.a.tolist(), both.b.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 3)]
    assert both.total.tolist() == [2, 2, 2]
