"""Words of a collection, counted: as a counter counts them, however the texts are cut, and on disk as in memory."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.crosslingual import terms as module
from sosie.crosslingual.terms import count_words
from sosie.features import spans
from sosie.storage.room import Room
from sosie.text.words import words

written = ["to", "be", "To", "BE", "Straße", "STRASSE", "東京都", "x11", " ", "...", "ﬁ"]
piece = st.one_of(st.sampled_from(written), st.text())
texts = st.lists(st.lists(piece, max_size=6).map(" ".join), max_size=6)
BATCHES = [["to be or not to be", "", "?!"], [], ["To do, ", "Zürich, ZÜRICH", ""], [""]]


def counters(found):
    """Return what each document has, by its words."""
    made = []
    for start, end in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True):
        numbers = found.terms[start:end].tolist()
        assert numbers == sorted(set(numbers))
        made.append(dict(zip([found.words[n] for n in numbers], found.counts[start:end].tolist(), strict=True)))
    return made


def same(a, b):
    arrays = ("offsets", "terms", "counts")
    return a.words == b.words and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


@settings(max_examples=50)
@given(st.lists(texts, max_size=4))
def test_against_counters(batches):
    flat = [text for batch in batches for text in batch]
    expected = [Counter(words(text)) for text in flat]
    found = count_words(batches)
    assert len(found) == len(flat) and counters(found) == expected
    assert found.words == list(dict.fromkeys(word for text in flat for word in words(text)))
    assert found.sizes.tolist() == [len(each) for each in expected]
    assert found.occurrences.tolist() == [sum(each[word] for each in expected) for word in found.words]
    assert found.frequencies.tolist() == [sum(word in each for each in expected) for word in found.words]
    assert found.numbers == {word: number for number, word in enumerate(found.words)}
    assert same(found, count_words([flat])) and same(found, count_words([[text] for text in flat]))


def test_nothing_depends_on_spans_threads_or_the_disk(tmp_path, monkeypatch):
    told = []
    expected = count_words(BATCHES, advance=told.append)
    assert sum(told) == len(expected) == 7
    monkeypatch.setattr(spans, "SPAN", 1)
    monkeypatch.setattr(module, "_SPAN", 2)
    for threads in (1, 2):
        found = count_words(BATCHES, Room(tmp_path, memory=0, threads=threads))
        assert isinstance(found.terms, np.memmap) and not list(tmp_path.iterdir())
        assert same(found, expected)
        assert found.occurrences.tolist() == expected.occurrences.tolist()
        assert found.frequencies.tolist() == expected.frequencies.tolist()
        known = np.arange(len(expected.words)) % 2 == 0
        assert found.shares(known).tolist() == expected.shares(known).tolist()
    assert len(found.spans()) > 1 and found.spans()[-1][1] == len(found)


def test_rows_are_numbered_from_0():
    found = count_words(BATCHES)
    rows = found.rows(2, 5)
    assert rows.offsets.tolist() == [0, 0, 2, 3]
    assert [found.words[term] for term in rows.terms.tolist()] == ["to", "do", "zürich"]
    assert rows.counts.tolist() == [1, 1, 2] and rows.counts.dtype == np.float64


@given(texts, st.data())
def test_shares_of_known_words(drawn, data):
    found = count_words([drawn])
    known = data.draw(st.lists(st.booleans(), min_size=len(found.words), max_size=len(found.words)))
    right = {word for word, is_known in zip(found.words, known, strict=True) if is_known}
    lists = [words(text) for text in drawn]
    expected = [sum(word in right for word in each) / len(each) if each else 0.0 for each in lists]
    assert found.shares(np.array(known, np.bool_)).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("batches", [[], [[]], [["", " ", "?"]]])
def test_no_words_at_all(batches):
    found = count_words(batches)
    count = sum(map(len, batches))
    assert found.words == [] and found.offsets.tolist() == [0] * (count + 1)
    assert found.shares(np.empty(0, np.bool_)).tolist() == [0.0] * count
    assert found.frequencies.tolist() == [] and len(found.rows(0, count).terms) == 0
