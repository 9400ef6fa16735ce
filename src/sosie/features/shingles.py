"""Shingles: the runs of words, characters or tokens of code, or the beginnings of words, that texts are compared by."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sosie.errors import StorageError, UsageError
from sosie.features.spans import cut
from sosie.features.tags import NO_KEY
from sosie.kernels.text.code import code_rows
from sosie.kernels.text.lexicon import shingle_numbers
from sosie.kernels.text.shingle import shingle_rows
from sosie.kernels.text.words import prefix_hashes, word_rows
from sosie.parallel import ordered_map
from sosie.text.column import TextColumn, as_column
from sosie.text.lexicon import lexicon
from sosie.text.stems import snowball_version, stem_algorithm
from sosie.text.stop_words import StopWords, stop_words
from sosie.text.tables import unicode_tables
from sosie.types import I64, U32, U64, Features

Unit = Literal["word", "char", "prefix", "code"]

_WIDEST = 1024


@dataclass(frozen=True)
class Shingles:
    """What counts as evidence: the runs of `width` words or characters of the folded text, hashed with XXH64.

    A text of fewer words than `width` has one shingle of all of them; a text without words has none. With unit
    "prefix", evidence is how words begin: the first `width` characters of each, whatever follows. With unit "code",
    identifiers, numbers and single operator characters are what runs are made of, and nothing is folded.

    >>> features = Shingles(width=2).extract(["The cat sat.", "the CAT", "..."])
    >>> features.sizes.tolist()
    [2, 1, 0]
    >>> Shingles(unit="code").extract(["if a < b", "if a > b", "If a<b"]).sizes.tolist()
    [2, 2, 2]

    With `stop_words`, those of a language ("en", "english") or of a file with one word per line are left out; with
    `stem`, Snowball's stems of a language stand for the words that remain. Afterwards `stop_words` is their name and
    `left_out` holds the words: a copy with the same name keeps them, whatever has become of the file.

    >>> plain, inflected = "connect the old bridge", "the connected, older bridges"
    >>> a, b = Shingles(width=1, stem="en", stop_words="en").extract([plain, inflected]).sizes.tolist()
    >>> a, b
    (2, 2)
    """

    width: int = 3
    unit: Unit = "word"
    stem: str | None = None
    stop_words: str | os.PathLike[str] | StopWords | None = field(default=None, compare=False)
    left_out: StopWords | None = field(default=None, repr=False, kw_only=True)  # what `dataclasses.replace` hands on

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int) or not 1 <= self.width <= _WIDEST:
            raise UsageError(f"a shingle is 1 to {_WIDEST} units wide, got width={self.width!r}")
        if self.unit not in get_args(Unit):
            raise UsageError(f"shingles are made of 'word', 'char', 'prefix' or 'code' units, got unit={self.unit!r}")
        if self.unit != "word" and (self.stem is not None or self.stop_words is not None):
            taken = " (code is compared as it is written)" if self.unit == "code" else ""
            raise UsageError(
                f"stem and stop_words are for shingles of words{taken}: leave them out, or take unit='word'"
            )
        if self.stem is not None:
            object.__setattr__(self, "stem", stem_algorithm(self.stem))
        left_out = self._words_left_out()
        object.__setattr__(self, "left_out", left_out)
        object.__setattr__(self, "stop_words", None if left_out is None else left_out.name)

    def to_dict(self) -> dict[str, Any]:
        """Return what determines the features, as JSON-ready data; what is not used is not named.

        >>> Shingles(stem="en").to_dict()["stem"]["algorithm"], Shingles().to_dict()
        ('english', {'width': 3, 'unit': 'word'})
        """
        data: dict[str, Any] = {"width": self.width, "unit": self.unit}
        if self.stem is not None:
            data["stem"] = {"algorithm": self.stem, "snowball": snowball_version()}
        if self.left_out is not None:
            data["stop_words"] = self.left_out.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Shingles:
        """Rebuild shingles from `to_dict`; raise if the stems or the stop words are others here.

        >>> Shingles.from_dict({"width": 2, "unit": "word"})
        Shingles(width=2, unit='word', stem=None, stop_words=None)
        """
        named = {**data}
        if "stem" in data:
            named["stem"] = data["stem"]["algorithm"]
        if "stop_words" in data:
            named["stop_words"] = StopWords.from_dict(data["stop_words"])
        shingles = cls(**named)
        if "stem" in data and data["stem"] != shingles.to_dict()["stem"]:
            then, now = data["stem"].get("snowball"), snowball_version()
            raise StorageError(f"made with stems of PyStemmer {then}, here is {now}: install {then}, or make it again")
        return shingles

    def occurrences(self, column: TextColumn, start: int, stop: int) -> tuple[U64, I64]:
        """Return the hash of every occurrence in rows start..stop, in reading order, and the rows' offsets from 0 on.

        Safe to call from many threads; meant for spans of some 100 KB of text.

        >>> hashes, offsets = Shingles(width=1).occurrences(as_column(["to be or not to be", ""]), 0, 2)
        >>> offsets.tolist(), len(set(hashes.tolist()))
        ([0, 6, 6], 4)
        """
        hashes, _, offsets = self.tagged(column, start, stop, NO_KEY)
        return hashes, offsets

    def tagged(self, column: TextColumn, start: int, stop: int, key: U64) -> tuple[U64, U32, I64]:
        """Return what `occurrences` does and, between hashes and offsets, a tag of each under a key (`draw_key`).

        >>> from sosie.features.tags import draw_key
        >>> hashes, tags, offsets = Shingles(width=1).tagged(as_column(["to be or not to be"]), 0, 1, draw_key())
        >>> len(set(hashes.tolist())), len(set(tags.tolist()))
        (4, 4)
        """
        if not 0 <= start <= stop <= len(column):
            raise UsageError(f"rows {start}..{stop} do not lie in a column of {len(column)} texts")
        tables = unicode_tables()
        rows = (tables, column.data, column.offsets, start, stop)
        if self.unit == "code":
            return code_rows(*rows, self.width, key)
        if self.unit == "prefix":
            text, starts, ends = word_rows(*rows)
            return *prefix_hashes(text, starts, self.width, key), ends
        if self.stem is None and self.left_out is None:
            return shingle_rows(*rows, self.width, self.unit == "char", key)
        text, starts, ends = word_rows(*rows)
        with lexicon(self.stem, self.left_out) as known:
            return shingle_numbers(known.numbers(text, starts), ends, known.stems, known.places, self.width, key)

    def extract(self, texts: Any, *, counts: bool = False, threads: int | None = None) -> Features:
        """Return the distinct shingles of every text, sorted, with how often each occurs if asked for."""
        parts = ordered_map(lambda span: span.features(counts), cut(as_column(texts), self), threads)
        return Features.joined(list(parts))

    def _words_left_out(self) -> StopWords | None:
        if self.stop_words is None or isinstance(self.stop_words, StopWords):
            return self.stop_words
        if self.left_out is not None and self.left_out.name == self.stop_words:
            return self.left_out
        return stop_words(self.stop_words)
