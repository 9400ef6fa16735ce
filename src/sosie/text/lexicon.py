"""What stands for a word: its stem, itself, or nothing if it is a stop word. Each distinct word is looked at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.text.lexicon import EMPTY, WORD_SLACK, WordTable, fill_slots, number_words
from sosie.text.stems import stemmer
from sosie.text.stop_words import StopWords
from sosie.types import I64

T = TypeVar("T", bound=np.generic)

MOST_WORDS, MOST_BYTES = 1 << 17, 1 << 24  # that a lexicon remembers; then it begins anew
_SLACK = 16  # bytes that kernels may read after the last stem


class Lexicon:
    """The words met so far, numbered, and what stands for each; for one thread at a time.

    For word n stands `stems[places[n] : places[n + 1]]`, nothing if that is empty. Words are told apart by all their
    bytes, so what stands for a word never depends on which others came before.
    """

    def __init__(self, algorithm: str | None, stop: StopWords | None) -> None:
        self._known: int
        self._table: WordTable
        self.stems: NDArray[np.uint8]
        self.places: I64
        self._stemmer = None if algorithm is None else stemmer(algorithm)
        self._stop = frozenset(word.encode() for word in stop.words) if stop else frozenset()
        self._forget()

    def numbers(self, text: NDArray[np.uint8], starts: I64) -> I64:
        """Return the numbers of words; word i is `text[starts[i] : starts[i + 1] - 1]`, and a space follows it."""
        if self._known > MOST_WORDS or self._table.starts[self._known] > MOST_BYTES:
            self._forget()
        count, known = len(starts) - 1, self._known
        self._reserve(known + count, int(self._table.starts[known] + starts[-1]))
        numbers = np.empty(count, np.int64)
        self._known = number_words(self._table, known, text, starts, count, numbers)
        if self._known > known:
            begin, end = self._table.starts[known], self._table.starts[self._known]
            self._add(self._table.text[begin:end].tobytes().split(b" ")[:-1], known)
        return numbers

    def _forget(self) -> None:
        self._known = 0
        slots, hashes = np.full(1, EMPTY), np.empty(0, np.uint64)
        self._table = WordTable(slots, hashes, np.empty(0, np.uint8), np.zeros(1, np.int64))
        self.stems, self.places = np.zeros(_SLACK, np.uint8), np.zeros(1, np.int64)

    def _reserve(self, words: int, size: int) -> None:
        """Make room for so many words and bytes in all, with half of the slots free."""
        slots, hashes, text, starts = self._table
        if len(text) < size + WORD_SLACK:
            text = _extended(text, 2 * size + WORD_SLACK)
        if len(hashes) < words:
            hashes, starts = _extended(hashes, 2 * words), _extended(starts, 2 * words + 1)
            self.places = _extended(self.places, 2 * words + 1)
        if len(slots) < 2 * words:
            slots = np.full(1 << (2 * words).bit_length(), EMPTY)
            fill_slots(slots, hashes, self._known)
        self._table = WordTable(slots, hashes, text, starts)

    def _add(self, words: list[bytes], first: int) -> None:
        """Find what stands for new words; a word without a stem stands for itself."""
        stems = self._stemmer.stemWords(words) if self._stemmer else words
        stands = [b"" if word in self._stop else stem or word for word, stem in zip(words, stems, strict=True)]
        last, begin = first + len(words), int(self.places[first])
        np.cumsum([begin, *map(len, stands)], out=self.places[first : last + 1])
        end = int(self.places[last])
        if len(self.stems) < end + _SLACK:
            self.stems = _extended(self.stems, 2 * end + _SLACK)
        self.stems[begin:end] = np.frombuffer(b"".join(stands), np.uint8)


@lru_cache(maxsize=4)
def _idle(algorithm: str | None, stop: StopWords | None) -> deque[Lexicon]:
    """Return the lexicons that no thread uses now, kept for the next one that asks."""
    return deque()


@contextmanager
def lexicon(algorithm: str | None, stop: StopWords | None) -> Iterator[Lexicon]:
    """Lend a lexicon to this thread; there are as many as threads that ever used one at the same time."""
    idle = _idle(algorithm, stop)
    try:
        lent = idle.pop()
    except IndexError:
        lent = Lexicon(algorithm, stop)
    yield lent
    idle.append(lent)  # after an error it is left to be collected: it may know words that nothing stands for


def _extended(array: NDArray[T], size: int) -> NDArray[T]:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger
