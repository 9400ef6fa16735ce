"""Sorted distinct rows against `np.unique`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.sets.distinct import distinct, distinct_tagged


def check(rows: list[list[int]], first: int = 0) -> None:
    hashes = np.array([0] * first + [value for row in rows for value in row], np.uint64)
    offsets = first + np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    values, kept, counts = distinct(hashes, offsets, True)
    assert counts is not None
    assert kept[0] == 0
    assert (kept[-1], len(counts)) == (len(values), len(values))
    for i, row in enumerate(rows):
        expected, repeats = np.unique(np.array(row, np.uint64), return_counts=True)
        assert values[kept[i] : kept[i + 1]].tolist() == expected.tolist()
        assert counts[kept[i] : kept[i + 1]].tolist() == repeats.tolist()
    again, kept_again, nothing = distinct(hashes, offsets)
    assert again.tolist() == values.tolist()
    assert kept_again.tolist() == kept.tolist()
    assert nothing is None


value = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]), st.integers(0, 40))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(value, max_size=60), max_size=6), st.integers(0, 3))
def test_any_rows(rows: list[list[int]], first: int) -> None:
    check(rows, first)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.tuples(value, st.integers(2, 4)), max_size=60), max_size=6))
def test_tags_go_with_their_hashes_and_several_are_added_up(rows: list[list[tuple[int, int]]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    hashes = np.array([value for row in rows for value, _ in row], np.uint64)
    tags = np.array([tag for row in rows for _, tag in row], np.uint32)
    values, kept, counts, found = distinct_tagged(hashes, tags, offsets, True)
    assert [part.tolist() for part in distinct(hashes, offsets, True)] == [
        values.tolist(),
        kept.tolist(),
        counts.tolist(),
    ]
    for i, row in enumerate(rows):
        here = slice(kept[i], kept[i + 1])
        expected = [sum({tag for other, tag in row if other == value}) for value in values[here].tolist()]
        assert found[here].tolist() == expected


def test_many_hashes_with_tags_in_one_crowded_bucket() -> None:
    rng = np.random.default_rng(0)
    hashes = rng.permutation(np.arange(5000, dtype=np.uint64))
    values, _, _, tags = distinct_tagged(hashes, (hashes + np.uint64(7)).astype(np.uint32), np.array([0, 5000]))
    assert values.tolist() == list(range(5000)) and tags.tolist() == list(range(7, 5007))


def test_the_sum_of_tags_is_that_of_words() -> None:
    """A sum that wraps around to nothing does not pass for any words."""
    tags = np.array([3, 2**32 - 3], np.uint32)
    assert distinct_tagged(np.array([9, 9], np.uint64), tags, np.array([0, 2]))[3].tolist() == [2]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 24, 25, 60, 1000, 70_000])
@pytest.mark.parametrize("spread", [2**64 - 1, 1000, 1])
def test_many_or_equal_or_crowded_hashes(size: int, spread: int) -> None:
    rng = np.random.default_rng(size)
    row = rng.integers(0, spread, size, dtype=np.uint64, endpoint=True).tolist()
    check([row, [], row[::-1], sorted(row), row[: size // 2]])


def test_a_million_repeats_of_two_hashes() -> None:
    """Takes minutes if the time is quadratic."""
    values, kept, counts = distinct(np.tile(np.array([1, 0], np.uint64), 500_000), np.array([0, 1_000_000]), True)
    assert counts is not None
    assert (values.tolist(), kept.tolist(), counts.tolist()) == ([0, 1], [0, 2], [500_000, 500_000])
