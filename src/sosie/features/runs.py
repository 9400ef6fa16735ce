"""Features of a collection with counts: pieces are counted on threads, and runs of them merged as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.kernels.sets.counts import merge_counts
from sosie.parallel import spans
from sosie.text.column import TextColumn, as_column
from sosie.types import I64, U64, Features

SPAN = 1 << 20  # bytes of text, or of features, that one task counts
AHEAD = 8  # tasks per thread that wait while runs are merged


class Run(NamedTuple):
    """Features, sorted and distinct, and a count of each."""

    features: U64
    counts: I64


class Piece(NamedTuple):
    """Consecutive rows of a batch."""

    batch: TextColumn | Features
    start: int
    stop: int


class Runs:
    """Runs of which each is at least twice as long as the next: each feature is held about once.

    >>> runs = Runs()
    >>> for feature in (7, 3, 7):
    ...     runs.add(Run(np.array([feature], np.uint64), np.array([1])))
    >>> [column.tolist() for column in runs.whole()]
    [[3, 7], [1, 2]]
    """

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def add(self, run: Run) -> None:
        """Merge a run with those that are not long enough to stay beside it."""
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2].features) < 2 * len(self._runs[-1].features):
            self._runs.append(merged(self._runs.pop(), self._runs.pop()))

    def whole(self) -> Run:
        """Return all runs as one."""
        while len(self._runs) > 1:
            self._runs.append(merged(self._runs.pop(), self._runs.pop()))
        return self._runs[0] if self._runs else Run(np.empty(0, np.uint64), np.empty(0, np.int64))


def merged(a: Run, b: Run) -> Run:
    """Return the features of either run with the sums of their counts."""
    return Run(*merge_counts(*map(read_only, a), *map(read_only, b)))


def pieces(batches: Iterable[Any]) -> Iterator[Piece]:
    """Cut batches of texts, or of `Features`, into what one task counts."""
    for batch in batches:
        if isinstance(batch, Features):
            yield from (Piece(batch, *span) for span in spans(batch.offsets, SPAN // 8))
        else:
            column = as_column(batch)
            yield from (Piece(column, *span) for span in spans(column.offsets, SPAN))


def batches_of(collection: Any, threads: int | None = None) -> Iterable[Any]:
    """Return the batches of a collection: texts, `Features`, a `Source` or a `Reading` of any size."""
    reading = collection.batches(threads) if isinstance(collection, Source) else collection
    if not isinstance(reading, Reading):
        return [reading]
    if reading.documents:
        raise UsageError("this reading has begun, so its first texts are gone: pass the Source, or its batches() anew")
    return (batch.texts for batch in reading)
