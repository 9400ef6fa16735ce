"""Translations: pruned as the rule says, ordered, renormalised, and refused where they are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.crosslingual.translations import Translations, ordered, pruned
from sosie.errors import MismatchError

SHARES = st.floats(1e-6, 1.0)
ROWS = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 7)), SHARES, max_size=30)


def plainly_pruned(entries, most, mass):
    """Take the most probable one that is left until it is enough."""
    left, kept = list(entries), []
    while left and len(kept) < most and not sum(p for _, p in kept) >= mass:
        best = min(left, key=lambda entry: (-entry[1], entry[0]))
        left.remove(best)
        kept.append(best)
    return kept


@given(st.dictionaries(st.integers(0, 40), SHARES, max_size=20), st.integers(1, 25), st.floats(0.01, 1.0))
def test_pruning_takes_the_most_probable_until_it_is_enough(entries, most, mass):
    assert pruned(list(entries.items()), most, mass) == plainly_pruned(entries.items(), most, mass)


def test_what_reaches_the_mass_exactly_is_enough():
    assert pruned([(0, 0.5), (1, 0.25), (2, 0.25)], 15, 0.75) == [(0, 0.5), (1, 0.25)]
    assert pruned([(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)], 2, 1.0) == [(0, 0.25), (1, 0.25)]


def made(entries, count=6):
    rows, words = (np.array([pair[i] for pair in entries], np.int64) for i in range(2))
    return ordered(rows, words, np.array(list(entries.values()), np.float64), count)


@given(ROWS)
def test_entries_in_any_order_become_rows_in_order(entries):
    table = made(entries)
    table.check("forward", 6, 8)
    for row in range(6):
        mine = {word: p for (i, word), p in entries.items() if i == row}
        words, shares = table.of(row)
        assert sorted(words.tolist()) == sorted(mine)
        for word, share in zip(words.tolist(), shares.tolist(), strict=True):
            assert share == pytest.approx(mine[word] / sum(mine.values()))
        again = made(dict(reversed(list(entries.items()))))
        assert again.words.tolist() == table.words.tolist()


@given(ROWS)
def test_what_is_normalised_stays_bit_for_bit(entries):
    first = made(entries)
    second = ordered(first.rows, first.words, first.probabilities, 6)
    assert second.probabilities.tobytes() == first.probabilities.tobytes()


@given(ROWS)
def test_transposed_is_what_bayes_says_of_equally_frequent_words(entries):
    table = made(entries)
    joint = np.zeros((6, 8))
    joint[table.rows, table.words] = table.probabilities
    turned = table.transposed(8)
    turned.check("backward", 8, 6)
    for word in range(8):
        rows, shares = turned.of(word)
        assert shares == pytest.approx(joint[rows, word] / joint[:, word].sum())


def test_probabilities_of_any_size_are_renormalised():
    assert made({(0, 0): 1e30, (0, 1): 1e30}).probabilities.tolist() == [0.5, 0.5]
    assert made({(0, 0): 1e-30, (0, 1): 3e-30}).probabilities.tolist() == pytest.approx([0.75, 0.25])


GOOD = {"offsets": [0, 2, 3], "words": [1, 0, 2], "probabilities": [0.75, 0.25, 1.0]}
BAD = {
    "a row that is not there": {"words": [1, 0, 3]},
    "a row below 0": {"words": [1, -1, 2]},
    "offsets that fall": {"offsets": [0, 3, 2]},
    "offsets that wrap around": {"offsets": [0, -(1 << 63), 3]},
    "offsets that begin later": {"offsets": [1, 2, 3]},
    "offsets that end early": {"offsets": [0, 1, 2]},
    "too few offsets": {"offsets": [0, 3]},
    "no probability": {"probabilities": [0.75, 0.25, 0.0]},
    "not a number": {"probabilities": [0.75, float("nan"), 1.0]},
    "more than certain": {"probabilities": [0.75, 0.25, 1.5]},
    "another sum": {"probabilities": [0.75, 0.125, 1.0]},
    "another order": {"probabilities": [0.25, 0.75, 1.0]},
    "another order of equal ones": {"probabilities": [0.5, 0.5, 1.0]},
    "the same twice": {"words": [1, 1, 2]},
    "fewer probabilities": {"probabilities": [0.75, 0.25]},
}
DTYPES = {"offsets": np.int64, "words": np.int64, "probabilities": np.float64}


def translations(**changed):
    return Translations(**{name: np.array(value, DTYPES[name]) for name, value in {**GOOD, **changed}.items()})


@pytest.mark.parametrize("changed", BAD.values(), ids=BAD)
def test_what_are_no_translations_is_refused(changed):
    translations().check("forward", 2, 3)
    with pytest.raises(MismatchError, match="forward"):
        translations(**changed).check("forward", 2, 3)
