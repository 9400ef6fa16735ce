"""Features from rare to frequent, with what is left from each on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_measures as oracle

from sosie.kernels.sets.ranked import rank_rows
from sosie.kernels.sets.rarity import HASH_BITS
from sosie.matches.measured import measured_rows
from sosie.matches.partitions import count_frequencies
from sosie.matches.sets import sets_of
from sosie.matches.similarity import Similarity

rows = st.lists(st.dictionaries(st.integers(0, 12), st.integers(0, 5), max_size=10), min_size=1, max_size=8)


@settings(max_examples=150)
@given(rows, st.sampled_from([0.0, 0.25, 0.64, 1.0]), st.booleans())
def test_rows_are_ranked_as_far_as_their_rest_is_large_enough(collection, share, weighted):
    features, weights = oracle.features_and_weights(collection)
    sets, _ = sets_of(features)
    table, shift = count_frequencies(sets, 1)
    measured = measured_rows(sets, Similarity("cosine", weights if weighted else None))
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
    ranked = rank_rows(measured_rows(sets, Similarity("cosine")), 0, 1, share, shift, table)
    assert len(ranked.tokens) == size - int(np.ceil(share * size - 1e-9)) + 1
