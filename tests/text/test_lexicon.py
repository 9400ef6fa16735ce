"""Lexicons: one for each thread that works at the same time, and bounded."""

from __future__ import annotations

import pytest

from sosie.kernels.text.words import word_rows
from sosie.text import as_column
from sosie.text.lexicon import Lexicon, lexicon
from sosie.text.stop_words import StopWords
from sosie.text.tables import unicode_tables

STOP = StopWords("own", frozenset({"the", "own"}))


def numbers(known: Lexicon, text: str) -> list[int]:
    column = as_column([text])
    words, starts, _ = word_rows(unicode_tables(), column.data, column.offsets, 0, 1)
    return known.numbers(words, starts).tolist()


def test_no_lexicon_is_lent_twice_at_a_time() -> None:
    with lexicon("english", STOP) as first, lexicon("english", STOP) as second:
        assert first is not second
    with lexicon("english", STOP) as third, lexicon("english", None) as other:
        assert third in (first, second) and other not in (first, second)


def test_after_an_error_a_lexicon_is_not_lent_again() -> None:
    with pytest.raises(KeyError), lexicon("german", STOP) as broken:
        raise KeyError
    with lexicon("german", STOP) as fresh:
        assert fresh is not broken


@pytest.mark.parametrize("bound", ["MOST_WORDS", "MOST_BYTES"])
def test_a_lexicon_begins_anew_beyond_its_bounds(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Lexicon("english", STOP)
    assert numbers(known, "the bridges, the towns") == [0, 1, 0, 2]
    assert numbers(known, "towns own bridges") == [2, 3, 1]
    assert known.stems[: known.places[4]].tobytes() == b"bridgtown"
    monkeypatch.setattr(f"sosie.text.lexicon.{bound}", {"MOST_WORDS": 3, "MOST_BYTES": 21}[bound])
    assert numbers(known, "towns") == [0]
    assert known.stems[: known.places[1]].tobytes() == b"town"
