"""A dictionary from nothing but the texts: languages that share names teach it, those that share nothing do not."""

from random import Random

import numpy as np
import pytest
from tests.crosslingual.languages import NAMES, prose, vocabulary

from sosie.crosslingual.bootstrap import bootstrap, shared_words
from sosie.crosslingual.compared import nearest
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.ranking import ranked, selected
from sosie.crosslingual.terms import count_words
from sosie.crosslingual.views import Languages, letter_views, word_views
from sosie.errors import DataError
from sosie.storage.room import Room

ONE, OTHER = vocabulary("abcdefg", 400, 1), vocabulary("hijklmn", 400, 2)
MAPPED = dict(zip(ONE, OTHER, strict=True))
COUNT = 150


def collections(seed=3):
    """Return documents of three paragraphs in one language, and their translations in another order, which is returned.

    Two thirds have names that the translation keeps; the rest has none, and is linked by its words alone.
    """
    chance = Random(seed)
    source, target = [], []
    for number in range(COUNT):
        paragraphs = [prose(ONE, chance.randint(15, 30), chance) for _ in range(3)]
        if number % 3:
            for paragraph in paragraphs:
                paragraph[:0] = chance.sample(NAMES, 2)
        source.append("\n\n".join(" ".join(words) for words in paragraphs))
        target.append("\n\n".join(" ".join(MAPPED.get(word, word) for word in words) for words in paragraphs))
    order = chance.sample(range(COUNT), COUNT)
    return source, [target[number] for number in order], order


def learnt(source, target, threads=1, told=lambda number, done: None, rounds=5):
    both = Languages.of(count_words([source]), count_words([target]))

    def texts(side, rows):
        return {row: (source, target)[side][row] for row in rows.tolist()}

    return both, bootstrap(both, texts, Room(".", threads=threads), told=told, rounds=rounds)


@pytest.fixture(scope="module")
def shared():
    source, target, order = collections()
    told = []
    return source, target, order, told, *learnt(source, target, told=lambda number, done: told.append((number, done)))


def test_it_learns_the_words(shared):
    *_, found = shared
    common = ONE[:50]
    right = [found.dictionary.translations(word)[:1] for word in common]
    assert sum(bool(best) and best[0][0] == MAPPED[word] for word, best in zip(common, right, strict=True)) >= 48


def share_right(views, order):
    links = selected(ranked(nearest(views, 20, Room("."))), one_to_one=True)
    return sum(order[b] == a for a, b in zip(links.a.tolist(), links.b.tolist(), strict=True)) / COUNT


def test_it_links_what_letters_alone_do_not(shared):
    _, _, order, _, both, found = shared
    assert share_right(letter_views(both, Room(".")), order) < 0.7
    assert share_right(word_views(both, found.dictionary, Room(".")), order) > 0.9
    pairs = found.pairs
    assert np.mean([order[b] == a for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)]) > 0.9


def test_it_says_what_its_rounds_did(shared):
    *_, told, _, found = shared
    assert [number for number, _ in told] == list(range(1, len(found.rounds) + 1))
    assert tuple(done for _, done in told) == found.rounds
    first, second = found.rounds[:2]
    assert first.same is None and 0 <= second.same < 1
    assert first.taken == first.confident // 2 and second.taken == int(0.75 * second.confident)
    assert all(done.taken == done.confident for done in found.rounds[2:])
    assert first.segments == 3 * first.taken and all(done.words > 100 for done in found.rounds)
    assert found.rounds[-1].taken == len(found.pairs.a) > first.taken
    assert found.rounds[-1].words == len(found.dictionary)


def test_threads_change_nothing(shared):
    source, target, _, _, _, found = shared
    _, again = learnt(source, target, threads=2)
    assert again.dictionary.digest == found.dictionary.digest and again.rounds == found.rounds
    assert all(np.array_equal(a, b) for a, b in zip(again.pairs, found.pairs, strict=True))


def test_rounds_may_be_fewer(shared):
    source, target, *_, found = shared
    _, one = learnt(source, target, rounds=1)
    assert one.rounds == found.rounds[:1]


def test_nothing_in_common_is_no_beginning():
    chance = Random(4)
    source, target = ([" ".join(prose(words, 60, chance)) for _ in range(30)] for words in (ONE, OTHER))
    with pytest.raises(DataError, match="only 0 pairs of documents are alike enough by their letters to begin with"):
        learnt(source, target)


def test_shared_words():
    score = shared_words(Dictionary.from_pairs(["haus", "rot", "rot"], ["house", "red", "crimson"], [1.0, 0.5, 0.5]))
    assert score("Haus rot rot Anna", "anna, CRIMSON") == 0.75
    assert score("", "house") == 0.0 == score("haus", "") == score("haus", "rot")
