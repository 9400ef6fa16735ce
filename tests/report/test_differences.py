"""Differences between texts: nothing is lost, words that differ are marked, words that do not are not."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sosie.report.differences import CHUNK, WORDS, Stretch, differences, shorten
from sosie.text.words import fold

WORDY = st.lists(st.sampled_from("a b c A rose Rose, is, é ß \n".split(" ")), max_size=30).map(" ".join)


def kinds(text, kind):
    return [run.text.strip() for run in text if run.kind == kind]


def words(text):
    return [fold(word.strip(",")) for word in text.split()]


def joined(runs):
    return "".join(run.text for run in runs)


@given(WORDY | st.text(), WORDY | st.text())
@example("", "")
@example("...", "")
@example("\u0301a", "a\u0301 \u200d")
@example("]^-\\ a", "[^\\w] b")
def test_without_marks_both_texts_come_back(a, b):
    left, right = differences(a, b)
    assert (joined(left), joined(right)) == (a, b)


@given(WORDY, WORDY)
def test_what_is_not_marked_is_the_same_on_both_sides(a, b):
    left, right = ([run for run in side if run.kind in ("same", "respelt")] for side in differences(a, b))
    assert words(joined(left)) == words(joined(right))


@given(WORDY)
def test_a_text_does_not_differ_from_itself(text):
    for side in differences(text, text):
        assert {run.kind for run in side} <= {"same"}


def test_words_that_differ():
    left, right = differences("the quick brown fox jumps", "the slow brown fox jumps over")
    assert [(run.kind, run.text) for run in left] == [
        ("same", "the "),
        ("changed", "quick "),
        ("same", "brown fox jumps"),
    ]
    assert [(run.kind, run.text) for run in right] == [
        ("same", "the "),
        ("changed", "slow "),
        ("same", "brown fox jumps "),
        ("changed", "over"),
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("STRASSE, ja", "straße ja"),
        ("ﬁne day", "Fine day!"),
        ("soft\u00adhyphen x", "softhyphen x"),
        ("Ｃafé a", "café a"),
    ],
)
def test_what_folding_sees_through_is_respelt(a, b):
    left, right = differences(a, b)
    assert not kinds(left, "changed") and not kinds(right, "changed")
    assert kinds(left, "respelt") and kinds(right, "respelt")


def test_spacing_alone_is_no_difference():
    left, right = differences("one two\n\nthree ", "one\ttwo three")
    assert [run.kind for run in left] == [run.kind for run in right] == ["same"]


@pytest.mark.parametrize(
    ("a", "b", "only_a", "only_b"),
    [
        ("我们今天去北京玩", "我们明天去北京玩", ["今"], ["明"]),
        ("สวัสดีครับ", "สวัสดีค่ะ", ["รั", "บ"], ["ะ"]),
        ("हिन्दी में लिखा", "हिन्दी से लिखा", ["में"], ["से"]),
        ("שלום עולם טוב", "שלום עולם רע", ["טוב"], ["רע"]),
    ],
)
def test_scripts_without_spaces_or_with_marks(a, b, only_a, only_b):
    left, right = differences(a, b)
    assert all(any(part in text for text in kinds(left, "changed")) for part in only_a)
    assert all(any(part in text for text in kinds(right, "changed")) for part in only_b)
    assert kinds(left, "same") and kinds(right, "same")


def test_words_beyond_the_limit_are_not_compared_but_the_common_end_is():
    a = [f"a{i}" for i in range(WORDS + 10)]
    left, right = differences(" ".join(["x", *a, "end"]), "x other end")
    assert [(run.kind, len(run.chunks)) for run in left] == [("same", 1), ("changed", WORDS), ("rest", 10), ("same", 1)]
    assert [run.kind for run in right] == ["same", "changed", "same"]


def test_many_equal_words_do_not_take_long():
    generator = np.random.default_rng(0)
    a, b = (" ".join(generator.choice(["a", "b"], WORDS)) for _ in range(2))
    left, right = differences(a, b)
    assert (joined(left), joined(right)) == (a, b)


def test_a_short_text_is_shown_whole():
    left, _ = differences("one two three", "one four three")
    assert shorten(left) == left


def test_what_is_far_from_a_difference_is_left_out():
    words = [f"w{i}" for i in range(1000)]
    left, right = differences(" ".join(words), " ".join([*words[:500], "new", *words[501:]]))
    for side, new in ((shorten(left), "w500"), (shorten(right), "new")):
        assert kinds(side, "changed") == [new]
        assert sum(len(run.chunks) + run.omitted for run in side) == 1000
        assert [run.omitted for run in side] == [450, 0, 0, 449, 0]
        assert side[0].text.startswith("w0 ") and side[-1].text.endswith("w999")


def test_spelling_alone_does_not_crowd_out_a_difference():
    words = [f"w{i}" for i in range(5000)]
    other = [word.upper() if i % 2 else word for i, word in enumerate(words)]
    left, _ = differences(" ".join([*words, "old", "end"]), " ".join([*other, "new", "end"]))
    shown = shorten(left)
    assert kinds(shown, "changed") == ["old"]
    assert sum(run.omitted for run in shown) == 5000 - 50


@given(WORDY, WORDY, st.integers(1, 20), st.integers(1, 5), st.integers(1, 60))
def test_what_is_left_out_is_counted(a, b, words, context, characters):
    left, _ = differences(a, b)
    shown = shorten(left, words, context, characters)
    assert sum(len(run.chunks) + run.omitted for run in shown) == sum(len(run.chunks) for run in left)
    assert len(joined(shown)) <= characters


def test_a_word_without_end_is_cut():
    (run,) = shorten([Stretch("changed", ["x" * 10_000, "y" * 9_999 + " "])])
    assert run.text == "x" * CHUNK + "[… 9,800 more characters]" + "y" * CHUNK + "[… 9,800 more characters] "
