"""A collection as counts of words: which words there are, and how often each document has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan, cut
from sosie.kernels.text.words import word_rows
from sosie.kernels.vectors.project import Counted
from sosie.parallel import ordered_map, spans
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.text.numbers import WordNumbers
from sosie.text.tables import unicode_tables
from sosie.types import F64, I32, I64, offsets_of

_SPAN = 1 << 18  # words and their counts that one task works on: projected, they are many times as many


@dataclass(frozen=True, eq=False)
class Terms:
    """Row r has `terms[offsets[r] : offsets[r + 1]]`, distinct and ascending numbers of `words`, with their counts.

    >>> terms = count_words([["to be or not to be", "To do"]])
    >>> terms.words, terms.offsets.tolist(), terms.terms.tolist(), terms.counts.tolist()
    (['to', 'be', 'or', 'not', 'do'], [0, 4, 6], [0, 1, 2, 3, 0, 4], [2, 2, 1, 1, 1, 1])
    """

    words: list[str]
    offsets: I64
    terms: I32
    counts: I32

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """How many different words each document has."""
        return np.diff(self.offsets)

    @cached_property
    def lengths(self) -> I64:
        """How many words each document has."""
        return self._sums(self.counts)

    @cached_property
    def frequencies(self) -> I64:
        """In how many documents each word occurs."""
        return _summed(self.terms, None, len(self.words))

    @cached_property
    def occurrences(self) -> I64:
        """How often each word occurs in all documents together."""
        return _summed(self.terms, self.counts, len(self.words))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def rows(self, start: int, stop: int) -> Counted:
        """Return rows start..stop, numbered from 0 on."""
        offsets = self.offsets[start : stop + 1]
        span = slice(offsets[0], offsets[-1])
        return Counted(offsets - offsets[0], np.asarray(self.terms[span]), self.counts[span].astype(np.float64))

    def spans(self) -> list[tuple[int, int]]:
        """Cut the rows into consecutive spans for tasks."""
        return spans(self.offsets, _SPAN)

    def shares(self, known: Any) -> F64:
        """Return what share of its words each document has among those that are `known`; 0 where it has none at all."""
        weights = np.where(np.asarray(known)[self.terms], self.counts, 0)
        return np.asarray(self._sums(weights) / np.maximum(self.lengths, 1))

    def _sums(self, values: I32) -> I64:
        """Return the sum of the values of each row; of an empty one, `reduceat` takes what follows, and it is 0."""
        sums = np.add.reduceat(np.append(values, 0), self.offsets[:-1], dtype=np.int64)
        return np.where(self.sizes > 0, sums, 0)


def count_words(
    batches: Iterable[Any], room: Room | None = None, advance: Callable[[int], None] = lambda count: None
) -> Terms:
    """Count the words of batches of texts, as shingles read them; where there are many, the counts are on disk.

    Words are numbered as they are met, so nothing depends on how the collection is cut.
    """
    room = room or Room(".")
    known = WordNumbers()
    sizes: list[I64] = []
    with (
        Spill(room.scratch, np.int32, memory=room.memory) as terms,
        Spill(room.scratch, np.int32, memory=room.memory) as counts,
    ):
        cuts = (span for batch in batches for span in cut(batch, Shingles(1)))
        for text, starts, ends in ordered_map(_words, cuts, room.threads):
            held, own, often = _distinct(known.of(text, starts), ends)
            terms.append(own)
            counts.append(often)
            sizes.append(held)
            advance(len(held))
        words = [word.decode("utf-8") for word in known.words()]
        offsets = offsets_of(np.concatenate(sizes) if sizes else [])
        return Terms(words, offsets, terms.array(), counts.array())


def _words(span: RowSpan) -> tuple[Any, I64, I64]:
    column: Any = span.batch
    return word_rows(unicode_tables(), column.data, column.offsets, span.start, span.stop)


def _distinct(numbers: I64, ends: I64) -> tuple[I64, I32, I32]:
    """Return how many different words each row has, which they are, in order, and how often each occurs."""
    row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    keys, counts = np.unique(row << 32 | numbers, return_counts=True)
    sizes = np.bincount(keys >> 32, minlength=len(ends) - 1)
    return sizes, (keys & 0xFFFFFFFF).astype(np.int32), counts.astype(np.int32)


def _summed(terms: I32, counts: I32 | None, width: int) -> I64:
    """Add up per word, piece by piece: the columns may be larger than memory."""
    total = np.zeros(width, np.int64)
    for start in range(0, len(terms), _SPAN):
        span = slice(start, start + _SPAN)
        weights = None if counts is None else counts[span]
        total += np.bincount(terms[span], weights, minlength=width).astype(np.int64)
    return total
