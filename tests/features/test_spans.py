"""Spans and slices: however texts and features are cut, their rows are the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie import Features, Shingles, UsageError
from sosie.features.spans import cut

SHINGLES = Shingles(1)
texts_of_words = st.lists(st.lists(st.sampled_from(["to", "be", "or", "not"]), max_size=6).map(" ".join), max_size=12)


def rows_of(features: Features) -> list[dict[int, int]]:
    assert features.counts is not None
    pairs = list(zip(features.hashes.tolist(), features.counts.tolist(), strict=True))
    return [dict(pairs[a:b]) for a, b in zip(features.offsets[:-1], features.offsets[1:], strict=True)]


@given(texts_of_words, st.integers(1, 40), st.integers(0, 3))
def test_spans_hold_every_row_once_and_in_order(texts, size, width):
    features = SHINGLES.extract(texts, counts=True)
    for given_as in (texts, features):
        spans = list(cut(given_as, SHINGLES, size, width=width))
        assert spans[0].start == 0 and spans[-1].stop == len(texts)
        assert all(a.stop == b.start for a, b in pairwise(spans))
        assert rows_of(Features.joined([span.features() for span in spans])) == rows_of(features)
        sizes = np.concatenate([np.diff(span.occurrences()[1]) for span in spans])
        assert sizes.tolist() == [len(text.split()) for text in texts] or given_as is features


def test_many_empty_rows_are_bounded_by_their_width():
    for nothing in ([""] * 1000, Features(np.empty(0, np.uint64), np.zeros(1001, np.int64))):
        assert len(list(cut(nothing, SHINGLES, 800))) == 1
        assert [span.stop - span.start for span in cut(nothing, SHINGLES, 800, width=2)] == [50] * 20


def test_no_rows_are_one_span():
    (span,) = cut([], SHINGLES)
    features = span.features()
    assert (span.start, span.stop, len(features)) == (0, 0, 0) and features.counts is not None
    assert span.features(counts=False).counts is None


@given(texts_of_words.filter(bool), st.data())
def test_slices_are_the_rows_asked_for(texts, data):
    for counts in (True, False):
        features = SHINGLES.extract(texts, counts=counts)
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20))
        taken = features.take(np.array(rows, np.int64))
        again = SHINGLES.extract([texts[row] for row in rows], counts=counts)
        start = data.draw(st.integers(0, len(texts)))
        stop = data.draw(st.integers(start, len(texts)))
        for found, expected in ((taken, again), (features.rows(start, stop), SHINGLES.extract(texts[start:stop]))):
            assert np.array_equal(found.hashes, expected.hashes) and np.array_equal(found.offsets, expected.offsets)
        assert (taken.counts is None) != counts
        assert not counts or np.array_equal(taken.counts, again.counts)


def test_rows_that_adjoin_are_not_copied():
    features = SHINGLES.extract(["a b", "", "c d"], counts=True)
    for rows in ([0, 1, 2], [0, 2], [2]):
        assert np.shares_memory(features.take(np.array(rows)).hashes, features.hashes)
    assert not np.shares_memory(features.take(np.array([2, 0])).hashes, features.hashes)


def test_what_is_neither_texts_nor_features_is_refused():
    with pytest.raises(UsageError, match="texts are"):
        list(cut(7, SHINGLES))
    with pytest.raises(UsageError, match="texts are"):
        SHINGLES.extract(SHINGLES.extract(["a b"]))
