"""Inverted files beside a dictionary of lists."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.inverted import ascend_in_parts, find_terms, invert, revert

HASH = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.sets(HASH, max_size=8), max_size=40), threads=st.sampled_from([1, 3]))
def test_lists_are_those_of_a_dictionary(rows, threads):
    lists = defaultdict(list)
    for number, row in enumerate(rows):
        for value in row:
            lists[value].append(number)
    hashes = np.array([value for row in rows for value in sorted(row)], np.uint64)
    numbers = np.repeat(np.arange(len(rows), dtype=np.uint32), [len(row) for row in rows])
    made = invert(hashes, numbers, threads)
    assert made.terms.tolist() == sorted(lists)
    for term, start, stop in zip(made.terms.tolist(), made.starts[:-1], made.starts[1:], strict=True):
        assert made.rows[start:stop].tolist() == lists[term]
    again, offsets = revert(made, len(rows))
    assert np.array_equal(again, hashes) and np.diff(offsets).tolist() == [len(row) for row in rows]
    assert ascend_in_parts(made.rows, made.starts, len(rows))
    places = find_terms(made.terms, np.array([*sorted(lists), 12345], np.uint64))
    assert places[:-1].tolist() == list(range(len(lists)))


def test_many_postings_of_few_features():
    rng = np.random.default_rng(0)
    count = 30_000
    hashes = np.sort(rng.choice(np.arange(1, 200, dtype=np.uint64) << np.uint64(50), (count, 3)), axis=1)
    keep = np.concatenate([np.ones((count, 1), bool), hashes[:, 1:] != hashes[:, :-1]], axis=1)
    numbers = np.repeat(np.arange(count, dtype=np.uint32), keep.sum(axis=1))
    made = invert(hashes[keep], numbers)
    assert ascend_in_parts(made.rows, made.starts, count) and len(made.rows) == keep.sum()
    assert not ascend_in_parts(made.rows[::-1].copy(), made.starts, count)
    assert not ascend_in_parts(made.rows, made.starts, count - 1)


@pytest.mark.parametrize("same", [0, 12, 30, 52])
def test_many_postings_with_the_same_leading_bits(same):
    """Parts are cut by their next bits: into many spans, a few long ones, or one."""
    rng = np.random.default_rng(same)
    features = rng.integers(0, 1 << (63 - same), 3000, dtype=np.uint64)
    hashes, numbers = features[rng.integers(0, 3000, 40_000)], np.arange(40_000, dtype=np.uint32)
    order = np.argsort(hashes, kind="stable")
    made = invert(hashes, numbers)
    assert np.array_equal(made.rows, numbers[order])
    assert np.array_equal(np.repeat(made.terms, np.diff(made.starts)), hashes[order])
