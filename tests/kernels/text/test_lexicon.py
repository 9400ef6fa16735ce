"""Numbers of words, against a dict, with tables as full as they may be."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.text.lexicon import EMPTY, WORD_SLACK, WordTable, _same, fill_slots, number_words

PADDING = 128


def laid_out(words: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    text = b"".join(word + b" " for word in words)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])
    return np.frombuffer(text + b"?" * PADDING, np.uint8).copy(), starts


@settings(max_examples=100)
@given(st.lists(st.binary(min_size=1, max_size=30).map(lambda word: word.replace(b" ", b"x")), max_size=40), st.data())
def test_words_have_the_numbers_of_a_dict(words: list[bytes], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(words)))
    text, starts = laid_out(words)
    slots = np.full(1 << len(words).bit_length(), EMPTY)
    stored, places = np.empty(len(text) + WORD_SLACK, np.uint8), np.zeros(len(words) + 1, np.int64)
    table = WordTable(slots, np.empty(len(words), np.uint64), stored, places)
    expected: dict[bytes, int] = {}
    known = 0
    for part in (words[:cut], words[cut:]):
        numbers = np.empty(len(part), np.int64)
        known = number_words(table, known, *laid_out(part), len(part), numbers)
        assert numbers.tolist() == [expected.setdefault(word, len(expected)) for word in part]
    assert known == len(expected)
    assert stored[: places[known]].tobytes() == b"".join(word + b" " for word in expected)
    again = np.full(4 * len(slots), EMPTY)
    fill_slots(again, table.hashes, known)
    numbers = np.empty(len(words), np.int64)
    assert number_words(table._replace(slots=again), known, text, starts, len(words), numbers) == known
    assert numbers.tolist() == [expected[word] for word in words]


@given(st.binary(min_size=1, max_size=40), st.integers(0, 39), st.integers(0, 255))
def test_words_are_compared_to_the_last_byte(word: bytes, place: int, byte: int) -> None:
    other = bytearray(word)
    other[place % len(word)] = byte
    first = np.frombuffer(b"..." + word + b"12345678", np.uint8)
    second = np.frombuffer(b"." + bytes(other) + b"abcdefgh", np.uint8)
    assert _same(first, 3, second, 1, len(word)) == (bytes(other) == word)
