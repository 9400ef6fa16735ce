"""What should make a person look twice: hubs, and documents in another language than their side."""

from random import Random

import numpy as np
import pytest
from tests.crosslingual.languages import NAMES, prose, vocabulary

from sosie.crosslingual.alarms import foreign, hubs
from sosie.crosslingual.ranking import Ranked
from sosie.crosslingual.terms import count_words

ONE, OTHER, THIRD = vocabulary("abcdefg", 900, 1), vocabulary("hijklmn", 900, 2), vocabulary("opqrstu", 900, 3)


def links(targets, rank=None):
    none = np.zeros(len(targets))
    return Ranked(np.arange(len(targets)), np.array(targets), np.array(rank or [1] * len(targets)), none, none)


@pytest.mark.parametrize(
    "count, sources, is_hub", [(10, 12, False), (11, 12, True), (20, 2000, False), (21, 2000, True)]
)
def test_a_hub_is_the_best_of_many(count, sources, is_hub):
    found = hubs(links([7] * count + list(range(100, 100 + sources - count))))
    assert (found.rows.tolist(), found.counts.tolist()) == (([7], [count]) if is_hub else ([], []))


def test_hubs_are_in_the_order_of_how_many_they_have():
    found = hubs(links([3] * 12 + [9] * 20 + [1] * 12 + [5] * 4))
    assert (found.rows.tolist(), found.counts.tolist()) == ([9, 1, 3], [20, 12, 12])


def test_only_first_links_make_a_hub():
    assert hubs(links([7] * 30, [1] * 10 + [2] * 20)).rows.tolist() == []
    assert hubs(links([])).rows.tolist() == []


def collection(words, count, seed, length=60):
    chance = Random(seed)
    return [" ".join(prose(words, length, chance)) for _ in range(count)]


def foreign_of(own, other):
    found = foreign(count_words([own]), count_words([other]))
    return dict(zip(found.rows.tolist(), found.other.tolist(), strict=True))


def test_pages_in_another_language_and_in_that_of_the_other_side():
    own, other = collection(ONE, 40, 1), collection(OTHER, 40, 2)
    assert foreign_of(own, other) == {} == foreign_of(other, own)
    own[4:4] = collection(OTHER, 1, 3)
    own[17:17] = collection(THIRD, 1, 4)
    assert foreign_of(own, other) == {4: True, 17: False}
    assert foreign_of(other, own) == {}


def test_a_stray_word_of_the_other_side_is_not_its_language():
    own, other = collection(ONE, 40, 1), collection(OTHER, 40, 2)
    own.append(" ".join([*prose(THIRD, 60, Random(4)), OTHER[0]]))
    assert foreign_of(own, other) == {40: False}


def test_names_and_numbers_that_both_sides_have_tell_no_language():
    chance = Random(8)

    def with_names(words, count):
        return [" ".join([*prose(words, 40, chance), *chance.sample(NAMES[:15], 10)]) for _ in range(count)]

    own, other = with_names(ONE, 40), with_names(OTHER, 40)
    own += with_names(OTHER, 1) + with_names(THIRD, 1)
    assert foreign_of(own, other) == {40: True, 41: False}


def test_tiny_documents_are_not_judged():
    own, other = collection(ONE, 40, 1), collection(OTHER, 40, 2)
    own += ["", *collection(THIRD, 1, 5, 19), *collection(THIRD, 1, 5, 20), ""]
    assert foreign_of(own, other) == {42: False}
    assert foreign_of(collection(ONE, 5, 1, 3), other) == {} == foreign_of([], other) == foreign_of([""], [""])
