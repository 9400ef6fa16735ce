"""What stands for a word: translations, itself, its parts, or nothing; and the runs of its letters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle_vectors as oracle

from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.projection import (
    LINKS,
    PASSED,
    SPLIT,
    TRANSLATED,
    UNKNOWN,
    Lexical,
    gram_table,
    split_compound,
    translation_table,
)

PAIRS = [("haus", "house", 0.75), ("haus", "home", 0.25), ("boot", "boat", 1.0), ("arbeit", "work", 1.0),
         ("platz", "place", 0.5), ("platz", "room", 0.5), ("radio", "wireless", 1.0)]  # fmt: skip
DICTIONARY = Dictionary.from_pairs(*map(list, zip(*PAIRS, strict=True)))
OTHERS = ["house", "home", "boat", "work", "room", "x11", "radio", "linux"]


def stands(words, lexical, others):
    """Return what stands for each word, by words, and which way it was found."""
    table, kinds = translation_table(words, lexical, {word: number for number, word in enumerate(others)})
    found = [
        [(others[c], p) for c, p in zip(table.columns[i:j].tolist(), table.values[i:j].tolist(), strict=True)]
        for i, j in zip(table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True)
    ]
    return dict(zip(words, zip(found, kinds.tolist(), strict=True), strict=True))


@pytest.mark.parametrize(
    "word, expected, kind",
    [
        ("haus", [("house", 0.75), ("home", 0.25)], TRANSLATED),
        ("platz", [("room", 0.5)], TRANSLATED),  # the other side has no place
        ("radio", [("radio", 1.0)], TRANSLATED),  # it has no wireless, but the word itself
        ("x11", [("x11", 1.0)], PASSED),
        ("hausboot", [("house", 0.75), ("home", 0.25), ("boat", 1.0)], SPLIT),
        ("arbeitsplatz", [("work", 1.0), ("room", 0.5)], SPLIT),
        ("bootsarbeit", [("boat", 1.0), ("work", 1.0)], SPLIT),
        ("haus-boot", [("house", 0.75), ("home", 0.25), ("boat", 1.0)], SPLIT),
        ("linuxplatz", [("linux", 1.0), ("room", 0.5)], SPLIT),  # a part may be a word of the other side
        ("baum", [], UNKNOWN),
        ("hausxboot", [], UNKNOWN),
        ("x11boot", [], UNKNOWN),  # a part has four letters
    ],
)
def test_what_stands_for_a_word(word, expected, kind):
    assert stands([word], Lexical.of(DICTIONARY), OTHERS) == {word: (expected, kind)}


def test_words_do_not_disturb_each_other():
    lexical = Lexical.of(DICTIONARY)
    listed = ["arbeitsplatz", "platz", "?", "hausboot", "haus", "x11", "arbeit", "boot", "radio"]
    assert stands(listed, lexical, OTHERS) == {
        word: found for each in listed for word, found in stands([each], lexical, OTHERS).items()
    }
    table, kinds = translation_table([], lexical, {})
    assert table.offsets.tolist() == [0] and len(kinds) == 0
    assert stands(["haus", "boot"], lexical, []) == {"haus": ([], TRANSLATED), "boot": ([], TRANSLATED)}


def test_a_word_without_translations_in_this_direction_is_none_of_the_dictionary():
    one_way = Dictionary.from_pairs(["haus", "hausboot", "boot"], ["house", "ark", "boat"], [1, 0, 1], [1, 1, 1])
    found = stands(["hausboot", "ark"], Lexical.of(one_way), ["house", "boat", "ark"])
    assert found == {"hausboot": ([("house", 1.0), ("boat", 1.0)], SPLIT), "ark": ([("ark", 1.0)], PASSED)}


pieces = st.sampled_from(["haus", "hause", "boot", "tage", "tages", "buch", "ebuch", "sbuch", "s", "es", "-", "n", "x"])


@given(st.lists(pieces, min_size=1, max_size=4).map("".join), st.sets(pieces), st.sets(pieces))
def test_compounds_against_all_ways(word, some, others):
    ways = []
    for cut in range(len(word) + 1):
        for link in LINKS:
            head, tail = word[:cut], word[cut:]
            if head.endswith(link):
                stem = head[: len(head) - len(link)]
                if len(stem) >= 4 and len(tail) >= 4 and {stem, tail} <= some | others:
                    ways.append((stem, tail))
    found = split_compound(word, dict.fromkeys(some, 0), dict.fromkeys(others, 0))
    assert (found is None) == (not ways)
    if found is not None:
        assert found in ways and min(map(len, found)) == max(min(map(len, way)) for way in ways)


entries = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.floats(0.01, 1), min_size=1, max_size=15)


def by_words(lexical):
    listed = list(lexical.words)
    rows = np.repeat(np.arange(len(listed)), np.diff(lexical.offsets)).tolist()
    targets = zip(rows, lexical.targets.tolist(), lexical.probabilities.tolist(), strict=True)
    return {(listed[row], lexical.others[target]): probability for row, target, probability in targets}


@given(entries)
def test_turned_is_by_the_other_words_and_turned_twice_is_the_same(drawn):
    source, target = [f"f{f}" for f, _ in drawn], [f"e{e}" for _, e in drawn]
    made = Dictionary.from_pairs(source, target, list(drawn.values()))
    for backward in (False, True):
        lexical = Lexical.of(made, backward)
        mine, others = (made.target, made.source) if backward else (made.source, made.target)
        expected = {(f, e): p for f in mine.to_pylist() for e, p in made.translations(f, backward)}
        assert by_words(lexical) == expected and lexical.others == others.to_pylist()
        turned = lexical.turned()
        assert by_words(turned) == {(e, f): p for (f, e), p in expected.items()}
        twice = turned.turned()
        assert by_words(twice) == expected
        assert list(twice.words) == list(lexical.words) and twice.others == lexical.others


@given(st.lists(st.lists(st.text("ab", max_size=8), max_size=5), max_size=3))
def test_runs_of_letters(sides):
    grams = {}
    for side in sides:
        table = gram_table(side, side, grams)
        names = list(grams)
        for number, word in enumerate(side):
            own = slice(table.offsets[number], table.offsets[number + 1])
            assert [(names[column], 1.0) for column in table.columns[own].tolist()] == oracle.runs_of(word)
            assert set(table.values[own].tolist()) <= {1.0}
    expected = dict.fromkeys(run for side in sides for word in side for run, _ in oracle.runs_of(word))
    assert list(grams) == list(expected) and list(grams.values()) == list(range(len(grams)))


def test_runs_are_those_of_what_is_compared():
    grams = {}
    gram_table(["Москва", "東京"], ["moskva", "a"], grams)
    assert list(grams) == ["^mos", "mosk", "oskv", "skva", "kva$"]
