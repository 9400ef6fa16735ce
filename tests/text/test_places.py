"""Places of words: the same words that shingles see, found again in the text as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.text.places import placed_words, spans_of
from sosie.text.words import fold, words

# Every character folds to a part of a word, to nothing or to a gap. One that folds to more counts as the first of it.
TEXTS = st.one_of(
    st.text("ab é\u0301ß\u00ad\u200b-_.٣한국ع", max_size=20), st.text("a 東京都ไทย\u0e37ー\u200d", max_size=20)
)


@pytest.mark.parametrize(
    ("text", "sought", "spans"),
    [
        ("Die Straße, die STRASSE", {"strasse"}, ["Straße", "STRASSE"]),
        ("no where nowhere", {"nowhere"}, ["nowhere"]),  # words that do not touch are not one
        ("Do\u00adnau", {"donau"}, ["Do\u00adnau"]),
        ("東京都に行く", {"東京", "行く"}, ["東京", "行く"]),
        ("東京都に", {"東京", "京都"}, ["東京都"]),
        ("東 東京", {"東"}, ["東"]),  # alone it is a word, in a run only a half of one
        ("abc東京def", {"abc", "def"}, ["abc", "def"]),
        ("서울은 수도이자", {"서울은"}, ["서울은"]),
        ("نهر النيل (Nile)", {"النيل", "nile"}, ["النيل", "Nile"]),
        ("a b", set(), []),
        ("", {"a"}, []),
    ],
)
def test_where_words_are(text, sought, spans):
    assert [text[start:end] for start, end in spans_of(text, frozenset(sought))] == spans


@given(TEXTS, st.data())
def test_all_words_are_all_places(text, data):
    there = words(text)
    covered = {i for start, end in spans_of(text, frozenset(there)) for i in range(start, end)}
    assert {i for start, end in placed_words(text)[0] for i in range(start, end)} <= covered
    if there:
        word = data.draw(st.sampled_from(there))
        assert word in words(" ".join(text[start:end] for start, end in spans_of(text, frozenset({word}))))


@given(st.text(max_size=30))
def test_places_are_in_order_whatever_a_text_holds(text):
    spans, folded = placed_words(text)
    assert [fold(text[start:end]) for start, end in spans] == folded
    for found in (spans, spans_of(text, frozenset(words(text)))):
        edges = [edge for span in found for edge in span]
        assert edges == sorted(edges) and all(start < end <= len(text) for start, end in found)
    assert spans_of(text, frozenset()) == []


def test_halves_of_characters_are_no_obstacle():
    assert spans_of("rose \ud800 rose", frozenset({"rose"})) == [(0, 4), (7, 11)]
