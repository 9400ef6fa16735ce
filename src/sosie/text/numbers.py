"""Words by number, in the order in which they are met: told apart by all their bytes, however many there are."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.text.lexicon import EMPTY, WORD_SLACK, WordTable, fill_slots, number_words
from sosie.types import I64

T = TypeVar("T", bound=np.generic)


class WordNumbers:
    """The words met so far, numbered from 0 on; for one thread at a time.

    >>> numbers = WordNumbers()
    >>> text = np.frombuffer(b"to be or not to be ".ljust(147), np.uint8)
    >>> numbers.of(text, np.array([0, 3, 6, 9, 13, 16, 19])).tolist(), numbers.words()
    ([0, 1, 2, 3, 0, 1], [b'to', b'be', b'or', b'not'])
    """

    def __init__(self) -> None:
        self._known = 0
        slots, hashes = np.full(1, EMPTY), np.empty(0, np.uint64)
        self._table = WordTable(slots, hashes, np.empty(0, np.uint8), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return self._known

    @property
    def size(self) -> int:
        """How many bytes the words take."""
        return int(self._table.starts[self._known])

    def of(self, text: NDArray[np.uint8], starts: I64) -> I64:
        """Return the numbers of words; word i is `text[starts[i] : starts[i + 1] - 1]`, and a space follows it.

        Two blocks of `kernels.text.ascii` after the last word may be read, as `word_rows` leaves them.
        """
        count, known = len(starts) - 1, self._known
        self._reserve(known + count, self.size + int(starts[-1]))
        numbers = np.empty(count, np.int64)
        self._known = number_words(self._table, known, text, starts, count, numbers)
        return numbers

    def words(self, first: int = 0) -> list[bytes]:
        """Return the words from a number on."""
        begin, end = self._table.starts[first], self._table.starts[self._known]
        return self._table.text[begin:end].tobytes().split(b" ")[:-1]

    def _reserve(self, words: int, size: int) -> None:
        """Make room for so many words and bytes in all, with half of the slots free."""
        slots, hashes, text, starts = self._table
        if len(text) < size + WORD_SLACK:
            text = extended(text, 2 * size + WORD_SLACK)
        if len(hashes) < words:
            hashes, starts = extended(hashes, 2 * words), extended(starts, 2 * words + 1)
        if len(slots) < 2 * words:
            slots = np.full(1 << (2 * words).bit_length(), EMPTY)
            fill_slots(slots, hashes, self._known)
        self._table = WordTable(slots, hashes, text, starts)


def extended(array: NDArray[T], size: int) -> NDArray[T]:
    """Return a larger array that begins with the same values; the rest is 0."""
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger
