"""Document frequencies, and each document's rarest features in order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.rarity import COMMON, HASH_BITS, SATURATED, count_documents, rarest_prefixes


def counted(rows, shift: int, edges=(0, 1 << 64)):
    """The table of frequencies, counted part by part."""
    hashes = np.array([feature for row in rows for feature in row], np.uint64)
    ends = np.cumsum([0, *map(len, rows)])
    table = np.zeros(1 << 64 - shift, np.uint16)
    for low, high in pairwise(edges):
        count_documents(hashes, ends[:-1], ends[1:], np.uint64(low), np.uint64(high - 1), shift, table)
    return table


sorted_rows = st.lists(st.frozensets(st.integers(0, 2**64 - 1), max_size=8).map(sorted), max_size=8)


@settings(max_examples=100)
@given(sorted_rows, st.integers(1, 16))
def test_frequencies_are_the_same_however_they_are_counted(rows, parts):
    table = counted(rows, 52)
    expected = np.zeros(1 << 12, np.int64)
    for row in rows:
        for feature in row:
            expected[feature >> 52] += 1
    assert table.tolist() == expected.tolist()
    edges = [((1 << 64) * i // parts) >> 52 << 52 for i in range(parts + 1)]
    assert np.array_equal(counted(rows, 52, edges), table)


def test_frequencies_stop_at_the_largest_count():
    table = np.full(2, SATURATED - 1, np.uint16)
    hashes, ends = np.array([1, 1, 1], np.uint64), np.arange(4)
    count_documents(hashes, ends[:-1], ends[1:], np.uint64(0), np.uint64(2**64 - 1), 63, table)
    assert table.tolist() == [SATURATED, SATURATED - 1]


@pytest.mark.parametrize("size", [1, 2, 50, 255, 256, 257, 1000])
def test_the_prefix_is_the_head_of_the_sorted_tokens(size):
    """Rare features are sorted by counting, frequent ones by their tokens: together they are in one order."""
    rng = np.random.default_rng(size)
    table = rng.choice([0, 1, 2, 3, COMMON - 1, COMMON, COMMON + 1, SATURATED], 1 << 10).astype(np.uint16)
    hashes = np.sort(rng.integers(0, 2**64, size + 3, dtype=np.uint64))
    tokens = sorted(int(table[h >> 54]) << HASH_BITS | h >> 64 - HASH_BITS for h in hashes[1 : size + 1].tolist())
    for length in {1, size // 2 or 1, size}:
        found = np.zeros(length + 2, np.uint64)
        starts, stops, offsets = np.array([0, 1]), np.array([0, size + 1]), np.array([1, 1, length + 1])
        rarest_prefixes(hashes, starts, stops, 54, table, offsets, found)
        assert found.tolist() == [0, *tokens[:length], 0]
