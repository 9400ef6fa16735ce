"""Bitext: segments that translate each other, as rows of words that a dictionary is trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sosie.arrays import I64
from sosie.text import words
from sosie.types import offsets_of

EMPTY, LONG = "without words on one side", "too long"
_EACH = 1000  # segments, after which progress is told


@dataclass(frozen=True, eq=False)
class Side:
    """The segments in one language: its words, sorted and distinct, and their rows in the segments, as CSR."""

    words: pa.Array
    offsets: I64
    rows: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class Bitext:
    """Segments of two languages, in an order of their own that does not depend on the order they came in.

    `left_out` says how many segments are not there, and why.

    >>> read = Bitext.of([("Das Haus", "The house"), ("", "Nothing")])
    >>> len(read), read.source.words.to_pylist(), read.left_out
    (1, ['das', 'haus'], {'without words on one side': 1})
    """

    source: Side
    target: Side
    left_out: dict[str, int]

    @classmethod
    def of(
        cls, segments: Iterable[tuple[str, str]], longest: int = 150, advance: Callable[[int], None] | None = None
    ) -> Bitext:
        """Read the words of segments; those of more than `longest` words, or none, on one side are left out."""
        known, left_out = dict[str, str](), Counter[str]()
        taken: list[tuple[list[str], list[str]]] = []
        for done, (source, target) in enumerate(segments, 1):
            read = words(source), words(target)
            if not all(read):
                left_out[EMPTY] += 1
            elif max(map(len, read)) > longest:
                left_out[LONG] += 1
            else:  # one string for every word, however often it occurs
                taken.append(([known.setdefault(w, w) for w in read[0]], [known.setdefault(w, w) for w in read[1]]))
            if advance is not None and not done % _EACH:
                advance(_EACH)
        taken.sort()
        return cls(_side([pair[0] for pair in taken]), _side([pair[1] for pair in taken]), dict(left_out))

    def __len__(self) -> int:
        return len(self.source)

    @property
    def repeated(self) -> float:
        """The share of words, of both languages, that occur more than once."""
        counts = [np.bincount(side.rows, minlength=len(side.words)) for side in (self.source, self.target)]
        distinct = sum(map(len, counts))
        return sum(int(np.count_nonzero(each > 1)) for each in counts) / distinct if distinct else 0.0

    @property
    def links(self) -> int:
        """How many pairs of words stand in a segment together: what an aligner goes through in each iteration."""
        return int(np.diff(self.source.offsets) @ np.diff(self.target.offsets))


def _side(segments: list[list[str]]) -> Side:
    spelt = sorted({word for each in segments for word in each})
    row_of = {word: row for row, word in enumerate(spelt)}
    offsets = offsets_of([len(each) for each in segments])
    rows = np.fromiter((row_of[word] for each in segments for word in each), np.int64, int(offsets[-1]))
    return Side(pa.array(spelt, pa.large_string()), offsets, rows)
