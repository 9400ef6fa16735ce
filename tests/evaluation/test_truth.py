"""A result against a truth: pairs without order, clusters, ids that are not there."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import MismatchError
from sosie.evaluation.result import Numbering, Result
from sosie.evaluation.truth import compare_with_truth

NAMES = [f"d{i}" for i in range(9)]


def pairs_table(pairs, kind=None):
    kind = kind or pa.large_string()
    return pa.table({side: pa.array([pair[i] for pair in pairs], kind) for i, side in enumerate("ab")})


def result_of(pairs, clusters=None, documents=9, kind=None):
    table = None
    if clusters is not None:
        rows = [(member, number, i == 0) for number, cluster in enumerate(clusters) for i, member in enumerate(cluster)]
        ids, numbers, kept = zip(*rows, strict=True) if rows else ((), (), ())
        table = pa.table(
            {
                "id": pa.array(ids, kind or pa.large_string()),
                "cluster": pa.array(numbers, pa.int64()),
                "kept": pa.array(kept, pa.bool_()),
            }
        )
    report = {"counts": {"documents": documents, "rejected": 0}}
    return Result(Path("out"), report, pairs_table(pairs, kind), table)


NUMBERING = Numbering(pa.array(NAMES, pa.large_string()), "docs.jsonl")
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=12)


@given(PAIRS, PAIRS)
def test_pairs_against_sets_of_frozensets(found, true):
    score = compare_with_truth(result_of(found), pairs_table(true), NUMBERING)
    found_sets = {frozenset(pair) for pair in found if len(set(pair)) == 2}
    true_sets = {frozenset(pair) for pair in true if len(set(pair)) == 2}
    assert score.pairs.true == len(true_sets) and score.pairs.found == len(found_sets)
    assert score.pairs.right == len(found_sets & true_sets)
    assert score.selves == sum(a == b for a, b in true)
    assert score.repeated == len(true) - score.selves - len(true_sets)
    assert score.clusters is None and score.checked
    assert compare_with_truth(result_of(found), pairs_table(true)).pairs == score.pairs


@given(st.permutations(NAMES), st.lists(st.integers(0, 4), max_size=4), PAIRS)
def test_clusters_against_all_pairs(order, sizes, true):
    clusters, rest = [], list(order)
    for size in sizes:
        if 1 < size <= len(rest):
            clusters.append(rest[:size])
            rest = rest[size:]
    truth = {name: {name} for name in NAMES}
    for a, b in true:
        joined = truth[a] | truth[b]
        for name in joined:
            truth[name] = joined
    together = {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}
    really = {frozenset(pair) for pair in combinations(NAMES, 2) if pair[1] in truth[pair[0]]}
    for numbering in (NUMBERING, None):
        score = compare_with_truth(result_of([], clusters), pairs_table(true), numbering).clusters
        assert score is not None
        assert (score.true, score.found, score.right) == (len(really), len(together), len(really & together))
        assert score.pairs == 36


def test_unknown_ids_are_named_and_counted():
    truth = pairs_table([("d0", f"x{i}") for i in range(7)] + [("x1", "d1")])
    with pytest.raises(MismatchError, match=r"the truth: ids .* docs\.jsonl: 'x1', 'x0', .*, \.\.\. \(7 in all\)"):
        compare_with_truth(result_of([]), truth, NUMBERING)
    with pytest.raises(MismatchError, match=r"out: .*: 'y' \(1 in all\)"):
        compare_with_truth(result_of([("d0", "y")]), pairs_table([("d0", "d1")]), NUMBERING)
    assert not compare_with_truth(result_of([]), truth).checked


def test_integers_and_rejected_documents():
    result = result_of([(5, 3)], [[5, 3]], kind=pa.int64())
    numbering = Numbering(pa.array([3, 4, None, 5]), "docs.jsonl")
    score = compare_with_truth(result, pairs_table([(3, 5)], pa.int64()), numbering, documents=3)
    assert score.pairs.recall == score.pairs.precision == 1
    assert score.clusters is not None and score.clusters.pairs == 3 and score.clusters.adjusted_rand == 1
    with pytest.raises(MismatchError, match="int64"):
        compare_with_truth(result_of([("5", "3")]), pairs_table([(3, 5)], pa.int64()), numbering)
