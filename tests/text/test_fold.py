"""Folding and words, against plain Python with the Unicode database of the tables."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import unicodedata2 as ucd
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle_text as oracle

from sosie import text
from sosie.text.tables import unicode_tables

ACUTE, LEAD, VOWEL, TAIL = "\u0301", "\u1100", "\u1161", "\u11a8"
TRICKY = [
    *"aAzZ09_ .-\n",
    *"\u00df\u0130\u0131\u0149\u01c5\u0345\u03a3\u03c2\u1e9e\ufb03\ufdfa\u212b\u2126\u00b5\u00aa\u00bd",  # fold
    *"\u0300\u0301\u0308\u0304\u0327\u0328\u0323\u0338\u0344\u093c\u0951\u05b0\u064b\u0670\u3099\u309a\u20d0",  # marks
    *"\u00e9\u01d6\u1ed9\u0958\u09cb\u0b94\u0dde\u1026\u0f77\u2adc\ufb1d\U0001d15e\U000110ab\U00016d6a",  # decompose
    *(LEAD, VOWEL, TAIL, "\uac00", "\uac01", "\ud7a3", "\u11a7", "\u1113", "\u3131", "\uffa1"),  # Hangul
    *"\u4e2d\u6587\u3042\u30ab\u30fc\uff76\uff9e\uff70\u3005\u3007\u0e01\u0e33\u0e49\u0e51\u0e81\u1780\u17d2\u1000\u1039",
    *"\u00ad\u200b\u200d\ufe0f\u115f\u3164\ufeff\u034f\U000e0041",  # invisible
    *"\ufffd\ue000\U0010ffff\u0378\U0001f600\U00020000\U0002f800",
]
texts = st.lists(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])), max_size=30).map("".join)

dense = st.text(
    st.sampled_from(
        "aeU\u0301\u0305\u0323\u0328\u0308\u0304\u0345\u1100\u1161\u11a8\uac00\u0958\u3099\u304b\u09c7\u09be"
    )
)


def first_difference(got: list[str], expected: list[str]) -> object:
    """Return one small difference: pytest would compare long texts for hours."""
    unequal = ((a, b) for a, b in zip(got, expected, strict=False) if a != b)
    return next(unequal, None if len(got) == len(expected) else (len(got), len(expected)))


@cache
def characters() -> list[str]:
    """Return every assigned character, but of the ideographs and Hangul syllables only each 29th."""
    everything = oracle.assigned()
    uniform = [c for c in everything if "IDEOGRAPH-" in ucd.name(c, "") or 0xAC00 <= ord(c) < 0xD7A4]
    return sorted((set(everything) - set(uniform)) | set(uniform[::29]))


def check_lines(lines: list[str]) -> None:
    content = "\n".join(lines)
    assert first_difference(text.fold(content).split("\n"), oracle.fold(content).split("\n")) is None
    assert first_difference(text.words(content), oracle.words(content)) is None


def test_the_tables_name_their_version() -> None:
    assert text.UNICODE_VERSION == ucd.unidata_version


def test_every_character_alone() -> None:
    check_lines([*characters(), "\u0378", "\ue000", "\U0010fffd", "\U000e0fff"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a", "b"),
        ("", ACUTE),
        ("e", "\u0323" + ACUTE),
        (LEAD, ""),
        (LEAD + VOWEL, ""),
        ("", VOWEL + TAIL),
        ("\u4e2d", "\u0e01"),
    ],
    ids=ascii,
)
def test_every_character_in_context(before: str, after: str) -> None:
    check_lines([before + c + after for c in characters()])


@settings(max_examples=400, deadline=None)
@given(st.one_of(texts, dense))
@example("e\u0305\u0301")  # the overline blocks the accent
@example("\uac00\u11a7")  # no tail
@example("\u01d6\u0328")  # composes to more than it came as
@example("\u0061\u0315\u0300\u05ae\u0062")
def test_any_text(content: str) -> None:
    assert text.fold(content) == oracle.fold(content)
    assert text.words(content) == oracle.words(content)


@pytest.mark.parametrize("piled", ["e\u0301", "\u05d1\u05bc\u05b0", "\u1100\u1161\u11a8"], ids=ascii)
def test_marks_wherever_the_room_ends(piled: str) -> None:
    for before in range(130):
        content = "x" * before + piled + "y" * 300
        assert text.fold(content) == oracle.fold(content) != content


@given(texts)
@settings(max_examples=100, deadline=None)
def test_folding_twice_is_folding_once(content: str) -> None:
    once = text.fold(content)
    assert text.fold(once) == once


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0323\u0301\u0338", "\u0301"])
def test_a_million_marks_on_one_letter(marks: str) -> None:
    pile = marks * (1_000_000 // len(marks))
    in_order = "".join(sorted(pile, key=ucd.combining))  # for `normalize`, which takes quadratic time otherwise
    assert first_difference([text.fold("a" + pile + " b")], [ucd.normalize("NFC", "a" + in_order + " b")]) is None
    assert [len(word) for word in text.words("\u0e01" + marks * 1000 + "\u0e02\u0e03")] == [
        1 + 1 + len(marks) * 1000,
        2,
    ]


def test_folds_that_expand_fit() -> None:
    assert first_difference([text.fold("\ufdfa" * 5000)], [oracle.fold("\ufdfa") * 5000]) is None
    assert text.words("\ufdfa" * 2) == ["صلى", "الله", "عليه", "وسلمصلى", "الله", "عليه", "وسلم"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        (" ... — !", []),
        ("Don't STOP_me 3.14", ["don", "t", "stop_me", "3", "14"]),
        ("Straße STRASSE ΣΊΣΥΦΟΣ", ["strasse", "strasse", "σίσυφοσ"]),
        ("cafe\u0301 CAFÉ co\u00adop zero\u200bwidth", ["café", "café", "coop", "zerowidth"]),
        ("ﬁne №１２", ["fine", "no12"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("العَرَبِيَّة جميلة", ["العَرَبِيَّة", "جميلة"]),
        ("한국어 조선", ["한국어", "조선"]),
        ("我爱北京", ["我爱", "爱北", "北京"]),
        ("中", ["中"]),
        ("中文abc日本語2024年", ["中文", "abc", "日本", "本語", "2024", "年"]),
        ("コーヒーを飲む", ["コー", "ーヒ", "ヒー", "ーを", "を飲", "飲む"]),
        ("ｶﾞｷﾞ", ["ガギ"]),
        ("ที่นี่", ["ที่นี่"]),
        ("น้ำ๒๕", ["น้ํา", "๒๕"]),
        ("ភាសាខ្មែរ", ["ភាសា", "សាខ្", "ខ្មែ", "មែរ"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
    ],
)
def test_words_of_many_scripts(content: str, expected: list[str]) -> None:
    assert text.words(content) == expected
    assert oracle.words(content) == expected


def test_a_mark_without_a_letter_begins_a_word() -> None:
    assert text.words("\u0301a \u0e49\u0e01") == ["\u0301a", "\u0e49", "\u0e01"]


def test_lone_surrogates_separate_words() -> None:
    assert text.words("a\ud800b") == ["a", "b"]


def test_tables_are_small_and_whole() -> None:
    tables = unicode_tables()
    assert sum(table.nbytes for table in tables) < 400_000
    assert np.count_nonzero(tables.pair_keys) == np.count_nonzero(tables.pair_values) > 900
