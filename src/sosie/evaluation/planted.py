"""A generated corpus with planted near-duplicates, whose similar pairs are known.

Every word of every document is a function of (seed, document, position), so a corpus of any size is made in chunks and
is the same for every chunk size. Some documents are copies of an earlier one with a share of the words replaced, from
none to enough to fall below any usual threshold; some copies are in capitals, which folding has to see through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.errors import UsageError
from sosie.types import I64, U64, Pairs, offsets_of

WIDTH = 3  # words in a shingle: what the known similarities are about
VOCABULARY = 20_000
REPLACED = np.array([0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08])
_ORIGIN, _SOURCE, _LENGTH, _RATE, _CAPITALS, _EDIT, _WORD, _NEW_WORD = range(8)


@dataclass(frozen=True)
class PlantedCorpus:
    """`documents` texts, of which about the share `copies` are edited copies of another.

    `words` are the least and the most words of a document: by default, it has about 500 bytes.

    >>> corpus = PlantedCorpus(documents=1000, copies=0.3, seed=1)
    >>> table = next(corpus.tables())
    >>> table.column_names, table.num_rows, len(corpus.pairs(0.8)) > 50
    (['id', 'text'], 1000, True)
    """

    documents: int
    copies: float = 0.2
    seed: int = 0
    words: tuple[int, int] = (60, 100)

    def __post_init__(self) -> None:
        if self.documents < 0 or not 0 <= self.copies <= 1:
            raise UsageError(f"documents must not be negative and copies must be from 0 to 1, got {self}")
        if not 0 <= self.seed < 1 << 24:
            raise UsageError(f"seed must be from 0 to 2^24 - 1, got {self.seed}")
        if not 1 <= self.words[0] <= self.words[1]:
            raise UsageError(f"words are the least and the most words of a document, got {self.words}")

    def tables(self, size: int = 1 << 15) -> Iterator[Any]:
        """Yield the corpus in tables of at most `size` documents: id, text."""
        for start in range(0, self.documents, size):
            rows = np.arange(start, min(start + size, self.documents))
            ids = pc.binary_join_element_wise("d", pa.array(rows).cast(pa.string()), "")
            yield pa.table({"id": ids, "text": self.texts(rows)})

    def texts(self, rows: I64) -> Any:
        """Return the texts of these documents."""
        words, offsets = self._words(rows)
        spelled = _vocabulary().take(pa.array(words))
        texts = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(offsets), spelled), " ")
        capitals = (self._origin[rows] != rows) & (self._draw(_CAPITALS, rows) % np.uint64(4) == 0)
        return pc.if_else(pa.array(capitals), pc.utf8_upper(texts), texts)

    def pairs(self, threshold: float | str | Fraction) -> Pairs:
        """Return all pairs whose Jaccard similarity of 3-word shingles is at least the threshold, exactly."""
        bound = Fraction(str(threshold))
        order = np.argsort(self._origin, kind="stable")
        families = order[np.bincount(self._origin, minlength=self.documents)[self._origin[order]] > 1]
        found: list[tuple[int, int]] = []
        for rows in self._whole_families(families):
            sets = self._shingle_sets(rows)
            for _, members in groupby(range(len(rows)), self._origin[rows].tolist().__getitem__):
                for i, j in combinations(members, 2):
                    shared = len(sets[i] & sets[j])
                    if Fraction(shared, len(sets[i]) + len(sets[j]) - shared) >= bound:
                        found.append((int(rows[i]), int(rows[j])))
        found.sort()
        both = np.array(found, np.int64).reshape(-1, 2)
        return Pairs(both[:, 0], both[:, 1])

    def _whole_families(self, rows: I64, size: int = 1 << 14) -> Iterator[I64]:
        """Cut rows, ordered by origin, into pieces of about `size` that end where a family ends."""
        origin, start = self._origin[rows], 0
        while start < len(rows):
            stop = min(start + size, len(rows))
            stop = int(np.searchsorted(origin, origin[stop - 1], side="right"))
            yield rows[start:stop]
            start = stop

    @cached_property
    def _origin(self) -> I64:
        """The document that each one is a copy of; itself where it is none."""
        rows = np.arange(self.documents)
        copied = (self._draw(_ORIGIN, rows) >> np.uint64(11)) * 2.0**-53 < self.copies
        earlier = (self._draw(_SOURCE, rows) % np.maximum(rows, 1).astype(np.uint64)).astype(np.int64)
        origin = np.where(copied & (rows > 0), earlier, rows)
        while (origin[origin] != origin).any():
            origin = origin[origin]
        return origin

    def _words(self, rows: I64) -> tuple[I64, I64]:
        """Return the word numbers of these documents, and where each document starts."""
        origin = self._origin[rows]
        low, high = self.words
        lengths = low + (self._draw(_LENGTH, origin) % np.uint64(high - low + 1)).astype(np.int64)
        offsets = offsets_of(lengths)
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        words = _skewed(self._draw(_WORD, np.repeat(origin, lengths), place))
        rate = REPLACED[self._draw(_RATE, rows) % np.uint64(len(REPLACED))] * (origin != rows)
        document = np.repeat(rows, lengths)
        edited = (self._draw(_EDIT, document, place) >> np.uint64(11)) * 2.0**-53 < np.repeat(rate, lengths)
        words[edited] = _skewed(self._draw(_NEW_WORD, document[edited], place[edited]))
        return words, offsets

    def _shingle_sets(self, rows: I64) -> list[set[tuple[int, ...]]]:
        words, offsets = self._words(rows)
        documents = [words[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]
        return [set(zip(*(text[i:] for i in range(WIDTH)), strict=False)) for text in documents]

    def _draw(self, purpose: int, document: I64, place: I64 | int = 0) -> U64:
        """Return 64 random bits for each (seed, purpose, document, place)."""
        bits = _mixed(np.asarray(document).astype(np.uint64) + np.uint64(self.seed << 40))
        return _mixed(bits ^ (np.asarray(place).astype(np.uint64) << np.uint64(4)) ^ np.uint64(purpose))


def _mixed(x: U64) -> U64:
    """splitmix64, on whole arrays."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _skewed(bits: U64) -> I64:
    """Return word numbers of which small ones are frequent, as in a language."""
    uniform = (bits >> np.uint64(11)) * 2.0**-53
    return np.asarray((VOCABULARY * uniform**3).astype(np.int64))


def _vocabulary() -> Any:
    """Return distinct words of syllables: the digits of their number."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwyz" for vowel in "aeiou"]
    words = []
    for number in range(VOCABULARY):
        word, rest = "", number + len(syllables)
        while rest:
            rest, digit = divmod(rest, len(syllables))
            word += syllables[digit]
        words.append(word)
    return pa.array(words)
