"""Shingles: the runs of words or characters that two texts are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sosie.errors import UsageError
from sosie.kernels.distinct import distinct
from sosie.kernels.parallel import ordered_map, spans
from sosie.kernels.shingle import shingle_rows
from sosie.text.column import TextColumn, as_column
from sosie.text.tables import unicode_tables
from sosie.types import I64, U64, Features

_SPAN = 1 << 18  # bytes of text in one piece of work
_WIDEST = 1024


@dataclass(frozen=True)
class Shingles:
    """What counts as evidence: the runs of `width` words or characters of the folded text, hashed with XXH64.

    A text of fewer words than `width` has one shingle of all of them; a text without words has none.

    >>> features = Shingles(width=2).extract(["The cat sat.", "the CAT", "..."])
    >>> features.sizes.tolist()
    [2, 1, 0]
    """

    width: int = 3
    unit: Literal["word", "char"] = "word"

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int) or not 1 <= self.width <= _WIDEST:
            raise UsageError(f"a shingle is 1 to {_WIDEST} units wide, got width={self.width!r}")
        if self.unit not in ("word", "char"):
            raise UsageError(f"shingles are made of 'word' or 'char' units, got unit={self.unit!r}")

    def occurrences(self, column: TextColumn, start: int, stop: int) -> tuple[U64, I64]:
        """Return the hash of every occurrence in rows start..stop, in reading order, and the rows' offsets from 0 on.

        Safe to call from many threads; meant for spans of some 100 KB of text.

        >>> hashes, offsets = Shingles(width=1).occurrences(as_column(["to be or not to be", ""]), 0, 2)
        >>> offsets.tolist(), len(set(hashes.tolist()))
        ([0, 6, 6], 4)
        """
        if not 0 <= start <= stop <= len(column):
            raise UsageError(f"rows {start}..{stop} do not lie in a column of {len(column)} texts")
        return shingle_rows(unicode_tables(), column.data, column.offsets, start, stop, self.width, self.unit == "char")

    def extract(self, texts: Any, *, counts: bool = False, threads: int | None = None) -> Features:
        """Return the distinct shingles of every text, sorted, with how often each occurs if asked for."""
        column = as_column(texts)

        def piece(span: tuple[int, int]) -> tuple[U64, I64, Any]:
            return distinct(*self.occurrences(column, *span), counts)

        pieces = list(ordered_map(piece, spans(column.offsets, _SPAN), threads))
        sizes = [np.diff(offsets) for _, offsets, _ in pieces]
        offsets = np.zeros(len(column) + 1, np.int64)
        np.cumsum(np.concatenate([*sizes, np.empty(0, np.int64)]), out=offsets[1:])
        hashes = np.concatenate([*(values for values, _, _ in pieces), np.empty(0, np.uint64)])
        repeats = np.concatenate([*(found for _, _, found in pieces), np.empty(0, np.int32)]) if counts else None
        return Features(hashes, offsets, repeats)
