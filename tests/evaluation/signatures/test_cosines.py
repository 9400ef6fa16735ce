"""Cosines and distances of all pairs, and what a radius is worth, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import UsageError
from sosie.evaluation.signatures.cosines import MOST, cosines, distances, each_pair
from sosie.evaluation.signatures.estimates import hamming_quality
from sosie.types import Features

ROWS = st.lists(st.dictionaries(st.integers(0, 12), st.integers(1, 9), max_size=6), max_size=7)


@settings(deadline=None)
@given(ROWS)
def test_cosines_are_those_of_the_definition(rows):
    hashes = np.array([key for row in rows for key in sorted(row)], np.uint64)
    weights = np.array([row[key] for row in rows for key in sorted(row)], np.float64)
    features = Features(hashes, np.cumsum([0, *map(len, rows)]))
    found = cosines(features, weights)
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            product = sum(weight * b.get(key, 0) for key, weight in a.items())
            norm = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
            assert found[i, j] == pytest.approx(product / norm if norm else 0)


@pytest.mark.parametrize("count", (0, 1, 300))
def test_distances_are_counted_bits(count):
    words = np.random.default_rng(count).integers(0, 2**64, (count, 3), dtype=np.uint64)
    found = distances(words)
    assert found.shape == (count, count)
    a, b = each_pair(count)
    assert len(a) == count * (count - 1) // 2
    assert np.array_equal(found[a, b], np.bitwise_count(words[a] ^ words[b]).sum(axis=1))


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 8)), max_size=30), st.floats(0, 1))
def test_the_worth_of_a_radius(pairs, threshold):
    found = hamming_quality(
        np.array([cosine for cosine, _ in pairs]), np.array([d for _, d in pairs], np.int32), 8, threshold
    )
    similar = [pair for pair in pairs if pair[0] >= threshold]
    for radius in range(9):
        within = [pair for pair in pairs if pair[1] <= radius]
        both = [pair for pair in within if pair[0] >= threshold]
        at = [cosine for cosine, distance in pairs if distance == radius]
        for value, part, whole in (
            (found.precision[radius], len(both), len(within)),
            (found.recall[radius], len(both), len(similar)),
            (found.cosine[radius], sum(at), len(at)),
        ):
            assert math.isnan(value) if not whole else value == pytest.approx(part / whole)
        assert found.pairs[radius] == len(at)


def test_too_many_documents_are_refused():
    with pytest.raises(UsageError, match="take a sample"):
        each_pair(MOST + 1)
