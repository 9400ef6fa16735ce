"""Recall against exact search on a sample, against comparing everything in plain Python."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sosie
from sosie.documents.source import Source
from sosie.errors import MismatchError, UsageError
from sosie.evaluation.result import Result
from sosie.evaluation.sampling import search
from sosie.evaluation.sampling.recall import SampledRecall
from sosie.evaluation.sampling.sample import sampled_recall
from sosie.features.shingles import Shingles


def result_of(pairs, dropped=None, threshold="0.5", **more):
    parameters = {"threshold": threshold, "method": {"method": "exact", "shingles": {"width": 1, "unit": "word"}}}
    a, b = ([pair[i] for pair in pairs] for i in (0, 1))
    clusters = None
    if dropped is not None:
        clusters = pa.table({"id": pa.array(dropped, pa.int64()), "kept": pa.array([False] * len(dropped), pa.bool_())})
    table = pa.table({"a": pa.array(a, pa.int64()), "b": pa.array(b, pa.int64())})
    return Result(Path("out"), {"parameters": parameters, **more}, table, clusters)


def similar_pairs(texts, threshold):
    sets = [set(text.split()) for text in texts]
    return {
        (i, j)
        for i, j in combinations(range(len(sets)), 2)
        if sets[i] & sets[j] and Fraction(len(sets[i] & sets[j]), len(sets[i] | sets[j])) >= Fraction(threshold)
    }


def sampled_rows(count, size, seed):
    return set(np.random.default_rng(seed).choice(count, min(size, count), replace=False).tolist())


WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=6).map(" ".join)


@settings(max_examples=150)
@given(
    st.lists(WORDS, min_size=1, max_size=14),
    st.integers(1, 16),
    st.integers(0, 3),
    st.sampled_from(["0.3", "0.5", "0.8", "1"]),
    st.data(),
)
def test_against_comparing_everything(texts, size, seed, threshold, data):
    count = len(texts)
    true = similar_pairs(texts, threshold)
    every = list(combinations(range(count), 2))
    listed = data.draw(st.lists(st.sampled_from(every), max_size=10)) if every else []
    dropped = data.draw(st.lists(st.integers(0, count - 1), unique=True))
    drawn = sampled_rows(count, size, seed)
    seen = {pair for pair in true if drawn & set(pair)}
    found = {pair for pair in listed if drawn & set(pair)}
    kept = set(range(count)) - set(dropped)
    unsettled = {pair for pair in seen if set(pair) <= kept}
    expected = SampledRecall(
        documents=count,
        sampled=len(drawn),
        true_pairs=len(seen),
        found_pairs=len(found & seen),
        wrong_pairs=len(found - seen),
        unsettled_pairs=len(unsettled),
        kept=len(kept & drawn),
        missed=len({row for pair in unsettled for row in pair if row in drawn}),
    )
    mirrored = [pair[::-1] if i % 2 else pair for i, pair in enumerate(listed)]
    source = Source(pa.table({"id": pa.array(range(count), pa.int64()), "text": texts}))
    measured = sampled_recall(result_of(mirrored, dropped, threshold), source, size=size, seed=seed)
    assert replace(measured, interval=(0.0, 1.0)) == expected
    low, high = measured.interval
    assert 0 <= low <= high <= 1 and (measured.recall is None or low <= measured.recall <= high)
    if size >= count and seen:
        assert low == measured.recall == high
    joined = sampled_recall(result_of(mirrored, None, threshold), source, size=size, seed=seed)
    assert (joined.true_pairs, joined.found_pairs) == (expected.true_pairs, expected.found_pairs)
    assert joined.kept is joined.missed is joined.unsettled_pairs is joined.settled is None


def test_small_pieces_and_threads_change_nothing(monkeypatch):
    texts = [" ".join(f"w{(i // 3 * 7 + j) % 50}" for j in range(8 + i % 3)) for i in range(300)]
    source = Source(pa.table({"id": range(300), "text": texts}))
    result = result_of(sorted(similar_pairs(texts, "0.5"))[::2], list(range(0, 300, 5)))
    whole = sampled_recall(result, source, size=90, seed=5, threads=1)
    drawn = sampled_rows(300, 90, 5)
    assert whole.true_pairs == sum(bool(drawn & set(pair)) for pair in similar_pairs(texts, "0.5")) > 300
    assert whole.found_pairs < whole.true_pairs and whole.recall is not None and 0.3 < whole.recall < 0.7
    monkeypatch.setattr(search, "SPAN", 16)
    monkeypatch.setattr(search, "CANDIDATES", 5)
    monkeypatch.setattr(search, "FILTER_BITS", 2)
    assert sampled_recall(result, source, size=90, seed=5, threads=2) == whole
    assert sampled_recall(result, source, size=90, seed=6) != whole


def test_a_whole_exact_run_has_full_recall(tmp_path):
    from sosie.evaluation.planted import PlantedCorpus
    from sosie.evaluation.result import load_result

    table = pa.concat_tables(PlantedCorpus(documents=3000, seed=2).tables())
    sosie.dedup(table, output=tmp_path / "out")
    result = load_result(tmp_path / "out")
    assert result.shingles == Shingles() and result.threshold == Fraction(4, 5) and result.inputs == []
    measured = sampled_recall(result, Source(table), size=3000)
    assert measured.recall == measured.settled == 1 and measured.missed == measured.wrong_pairs == 0
    assert measured.true_pairs == result.report["counts"]["pairs"] > 100


def test_rejected_documents_are_left_out():
    source = Source(pa.table({"id": [4, 5, 6, 7], "text": ["a b", None, "a b", "c"]}), on_error="skip")
    measured = sampled_recall(result_of([(4, 6)], [6], counts={"documents": 4, "rejected": 1}), source, size=10)
    assert measured == SampledRecall(3, 3, 1, 1, 0, 0, 2, 0, interval=(1, 1))


def test_nothing_to_find():
    empty = Source(pa.table({"id": pa.array([], pa.int64()), "text": pa.array([], pa.string())}))
    measured = sampled_recall(result_of([], []), empty)
    assert measured == SampledRecall(0, 0, 0, 0, 0, 0, 0, 0)
    assert measured.recall is measured.settled is None and measured.interval == (0, 1)
    wordless = Source(pa.table({"id": [1, 2], "text": ["", "..."]}))
    assert sampled_recall(result_of([], []), wordless).true_pairs == 0


def test_what_does_not_belong_together():
    source = Source(pa.table({"id": [1, 2], "text": ["a", "a"]}))
    with pytest.raises(MismatchError, match="had 3 documents, these inputs have 2"):
        sampled_recall(result_of([], counts={"documents": 3}), source)
    with pytest.raises(MismatchError, match="had 1 rejected, these inputs have 0"):
        sampled_recall(result_of([], rejected=1), source)
    with pytest.raises(MismatchError, match=r"out: ids .*: 9 \(1 in all\)"):
        sampled_recall(result_of([(1, 9)]), source)
    with pytest.raises(UsageError, match="at least 1"):
        sampled_recall(result_of([]), source, size=0)


def test_parameters_of_the_report_and_of_the_call():
    source = Source(pa.table({"id": [1, 2], "text": ["a b c d", "a b c e"]}))
    bare = Result(Path("out"), {}, result_of([]).pairs)
    with pytest.raises(UsageError, match="give the threshold"):
        sampled_recall(bare, source, shingles=Shingles(1))
    with pytest.raises(UsageError, match="give the shingles"):
        sampled_recall(bare, source, threshold=Fraction(1, 2))
    for width, true in ((1, 1), (4, 0)):
        measured = sampled_recall(bare, source, threshold=Fraction(3, 5), shingles=Shingles(width))
        assert measured.true_pairs == true
    with pytest.raises(UsageError, match="leave it out"):
        sampled_recall(result_of([]), source, threshold=Fraction(3, 5))
    with pytest.raises(UsageError, match="held against a reference"):
        said = {"against": {}, "parameters": {"threshold": 0.6, "shingles": {"width": 1, "unit": "word"}}}
        sampled_recall(Result(Path("out"), said, bare.pairs), source)


@pytest.mark.parametrize(("measure", "true"), [("jaccard", 0), ("cosine", 1), ("containment", 1)])
def test_the_measure_of_the_report(measure, true):
    """Two words are those of both, and eight those of the second: 1/4, 1/2 and 1."""
    source = Source(pa.table({"id": [1, 2], "text": ["a b", "a b c d e f g h"]}))
    parameters = {"threshold": 0.5, "similarity": measure, "shingles": {"width": 1, "unit": "word"}}
    measured = sampled_recall(Result(Path("out"), {"parameters": parameters}, result_of([]).pairs), source)
    assert (measured.true_pairs, measured.found_pairs) == (true, 0)
