"""Document frequencies, each document's rarest features in order, and what is left from each feature on."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_measures as oracle

from sosie.kernels.sets.rarity import COMMON, HASH_BITS, SATURATED, count_documents, rank_rows, rarest_prefixes
from sosie.matches.sets.partitions import count_frequencies
from sosie.matches.sets.rows import sets_of, weighed_sets
from sosie.matches.sets.similarity import Similarity


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


rows = st.lists(st.dictionaries(st.integers(0, 12), st.integers(0, 5), max_size=10), min_size=1, max_size=8)


@settings(max_examples=150)
@given(rows, st.sampled_from([0.0, 0.25, 0.64, 1.0]), st.booleans())
def test_rows_are_ranked_as_far_as_their_rest_is_large_enough(collection, share, weighted):
    features, weights = oracle.features_and_weights(collection)
    sets, _ = sets_of(features)
    table, shift = count_frequencies(sets, 1)
    measured = weighed_sets(sets, Similarity("cosine", weights if weighted else None))
    ranked = rank_rows(measured, 0, len(collection), share, shift, table)
    for row, items in enumerate(collection):
        pairs = [(oracle.spread(item), weight / 8 if weighted else 1) for item, weight in items.items()]
        tokens = sorted((int(table[h >> shift]) << HASH_BITS | h >> 64 - HASH_BITS, w) for h, w in pairs)
        rests = [sum(w * w for _, w in tokens[i:]) for i in range(len(tokens))]
        length = sum(rest >= share * rests[0] for rest in rests) if rests and rests[0] else 0
        here = slice(ranked.offsets[row], ranked.offsets[row + 1])
        assert ranked.tokens[here].tolist() == [token for token, _ in tokens[:length]]
        assert ranked.rests[here].tolist() == rests[:length]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 77, 200])
@pytest.mark.parametrize("share", [0.64, 0.25])
def test_without_weights_the_prefix_has_the_length_of_the_formula(size, share):
    """|x| - ceil(t^2 |x|) + 1."""
    features, _ = oracle.features_and_weights([dict.fromkeys(range(size), 1)])
    sets, _ = sets_of(features)
    table, shift = count_frequencies(sets, 1)
    ranked = rank_rows(weighed_sets(sets, Similarity("cosine")), 0, 1, share, shift, table)
    assert len(ranked.tokens) == size - int(np.ceil(share * size - 1e-9)) + 1
