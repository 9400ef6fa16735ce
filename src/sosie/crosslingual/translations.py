"""The translations of the words of one language: rows of words of the other, with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sosie.arrays import F64, I64, check_column, check_rows
from sosie.errors import MismatchError
from sosie.types import offsets_of

NEAR = 1e-9  # a sum that is this near to 1 is 1


@dataclass(frozen=True, eq=False)
class Translations:
    """CSR over the words of a language: word i is `words[offsets[i]:offsets[i + 1]]`, rows of the other's words.

    The most probable comes first, of equal ones the first by its word; probabilities of a row sum up to 1. A word
    without translations has an empty row.
    """

    offsets: I64
    words: I64
    probabilities: F64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, row: int) -> tuple[I64, F64]:
        """Return the translations of a word, as rows of words, and their probabilities."""
        here = slice(self.offsets[row], self.offsets[row + 1])
        return self.words[here], self.probabilities[here]

    @property
    def sizes(self) -> I64:
        """How many translations each word has."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> I64:
        """The word of which each entry is a translation."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def transposed(self, count: int) -> Translations:
        """Return the translations of the `count` other words: those they are one of, as probable, renormalised.

        That is Bayes' rule with the same prior for every word of this language.
        """
        return ordered(self.words, self.rows, self.probabilities, count)

    def check(self, what: str, rows: int, others: int) -> None:
        """Refuse what are not translations of `rows` words by `others` other ones."""
        check_column(f"{what}: the offsets", self.offsets, np.int64, rows + 1)
        check_column(f"{what}: the words", self.words, np.int64)
        check_column(f"{what}: the probabilities", self.probabilities, np.float64, len(self.words))
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.words) or np.any(self.offsets[1:] < self.offsets[:-1]):
            raise MismatchError(f"{what}: the offsets do not ascend from 0 to {len(self.words)}")
        check_rows(f"{what}: the words", self.words, others)
        shares = self.probabilities
        if not np.all((shares > 0) & (shares <= 1)):  # no such comparison holds of what is no number
            raise MismatchError(f"{what}: probabilities are above 0 and at most 1")
        same = self.rows[1:] == self.rows[:-1]
        falling = shares[1:] < shares[:-1]
        if np.any(same & ~falling & ~((shares[1:] == shares[:-1]) & (self.words[1:] > self.words[:-1]))):
            raise MismatchError(f"{what}: translations are not in the order of their probabilities")
        pairs = np.lexsort((self.words, self.rows))
        if np.any((np.diff(self.words[pairs]) == 0) & (np.diff(self.rows[pairs]) == 0)):
            raise MismatchError(f"{what}: a translation is there twice")
        sums = np.bincount(self.rows, shares, rows)
        if np.any(np.abs(sums[self.sizes > 0] - 1) > 1e-6):
            raise MismatchError(f"{what}: the probabilities of a word do not sum up to 1")


def ordered(rows: I64, words: I64, probabilities: F64, count: int) -> Translations:
    """Return translations from entries in any order, each at most once: renormalised, the most probable first.

    >>> made = ordered(np.array([1, 1]), np.array([4, 2]), np.array([1.0, 3.0]), 2)
    >>> made.offsets.tolist(), made.words.tolist(), made.probabilities.tolist()
    ([0, 0, 2], [2, 4], [0.75, 0.25])
    """
    largest = np.zeros(count)
    np.maximum.at(largest, rows, probabilities)
    sums = np.bincount(rows, probabilities / largest[rows], count) if len(rows) else np.ones(count)
    whole = np.abs(sums * largest - 1) <= NEAR
    shares = np.where(whole[rows], probabilities, probabilities / largest[rows] / sums[rows])
    shares = np.minimum(shares, 1.0)
    order = np.lexsort((words, -shares, rows))
    return Translations(offsets_of(np.bincount(rows, minlength=count)), words[order], shares[order])


def pruned(entries: Sequence[tuple[int, float]], most: int, mass: float) -> list[tuple[int, float]]:
    """Return the most probable translations of a word: at most so many, until their sum reaches the mass.

    >>> pruned([(0, 0.125), (1, 0.5), (2, 0.125), (3, 0.25)], most=3, mass=0.8)
    [(1, 0.5), (3, 0.25), (0, 0.125)]
    """
    kept, reached = list[tuple[int, float]](), 0.0
    for word, probability in sorted(entries, key=lambda entry: (-entry[1], entry[0]))[:most]:
        if reached >= mass:
            break
        kept.append((word, probability))
        reached += probability
    return kept
