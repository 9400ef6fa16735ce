"""Documents of two languages in one space: products are the weighted sums of three cosines, as the definition says."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_vectors as oracle
from tests.kernels.vectors.rows import dicts

from sosie.crosslingual import terms as terms_module
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.terms import count_words
from sosie.crosslingual.views import LEAST_TERMS, Languages, Weights, letter_views, translated_views, word_views
from sosie.errors import UsageError
from sosie.storage.room import Room

# Fewer than eight letters each, so that nothing is a compound.
GERMAN = ["haus", "boot", "rot", "wasser", "winter", "stein", "brot", "der"]
ENGLISH = ["house", "boat", "red", "water", "winter", "stone", "bread", "the"]
NAMES = ["anna", "berlin", "x11", "2024"]

pairs = st.dictionaries(
    st.tuples(st.sampled_from(GERMAN), st.sampled_from(ENGLISH)), st.tuples(st.floats(0.1, 1), st.floats(0.1, 1)),
    min_size=4, max_size=16,
)  # fmt: skip
parts = st.sampled_from([(0.4, 0.4, 0.2), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0.1, 0.2, 0.7)])


def documents(words):
    """Documents that have words enough, most of them."""
    word = st.sampled_from([*words, *NAMES])
    return st.one_of(st.lists(word, max_size=6), *2 * [st.lists(word, min_size=12, max_size=20)])


def collections(words):
    return st.lists(documents(words), min_size=1, max_size=5)


def made(source, target):
    sides = (count_words([[" ".join(each) for each in side]]) for side in (source, target))
    return Languages.of(*sides, threads=1)


def dictionary_of(drawn):
    return Dictionary.from_pairs(
        [f for f, _ in drawn], [e for _, e in drawn], [p for p, _ in drawn.values()], [p for _, p in drawn.values()]
    )


def stands(side, other, translations):
    """What stands for each word of a side: translations that the other side has, or else the word, if it has that."""
    there = {word for document in other for word in document}
    found = {}
    for word in {word for document in side for word in document}:
        found[word] = [(e, p) for e, p in translations(word) if e in there] or [(word, 1.0)] * (word in there)
    return found


def few(side, stand):
    return [min(len(set(each)), sum(bool(stand[word]) for word in set(each))) < LEAST_TERMS for each in side]


def runs(side):
    return [oracle.stood_for(Counter(each), {word: oracle.runs_of(word) for word in each}) for each in side]


def letters(source, target):
    ours, theirs = runs(source), runs(target)
    return oracle.cosines(ours, theirs, {run: [(run, 1.0)] for row in ours for run in row})


def check(views, shares, ways, left_out):
    """The product of every pair is the sum of shares of cosines, 0 where a document has too few words."""
    assert [side.tolist() for side in views.few] == left_out
    for i, own in enumerate(dicts(views.source)):
        for j, other in enumerate(dicts(views.target)):
            assert sorted(own) == list(own) and all(column < views.width for column in (*own, *other))
            expected = sum(share * way[i][j] for share, way in zip(shares, ways, strict=True))
            gone = left_out[0][i] or left_out[1][j]
            assert oracle.product(own, other) == pytest.approx(0.0 if gone else expected, abs=2e-6)
    for rows, gone in zip((views.source, views.target), left_out, strict=True):
        for row, is_few in zip(dicts(rows), gone, strict=True):
            assert not (is_few and row)


def transposed(table):
    return [list(row) for row in zip(*table, strict=True)]


@settings(max_examples=60)
@given(collections(GERMAN), collections(ENGLISH), pairs, parts)
def test_products_are_weighted_sums_of_three_cosines(source, target, drawn, weights):
    dictionary = dictionary_of(drawn)
    views = word_views(made(source, target), dictionary, Room(".", threads=1), Weights(*weights))
    there = stands(source, target, dictionary.translations)
    back = stands(target, source, lambda word: dictionary.translations(word, backward=True))
    ours, theirs = ([Counter(each) for each in side] for side in (source, target))
    forward = oracle.cosines(ours, theirs, there)
    backward = transposed(oracle.cosines(theirs, ours, back))
    check(views, weights, [forward, backward, letters(source, target)], [few(source, there), few(target, back)])


@settings(max_examples=60)
@given(collections(GERMAN), collections(ENGLISH), pairs, parts)
def test_the_formulas_of_the_paper(source, target, drawn, weights):
    """tf*(e) is the sum of p(f|e) tf(f) over all f, df*(e) that of p(f|e) df(f)."""
    dictionary = dictionary_of(drawn)
    views = word_views(made(source, target), dictionary, Room(".", threads=1), Weights(*weights), "paper")
    ours, theirs = ([Counter(each) for each in side] for side in (source, target))
    into = {(f, e): p for e in ENGLISH for f, p in dictionary.translations(e, backward=True)}
    there = stands(source, target, lambda f: [(e, into[f, e]) for e in ENGLISH if (f, e) in into])
    from_ = {(e, f): p for f in GERMAN for e, p in dictionary.translations(f)}
    back = stands(target, source, lambda e: [(f, from_[e, f]) for f in GERMAN if (e, f) in from_])

    def expected(rows, stand):
        found = Counter()
        for word, df in oracle.frequencies(rows).items():
            for other, share in stand[word]:
                found[other] += share * df
        return found

    forward = oracle.cosines(ours, theirs, there, expected(ours, there))
    backward = transposed(oracle.cosines(theirs, ours, back, expected(theirs, back)))
    check(views, weights, [forward, backward, letters(source, target)], [few(source, there), few(target, back)])


@settings(max_examples=40)
@given(st.lists(st.tuples(*2 * [documents(ENGLISH)]), min_size=1, max_size=4), collections(ENGLISH), parts)
def test_translated_texts(source, target, weights):
    texts, translated = [each for each, _ in source], [each for _, each in source]
    read = count_words([[" ".join(each) for each in translated]])
    views = translated_views(made(texts, target), read, Room(".", threads=1), Weights(*weights))
    stand = stands(translated, target, lambda word: [])
    words = oracle.cosines([Counter(each) for each in translated], [Counter(each) for each in target], stand)
    shares = weights[0] + weights[1], weights[2]
    left_out = [few(translated, stand), [len(set(each)) < LEAST_TERMS for each in target]]
    check(views, shares, [words, letters(texts, target)], left_out)
    assert views.known[0].tolist() == pytest.approx(
        [sum(bool(stand[word]) for word in each) / len(each) if each else 0 for each in translated]
    )
    assert views.known[1].tolist() == [1.0] * len(target)


@settings(max_examples=40)
@given(collections(GERMAN), collections(ENGLISH))
def test_letters_alone(source, target):
    views = letter_views(made(source, target), Room(".", threads=1))
    left_out = [[len(set(each)) < LEAST_TERMS for each in side] for side in (source, target)]
    check(views, [1.0], [letters(source, target)], left_out)


SOURCE = [["haus", "rot", "wasser", "anna", "x11", "einzig"], ["haus", "rot", "wasser", "anna"],
          ["haus", "rot", "wasser", "anna", "baum"], [], ["boot", "brot", "haus", "rot", "anna"]]  # fmt: skip
TARGET = [["house", "red", "water", "anna", "x11", "only"], ["the"] * 9, ["boat", "bread", "house", "red", "anna"]]
SMALL = Dictionary.from_pairs(["haus", "rot", "wasser", "boot", "brot"], ["house", "red", "water", "boat", "bread"],
                              [1.0] * 5)  # fmt: skip


def test_documents_of_few_words_are_empty_and_named():
    views = word_views(made(SOURCE, TARGET), SMALL, Room("."))
    assert views.few[0].tolist() == [False, True, True, True, False]  # baum stands for nothing there
    assert views.few[1].tolist() == [False, True, False]
    assert (np.diff(views.source.offsets) > 0).tolist() == [True, False, False, False, True]
    assert (np.diff(views.target.offsets) > 0).tolist() == [True, False, True]
    assert views.known[0].round(3).tolist() == [0.833, 1.0, 0.8, 0.0, 1.0]
    assert views.known[1].round(3).tolist() == [0.833, 0.0, 1.0]


def test_what_one_document_of_both_sides_has_weighs_nothing():
    both = made(SOURCE, TARGET)
    views = word_views(both, SMALL, Room("."), Weights(1, 0, 0))
    only = both.target.numbers["only"]
    assert only not in dicts(views.target)[0]
    shared = {both.target.numbers[word] for word in ("house", "red", "water", "anna", "x11")}
    assert set(dicts(views.target)[0]) == shared == set(dicts(views.source)[0])


def test_vectors_do_not_depend_on_spans_threads_or_the_disk(tmp_path, monkeypatch):
    expected = word_views(made(SOURCE, TARGET), SMALL, Room(tmp_path, threads=1))
    monkeypatch.setattr(terms_module, "_SPAN", 3)
    for threads in (1, 2):
        found = word_views(made(SOURCE, TARGET), SMALL, Room(tmp_path, memory=0, threads=threads))
        for one, other in ((found.source, expected.source), (found.target, expected.target)):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_letters_of_other_scripts_are_written_in_latin_ones():
    target = ["moskva neva volga enisej irkutsk", "one two three four fifth"]
    both = Languages.of(count_words([["москва нева волга енисей иркутск"]]), count_words([target]))
    views = letter_views(both, Room("."))
    (row,), (same, other) = dicts(views.source), dicts(views.target)
    assert oracle.product(row, same) > 0.8 and oracle.product(row, other) == 0


def test_what_is_refused(monkeypatch):
    both = made(SOURCE, TARGET)
    with pytest.raises(UsageError, match="the formula is one of later, paper, got 'other'"):
        word_views(both, SMALL, Room("."), formula="other")
    for weights in [(1, 2), (1, -1, 1), (0, 0, 0), (1, float("nan"), 1), (float("inf"), 1, 1)]:
        with pytest.raises(UsageError, match="three weights"):
            Weights.checked(weights)
    monkeypatch.setitem(sys.modules, "anyascii", None)
    with pytest.raises(UsageError, match="anyascii"):
        made(SOURCE, TARGET)
