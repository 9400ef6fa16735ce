"""Spans: texts, or features extracted before, cut into what one task works on; the same way for every stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sosie.features.tags import NO_KEY
from sosie.kernels.sets.distinct import distinct, distinct_tagged
from sosie.parallel import spans
from sosie.text.column import TextColumn, as_column
from sosie.types import I64, U64, Features

if TYPE_CHECKING:
    from sosie.features.whole import Evidence

SPAN = 1 << 18  # bytes of a span: its features stay in the cache


class RowSpan(NamedTuple):
    """Rows start..stop of a batch, and what its texts are compared by."""

    batch: TextColumn | Features
    start: int
    stop: int
    shingles: Evidence

    @property
    def size(self) -> int:
        """How many bytes of text there are, or of features."""
        size = int(self.batch.offsets[self.stop] - self.batch.offsets[self.start])
        return 8 * size if isinstance(self.batch, Features) else size

    def occurrences(self) -> tuple[U64, I64]:
        """Return the hash of every occurrence, and the rows' offsets; what was extracted before occurs once."""
        if isinstance(self.batch, Features):
            rows = self.batch.rows(self.start, self.stop)
            return rows.hashes, rows.offsets
        return self.shingles.occurrences(self.batch, self.start, self.stop)

    def features(self, counts: bool = True, key: U64 = NO_KEY) -> Features:
        """Return the distinct features of every row, with counts if asked for, and with tags if there is a key.

        Those that were extracted before are returned as they are.
        """
        if isinstance(self.batch, Features):
            return self.batch.rows(self.start, self.stop)
        if not len(key):
            return Features(*distinct(*self.occurrences(), counts))
        return Features(*distinct_tagged(*self.shingles.tagged(self.batch, self.start, self.stop, key), counts))


def cut(texts: Any, shingles: Evidence, size: int | None = None, *, width: int = 0) -> Iterator[RowSpan]:
    """Cut texts or `Features` into spans of about `size` bytes, at least one span; a row takes `width` words more.

    So many short or empty rows need no more memory than few long ones.

    >>> from sosie.features.shingles import Shingles
    >>> [(span.start, span.stop) for span in cut(["one", "two", "three"], Shingles(), 6)]
    [(0, 2), (2, 3)]
    """
    batch = texts if isinstance(texts, Features) else as_column(texts)
    bytes_before = 8 * batch.offsets if isinstance(batch, Features) else batch.offsets
    if width:
        bytes_before = bytes_before + 8 * width * np.arange(len(bytes_before))
    for start, stop in spans(bytes_before, SPAN if size is None else size) or [(0, 0)]:
        yield RowSpan(batch, start, stop, shingles)


def cut_all(batches: Iterable[Any], shingles: Evidence, size: int | None = None) -> Iterator[RowSpan]:
    """Cut one batch of texts, or of `Features`, after the other."""
    for batch in batches:
        yield from cut(batch, shingles, size)
