"""Term counts: exact, added, looked up, and never dependent on how the collection is cut."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_text

from sosie import DocumentFrequencies, MismatchError, Shingles, Source, TermCounts, UsageError
from sosie.features.frequencies import collection_terms, count_terms

words = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "für", "."])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)


def expected(collection, width) -> dict[int, int]:
    return Counter(shingle for text in collection for shingle in oracle_text.shingles(text, width, "word"))


def found(counted: TermCounts) -> dict[int, int]:
    return dict(zip(counted.features.tolist(), counted.counts.tolist(), strict=True))


@settings(max_examples=40)
@given(st.lists(texts, max_size=4), st.sampled_from([1, 2]), st.sampled_from([1, 3]))
def test_any_batches(batches, width, threads):
    shingles, collection = Shingles(width), [text for batch in batches for text in batch]
    counted = count_terms(batches, shingles, threads)
    assert found(counted) == expected(collection, width) and counted.total == sum(expected(collection, width).values())
    assert counted.features.tolist() == sorted(counted.features.tolist())
    features = [shingles.extract(batch, counts=True) for batch in batches]
    assert count_terms(features, shingles, threads).digest == counted.digest
    parts = [count_terms([batch], shingles) for batch in batches]
    assert sum(parts, count_terms([])).digest == counted.digest


def test_many_runs_are_merged(monkeypatch):
    rng = np.random.default_rng(2)
    collection = [" ".join(f"w{int(n)}" for n in 3000 * rng.random(20) ** 3) for _ in range(300)]
    whole = count_terms([collection], Shingles(1))
    monkeypatch.setattr("sosie.features.counts.SPAN", 500)
    for threads in (1, 3):
        assert count_terms([collection], Shingles(1), threads).digest == whole.digest


def test_lookup_knows_what_was_counted():
    counted = count_terms([["a b b", "b c"]], Shingles(1))
    hashes = Shingles(1).extract(["a", "b", "c", "d"]).hashes
    assert counted.lookup(hashes).tolist() == [1, 3, 1, 0]


def test_any_collection_will_do():
    collection = ["a b b", "", "b c"]
    source = Source(pa.table({"text": collection}), batch_size=1)
    counted = collection_terms(collection, Shingles(1))
    for form in (pa.array(collection), source, source.batches(), counted):
        assert collection_terms(form, Shingles(1), threads=2).digest == counted.digest


def test_what_is_no_term_counts_is_refused():
    features, counts = np.array([3, 7], np.uint64), np.array([1, 2])
    for wrong in (
        (features.astype(np.int64), counts),
        (features, counts.astype(np.int32)),
        (features, counts[:1]),
        (features[::-1], counts),
        (features, counts - 1),
    ):
        with pytest.raises(MismatchError):
            TermCounts(*wrong)
    with pytest.raises(UsageError, match="how often"):
        collection_terms(DocumentFrequencies(features, counts, 2, 3), Shingles(1))
    with pytest.raises(UsageError, match="counts=True"):
        count_terms([Shingles(1).extract(["a"])])
