"""Document frequencies: exact, added, looked up, and never dependent on how the collection is cut."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_text

from sosie import DocumentFrequencies, MismatchError, Shingles, Source, UsageError
from sosie.features import counts
from sosie.features.frequencies import collection_frequencies, count_frequencies

words = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "für", "雪山", "."])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)


def expected(collection, shingles) -> tuple[dict[int, int], int, int]:
    rows = [list(oracle_text.shingles(text, shingles.width, shingles.unit)) for text in collection]
    return Counter(feature for row in rows for feature in set(row)), len(rows), sum(map(len, rows))


def found(counted) -> tuple[dict[int, int], int, int]:
    assert counted.features.tolist() == sorted(set(counted.features.tolist()))
    counts = dict(zip(counted.features.tolist(), counted.counts.tolist(), strict=True))
    return counts, counted.documents, counted.length


@settings(max_examples=60)
@given(texts, st.sampled_from([Shingles(1), Shingles(2), Shingles(3, "char")]), st.data())
def test_counts_are_those_of_plain_python_however_they_are_cut(collection, shingles, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(collection)), max_size=4)))
    batches = [collection[a:b] for a, b in pairwise([0, *cuts, len(collection)])]
    threads = data.draw(st.sampled_from([1, 2, 5]))
    truth = expected(collection, shingles)
    assert found(count_frequencies(batches, shingles, threads)) == truth
    features = [shingles.extract(batch, counts=True) for batch in batches]
    assert found(count_frequencies(features, shingles, threads)) == truth
    parts = [count_frequencies([batch], shingles) for batch in batches]
    assert found(sum(parts[1:], parts[0])) == truth
    assert sum(parts[1:], parts[0]).digest == count_frequencies([collection], shingles).digest


def test_many_runs_are_merged(monkeypatch):
    """Short spans: hundreds of runs of all sizes."""
    rng = np.random.default_rng(2)
    collection = [" ".join(f"w{int(n)}" for n in 3000 * rng.random(20) ** 3) for _ in range(600)]
    whole = count_frequencies([collection], Shingles(2))
    assert found(whole) == expected(collection, Shingles(2))
    monkeypatch.setattr("sosie.features.counts.SPAN", 1000)
    for threads in (1, 3):
        assert count_frequencies([collection], Shingles(2), threads).digest == whole.digest
    assert count_frequencies([Shingles(2).extract(collection, counts=True)]).digest == whole.digest


def test_runs_double_in_size(monkeypatch):
    """So n pieces are merged in n log n steps; one run that takes in each piece would need n * n."""
    sizes = []

    def merged(a, b, merge=counts.CountRun.merged):
        run = merge(a, b)
        sizes.append(len(run.features))
        return run

    monkeypatch.setattr(counts, "SPAN", 1)
    monkeypatch.setattr(counts.CountRun, "merged", merged)
    assert len(count_frequencies([[f"w{i}" for i in range(256)]], Shingles(1))) == 256
    assert sum(sizes) == 256 * 8


def test_lookup_knows_what_was_counted():
    counted = count_frequencies([["a b", "b c", "b"]], Shingles(1))
    hashes = Shingles(1).extract(["a", "b", "c", "d"]).hashes
    assert counted.lookup(hashes).tolist() == [1, 3, 1, 0]
    assert counted.lookup(np.empty(0, np.uint64)).tolist() == []
    assert count_frequencies([]).lookup(hashes).tolist() == [0] * 4


def test_sources_and_readings_are_counted_without_their_rejects():
    table = pa.table({"text": ["a b", None, "b c", ""]})
    source = Source(table, on_error="skip", batch_size=1)
    for collection in (source, source.batches()):
        assert found(collection_frequencies(collection, Shingles(1), 2)) == expected(["a b", "b c", ""], Shingles(1))
    begun = source.batches()
    next(begun)
    with pytest.raises(UsageError, match="Source"):
        collection_frequencies(begun, Shingles(1))


def test_features_without_counts_are_refused():
    with pytest.raises(UsageError, match="counts=True"):
        count_frequencies([Shingles().extract(["a b c"])])


def test_what_is_counted_cannot_be_changed():
    counted = count_frequencies([["a b c"]])
    with pytest.raises(ValueError, match="read-only"):
        counted.counts[0] = 2


@pytest.mark.parametrize(
    ("features", "counts", "documents", "length"),
    [
        ([1, 2], [1], 3, 3),
        ([2, 1], [1, 1], 3, 3),
        ([1, 1], [1, 1], 3, 3),
        ([1, 2], [0, 1], 3, 3),
        ([1, 2], [4, 1], 3, 3),
        ([], [], -1, 0),
        ([], [], 0, -1),
    ],
)
def test_impossible_frequencies_are_refused(features, counts, documents, length):
    with pytest.raises(MismatchError):
        DocumentFrequencies(np.array(features, np.uint64), np.array(counts, np.int64), documents, length)


def test_wrong_types_are_refused():
    with pytest.raises(MismatchError, match="int32"):
        DocumentFrequencies(np.array([1], np.uint64), np.array([1], np.int32), 1, 1)


def test_the_digest_covers_everything():
    features, counts = np.array([3, 5], np.uint64), np.array([1, 2])
    made = [
        DocumentFrequencies(features, counts, 2, 3),
        DocumentFrequencies(features, counts, 3, 3),
        DocumentFrequencies(features, counts, 2, 4),
        DocumentFrequencies(features, counts[::-1].copy(), 2, 3),
        DocumentFrequencies(np.array([3, 6], np.uint64), counts, 2, 3),
        DocumentFrequencies(features[:1], counts[:1], 2, 3),
    ]
    assert len({counted.digest for counted in made}) == len(made)
    assert made[0].digest == "283e36c11afef9122437382f3367fd26"
