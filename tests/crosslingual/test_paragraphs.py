"""Paragraphs of translations: cut, paired or aligned, and nothing out of order or too long."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.crosslingual.paragraphs import MOST_WORDS, aligned_paragraphs, paragraphs, sentences
from sosie.errors import UsageError
from sosie.text.words import words

GERMAN = [
    "Sosie findet Texte, die einander gleichen, auch wenn sie nicht in derselben Sprache sind.",
    "Was es braucht, sind Texte und ihre Übersetzungen.",
    "Das Ergebnis ist eine Liste von Paaren, nach ihrer Ähnlichkeit geordnet, mit einer Schätzung, wie viele fehlen.",
    "Es ist frei.",
]
ENGLISH = [
    "Sosie finds texts that resemble each other, even if they are not in the same language.",
    "All it needs are texts and their translations.",
    "The result is a list of pairs, in the order of their similarity, with an estimate of how many are missing.",
    "It is free.",
]


def test_as_many_paragraphs():
    assert aligned_paragraphs("\n\n".join(GERMAN), "\r\n \r\n".join(ENGLISH)) == [*zip(GERMAN, ENGLISH, strict=True)]


def test_items_of_lists_are_paragraphs():
    assert paragraphs("a\nb\n* c\n- d\n e\nf\n\n\n\ng") == ["a\nb", "* c", "- d", "e\nf", "g"]
    assert paragraphs(" \n\n") == [] == paragraphs("")


def test_another_number_of_paragraphs():
    joined = [ENGLISH[0] + " " + ENGLISH[1], *ENGLISH[2:]]
    found = aligned_paragraphs("\n\n".join(GERMAN), "\n\n".join(joined))
    assert found == [("\n".join(GERMAN[:2]), joined[0]), (GERMAN[2], joined[1]), (GERMAN[3], joined[2])]


def test_what_one_side_lacks_is_left_out():
    more = [*ENGLISH[:2], "word " * 120, *ENGLISH[2:]]
    assert aligned_paragraphs("\n\n".join(GERMAN), "\n\n".join(more)) == [*zip(GERMAN, ENGLISH, strict=True)]


def test_as_many_paragraphs_of_unlikely_lengths_are_aligned():
    ours = [*GERMAN[:3], "Noch ein Absatz, der auf der anderen Seite fehlt. " * 8]
    theirs = ["A paragraph that is missing on the other side, and long. " * 8, *ENGLISH[:3]]
    assert aligned_paragraphs("\n\n".join(ours), "\n\n".join(theirs)) == [*zip(GERMAN[:3], ENGLISH[:3], strict=True)]


def test_ratios_of_languages():
    korean = "가나다라 " * 20
    english = "four letters here " * 20
    pair = [(korean.strip(), english.strip())]
    assert aligned_paragraphs(korean, english) == []
    assert aligned_paragraphs(korean, english, ratio=3.6) == pair
    assert aligned_paragraphs(english, korean, ratio=1 / 3.6) == [pair[0][::-1]]
    assert aligned_paragraphs(korean, english, ratio=None) == pair
    assert aligned_paragraphs("a" * 100, "b" * 5000, ratio=None) == []


@pytest.mark.parametrize("ratio", [0, -1.0, math.inf, math.nan])
def test_ratios_that_are_none(ratio):
    with pytest.raises(UsageError, match="ratio is how many characters"):
        aligned_paragraphs("a", "b", ratio=ratio)


def test_scores_tell_parts_of_the_same_length_apart():
    ours, theirs = ["eins", "zwei", "drei", "vier"], ["ones", "news", "twos", "tris", "four"]
    right = dict(zip(ours, ["ones", "twos", "tris", "four"], strict=True))
    found = aligned_paragraphs("\n\n".join(ours), "\n\n".join(theirs), lambda a, b: float(right.get(a) == b))
    assert found == [*right.items()]


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan])
def test_scores_are_between_0_and_1(score):
    with pytest.raises(UsageError, match="a score is between 0 and 1"):
        aligned_paragraphs("a\n\nb", "c", lambda ours, theirs: score)


def test_long_paragraphs_are_cut_into_sentences():
    ours = [f"Satz {number} hat so viele Wörter wie der andere auch." for number in range(20)]
    theirs = [f"Sentence {number} has as many words as the other one." for number in range(20)]
    assert aligned_paragraphs(" ".join(ours), " ".join(theirs)) == [*zip(ours, theirs, strict=True)]
    whole = aligned_paragraphs(" ".join(ours[:14]), " ".join(theirs[:14]))
    assert whole == [(" ".join(ours[:14]), " ".join(theirs[:14]))]
    both = aligned_paragraphs(" ".join(ours) + "\n\nEnde.", " ".join(theirs).replace(". S", ".\nS") + "\n\nEnd.")
    assert both == [*zip(ours, theirs, strict=True), ("Ende.", "End.")]


@pytest.mark.parametrize("text", ["字" * 200, "a " * 151, "ä " * 151, "字 " * 151])
def test_short_words_are_counted(text):
    assert len(words(text)) > MOST_WORDS
    assert aligned_paragraphs(text, text) == []


def test_sentences_that_are_too_long_are_left_out():
    assert aligned_paragraphs("wort " * 150, "word " * 150)
    assert aligned_paragraphs("wort " * 151, "word " * 151) == []
    assert aligned_paragraphs("wort " * 151 + ". Ja.", "word " * 151 + ". Yes.") == [("Ja.", "Yes.")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A 1.5 b. C! D? E", ["A 1.5 b.", "C!", "D?", "E"]),
        ("”A.” ‘B!’ (C.) D", ["”A.”", "‘B!’", "(C.)", "D"]),
        ("一。二！三？四", ["一。", "二！", "三？", "四"]),
        ("「一。」「二！」 三", ["「一。」", "「二！」", "三"]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        (" ", []),
    ],
)
def test_sentences(text, parts):
    assert sentences(text) == parts


pieces = st.sampled_from(
    ["Ein Haus. ", "a b c", "\n\n", "\n", "\n* ", "。", "日本語の文", "! ", "x" * 90, "wort " * 80, " "]
)
texts = st.lists(pieces, max_size=30).map("".join)


def in_order(text, parts):
    """Whether parts are found in a text one after another, whatever white space there is."""
    at, letters = 0, "".join(text.split())
    for part in parts:
        wanted = "".join(part.split())
        at = letters.index(wanted, at) + len(wanted)  # raises if it is not there any more
    return True


@given(texts, texts, st.sampled_from([0.4, 1.0, 2.5, None]), st.booleans())
def test_parts_are_in_order_and_usable(source, target, ratio, scored):
    found = aligned_paragraphs(source, target, (lambda ours, theirs: len(ours) % 10 / 10) if scored else None, ratio)
    assert in_order(source, [segment.source for segment in found])
    assert in_order(target, [segment.target for segment in found])
    for segment in found:
        assert all(side.strip() == side != "" and len(words(side)) <= MOST_WORDS for side in segment)


@given(texts)
def test_nothing_is_lost_between_paragraphs_and_sentences(text):
    for cut in (paragraphs, sentences):
        assert "".join("".join(cut(text)).split()) == "".join(text.split())
    assert aligned_paragraphs(text, text) == [
        (part, part)
        for whole in paragraphs(text)
        for part in ([whole] if len(words(whole)) <= MOST_WORDS else sentences(whole))
        if len(words(part)) <= MOST_WORDS
    ]
