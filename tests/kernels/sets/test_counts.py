"""Sorted runs of features: merged like counters, looked up like dictionaries; sought features are found in order."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.arrays import read_only
from sosie.kernels.sets.counts import leading_bits, lookup_counts, merge_counts, sought_places

# Few values, so that runs share some; the ends of the range; and hashes that are not spread at all.
features = st.one_of(st.integers(0, 20), st.integers(2**64 - 20, 2**64 - 1), st.integers(0, 2**64 - 1))
runs = st.dictionaries(features, st.integers(1, 2**40), max_size=40)


def arrays(run):
    ordered = sorted(run)
    counts = [run[feature] for feature in ordered]
    return read_only(np.array(ordered, np.uint64)), read_only(np.array(counts, np.int64))


@settings(max_examples=150)
@given(runs, runs)
def test_merged_runs_are_added_counters(a, b):
    merged, sums = merge_counts(*arrays(a), *arrays(b))
    assert dict(zip(merged.tolist(), sums.tolist(), strict=True)) == Counter(a) + Counter(b)
    assert merged.tolist() == sorted(merged.tolist())


@settings(max_examples=150)
@given(runs, st.lists(features, max_size=30))
def test_counts_are_looked_up(run, others):
    sorted_features, counts = arrays(run)
    queries = np.array([*others, *run], np.uint64)
    found = np.empty(len(queries), np.int64)
    lookup_counts(sorted_features, counts, *leading_bits(sorted_features), read_only(queries), found)
    assert found.tolist() == [run.get(query, 0) for query in queries.tolist()]


def test_many_features_are_looked_up():
    rng = np.random.default_rng(1)
    table = np.unique(rng.integers(0, 2**64, 100_000, dtype=np.uint64))
    counts = rng.integers(1, 100, len(table))
    directory, bits = leading_bits(table)
    assert len(directory) == (1 << bits) + 1 and len(table) // 4 < len(directory) <= 2 * len(table)
    found = np.empty(len(table), np.int64)
    lookup_counts(read_only(table), read_only(counts), directory, bits, read_only(table), found)
    assert np.array_equal(found, counts)
    lookup_counts(read_only(table), read_only(counts), directory, bits, read_only(table + np.uint64(1)), found)
    assert found.sum() == 0


ROWS = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=6, unique=True).map(sorted), max_size=8)


@given(ROWS, st.lists(st.booleans(), min_size=16, max_size=16))
def test_against_looking_at_each(rows, known):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    hashes = np.array([value for row in rows for value in row], np.uint64)
    places, at = sought_places(hashes, offsets[:-1], offsets[1:], np.array(known), 60)
    expected = [(place, row) for row, values in enumerate(rows) for place, value in enumerate(values, offsets[row])
                if known[value >> 60]]  # fmt: skip
    assert list(zip(places.tolist(), at.tolist(), strict=True)) == expected
