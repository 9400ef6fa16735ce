"""Weights that are fitted: the part of a vector that tells weighs most, and what tells nothing changes nothing."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle_vectors as oracle
from tests.crosslingual.languages import prose, vocabulary

from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.fit import _grid, _reciprocal_rank, as_documents, fitted_weights, ranked_best
from sosie.crosslingual.parallel.segment import Segment
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import USUAL
from sosie.storage.room import Room

ONE, OTHER = vocabulary("abcdefg", 300, 1), vocabulary("hijklmn", 300, 2)


def test_sentences_are_grouped_to_documents():
    pairs = [Segment(f"satz {number}", f"sentence {number}") for number in range(25)]
    found = as_documents(pairs)
    assert [each.source.split("\n\n") for each in found] == [
        [pair.source for pair in pairs[start : start + 10]] for start in (0, 10, 20)
    ]
    assert [each.target.split("\n\n") for each in found] == [
        [pair.target for pair in pairs[start : start + 10]] for start in (0, 10, 20)
    ]


def test_documents_stay_as_they_are():
    long, short = Segment("a" * 200, "b"), Segment("a" * 199, "b")
    assert as_documents([long, long, short]) == [long, long, short]
    assert len(as_documents([short, short, long])) == 1
    assert as_documents([]) == []


scores = st.tuples(*3 * [st.sampled_from([0.0, 0.25, 0.5, 1.0])])
CANDIDATES = 6


@given(
    st.lists(st.lists(st.integers(-1, 7), min_size=CANDIDATES, max_size=CANDIDATES), min_size=1, max_size=4),
    st.lists(scores, min_size=8, max_size=8),
    st.sampled_from(_grid()),
)
def test_reciprocal_ranks_against_plain_python(candidates, drawn, weights):
    """Those that are not there (-1) have the lowest scores; the others have one score each, however often they come."""
    numbers = [[number % 8, *row[1:]] for number, row in enumerate(candidates)]
    table = {-1: (-1.0, -1.0, -1.0)} | dict(enumerate(drawn))
    rows = [[(number, table[number]) for number in row] for row in numbers]
    made = np.array([[table[number] for number in row] for row in numbers])
    found = _reciprocal_rank(made, np.array(numbers), weights)
    assert found == pytest.approx(oracle.reciprocal_rank(rows, weights))


def test_the_grid_gives_both_directions_some():
    assert len(_grid()) == len(set(_grid())) == 45 and USUAL in _grid()
    assert all(sum(weights) == pytest.approx(1) and min(weights[:2]) >= 0.1 for weights in _grid())
    assert min(weights.grams for weights in _grid()) == 0


def pairs_of(mapped, count=50, length=30, seed=5, kept=1.0):
    """Return texts and their translations, in which some words, drawn at random, are not `kept`."""
    chance, others, pairs = Random(seed), list(mapped.values()), []
    for _ in range(count):
        words = prose(ONE, length, chance)
        target = [mapped[word] if chance.random() < kept else chance.choice(others) for word in words]
        pairs.append(Segment(" ".join(words), " ".join(target)))
    return pairs


def dictionary(right, wrong):
    """Return one that is right or wrong in each direction: (f, e) with p(e|f) of one map, and p(f|e) of the other."""
    entries = {(f, e): [1.0, 0.0] for f, e in right.items()}
    for f, e in wrong.items():
        entries.setdefault((f, e), [0.0, 0.0])[1] = 1.0
    return Dictionary.from_pairs(
        [f for f, _ in entries],
        [e for _, e in entries],
        [p for p, _ in entries.values()],
        [p for _, p in entries.values()],
    )


MAPPED = dict(zip(ONE, OTHER, strict=True))
SHUFFLED = dict(zip(ONE, Random(9).sample(OTHER, len(OTHER)), strict=True))
LIKE = {word: f"{word}x" for word in ONE}
SHUFFLED_LIKE = dict(zip(ONE, Random(9).sample(list(LIKE.values()), len(LIKE)), strict=True))


@pytest.mark.parametrize(
    "mapped, words, part",
    [
        (MAPPED, dictionary(MAPPED, SHUFFLED), 0),
        (MAPPED, dictionary(SHUFFLED, MAPPED), 1),
        (LIKE, dictionary(SHUFFLED_LIKE, SHUFFLED_LIKE), 2),
    ],
)
def test_the_part_that_tells_weighs_most(mapped, words, part):
    pairs = pairs_of(mapped, count=200, kept=0.4)
    weights = ranked_best(pairs[:100], pairs[100:], words, Room(".", threads=1))
    assert weights[part] == max(weights) >= 0.5


def test_where_all_are_right_the_usual_weights_are_taken():
    pairs = pairs_of(MAPPED)
    assert ranked_best(pairs[:25], pairs[25:], dictionary(MAPPED, MAPPED), Room(".", threads=1)) == USUAL


def test_weights_are_fitted_to_what_was_not_trained_on():
    pairs = pairs_of(MAPPED, count=200, length=50)
    assert fitted_weights(pairs[:195], TrainingSpec(), Room(".", threads=1)) is None  # 39 held out are too few
    weights = fitted_weights(pairs, TrainingSpec(), Room(".", threads=1))
    assert weights is not None and weights in _grid() and weights.grams <= 0.5
