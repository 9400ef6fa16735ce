"""Agreement of clusterings, against counting every pair."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sosie.evaluation.truth import cluster_agreement, connected
from sosie.types import Pairs

LABELS = st.integers(0, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, max(n - 1, 0)), min_size=n, max_size=n)] * 2)
)


def counted(true, found):
    pairs = list(combinations(range(len(true)), 2))
    same_true = {(i, j) for i, j in pairs if true[i] == true[j]}
    same_found = {(i, j) for i, j in pairs if found[i] == found[j]}
    return len(same_true), len(same_found), len(same_true & same_found), len(pairs)


@given(LABELS)
@example(([], []))
@example(([0, 0, 0], [0, 0, 0]))
@example(([0, 1, 2], [0, 1, 2]))
def test_it_is_what_counting_all_pairs_gives(labels):
    true, found = labels
    score = cluster_agreement(np.array(true, np.int64), np.array(found, np.int64))
    both_true, both_found, both, pairs = counted(true, found)
    assert (score.true, score.found, score.right, score.pairs) == (both_true, both_found, both, pairs)
    recall = Fraction(both, both_true) if both_true else Fraction(1)
    precision = Fraction(both, both_found) if both_found else Fraction(1)
    assert score.recall == pytest.approx(float(recall)) and score.precision == pytest.approx(float(precision))
    if both_true + both_found:
        assert score.f1 == pytest.approx(float(Fraction(2 * both, both_true + both_found)))
    if pairs:
        expected = Fraction(both_true * both_found, pairs)
        mean = Fraction(both_true + both_found, 2)
        rand = (both - expected) / (mean - expected) if mean != expected else Fraction(1)
        assert score.adjusted_rand == pytest.approx(float(rand))


def test_known_values():
    """The example of Hubert and Arabie's index that scikit-learn documents: 0.57 for [0, 0, 1, 1] and [0, 0, 1, 2]."""
    score = cluster_agreement(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))
    assert score.adjusted_rand == pytest.approx(4 / 7)
    assert cluster_agreement(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])).adjusted_rand == 0
    assert cluster_agreement(np.array([0, 0]), np.array([1, 1])).adjusted_rand == 1


def test_documents_that_stand_alone_need_no_label():
    some = cluster_agreement(np.array([0, 0, 2]), np.array([0, 1, 1]), documents=10)
    alone = list(range(3, 10))
    assert some == cluster_agreement(np.array([0, 0, 2, *alone]), np.array([0, 1, 1, *alone]))


def test_large_clusters_do_not_overflow():
    labels = np.zeros(3_000_000, np.int64)
    score = cluster_agreement(labels, labels, documents=10**10)
    assert score.true == 3_000_000 * 2_999_999 // 2 and score.f1 == 1 and score.adjusted_rand == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_what_pairs_connect(pairs):
    labels = list(range(10))
    for _ in pairs:
        for a, b in pairs:
            labels[a] = labels[b] = min(labels[a], labels[b])
    both = np.array(pairs, np.int64).reshape(-1, 2)
    assert connected(Pairs(both[:, 0], both[:, 1]), 10).tolist() == labels
