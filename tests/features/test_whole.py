"""What stands for a text that is compared byte for byte."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.features.whole import WORDS, WholeText, features_of
from sosie.text.column import as_column


def digest(text: bytes) -> list[int]:
    whole = hashlib.blake2b(text, digest_size=32).digest()
    return sorted(int.from_bytes(whole[place : place + 8], "little") for place in range(0, 32, 8))


@given(st.lists(st.binary(max_size=200), max_size=8), st.data())
def test_the_words_are_those_of_the_digest(texts: list[bytes], data: st.DataObject) -> None:
    column = as_column(pa.array(texts, pa.binary()))
    start = data.draw(st.integers(0, len(texts)))
    words, offsets = WholeText().occurrences(column, start, len(texts))
    assert offsets.tolist() == list(range(0, WORDS * (len(texts) - start) + 1, WORDS))
    rows = [sorted(words[begin : begin + WORDS].tolist()) for begin in offsets[:-1]]
    assert rows == [digest(text) for text in texts[start:]]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["", "one", "ONE two", "...", "\u2713", " "]), max_size=8), st.booleans(), st.data())
def test_only_texts_without_shingles_are_taken_as_a_whole(texts: list[str], counts: bool, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(texts)))
    stop = data.draw(st.integers(start, len(texts)))
    span, plain = RowSpan(as_column(texts), start, stop, Shingles()), Shingles().extract(texts, counts=True)
    for whole in (None, WholeText(), WholeText(empty=False)):
        found, bare = features_of(span, counts, whole)
        assert len(found) == len(bare) == stop - start and (found.counts is not None) == counts
        for row, text in enumerate(texts[start:stop]):
            own = plain.rows(start + row, start + row + 1)
            assert bool(bare[row]) == (len(own.hashes) == 0)
            taken = bare[row] and whole is not None and (text or whole.empty)
            expected = digest(text.encode()) if taken else own.hashes.tolist()
            here = found.rows(row, row + 1)
            assert here.hashes.tolist() == expected
            assert here.counts is None or np.all(here.counts == 1)


def test_rows_that_are_not_there_are_refused() -> None:
    for start, stop in ((0, 3), (-1, 1), (2, 1)):
        with pytest.raises(UsageError, match="rows"):
            WholeText().occurrences(as_column(["a", "b"]), start, stop)
