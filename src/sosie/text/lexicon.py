"""What stands for a word: its stem, itself, or nothing if it is a stop word. Each distinct word is looked at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sosie.text.numbers import WordNumbers, extended
from sosie.text.stems import stemmer
from sosie.text.stop_words import StopWords
from sosie.types import I64

MOST_WORDS, MOST_BYTES = 1 << 17, 1 << 24  # that a lexicon remembers; then it begins anew
_SLACK = 16  # bytes that kernels may read after the last stem


class Lexicon:
    """The words met so far, numbered, and what stands for each; for one thread at a time.

    For word n stands `stems[places[n] : places[n + 1]]`, nothing if that is empty. Words are told apart by all their
    bytes, so what stands for a word never depends on which others came before.
    """

    def __init__(self, algorithm: str | None, stop: StopWords | None) -> None:
        self._words: WordNumbers
        self.stems: NDArray[np.uint8]
        self.places: I64
        self._stemmer = None if algorithm is None else stemmer(algorithm)
        self._stop = frozenset(word.encode() for word in stop.words) if stop else frozenset()
        self._forget()

    def numbers(self, text: NDArray[np.uint8], starts: I64) -> I64:
        """Return the numbers of words; word i is `text[starts[i] : starts[i + 1] - 1]`, and a space follows it."""
        if len(self._words) > MOST_WORDS or self._words.size > MOST_BYTES:
            self._forget()
        known = len(self._words)
        numbers = self._words.of(text, starts)
        if len(self._words) > known:
            self._add(self._words.words(known), known)
        return numbers

    def _forget(self) -> None:
        self._words = WordNumbers()
        self.stems, self.places = np.zeros(_SLACK, np.uint8), np.zeros(1, np.int64)

    def _add(self, words: list[bytes], first: int) -> None:
        """Find what stands for new words; a word without a stem stands for itself."""
        stems = self._stemmer.stemWords(words) if self._stemmer else words
        stands = [b"" if word in self._stop else stem or word for word, stem in zip(words, stems, strict=True)]
        last, begin = first + len(words), int(self.places[first])
        if len(self.places) <= last:
            self.places = extended(self.places, 2 * last + 1)
        np.cumsum([begin, *map(len, stands)], out=self.places[first : last + 1])
        end = int(self.places[last])
        if len(self.stems) < end + _SLACK:
            self.stems = extended(self.stems, 2 * end + _SLACK)
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
