"""Document frequencies: in how many documents of a collection each feature occurs, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.features.feature_counts import FeatureCounts
from sosie.features.runs import AHEAD, Piece, Run, Runs, batches_of, merged, pieces
from sosie.features.shingles import Shingles
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map
from sosie.types import Features


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(FeatureCounts):
    """The statistics of a collection: `counts[i]` of its `documents` hold `features[i]`, which are sorted.

    `length` is the number of feature occurrences in all documents together. The frequencies of two collections are
    added to those of both.

    >>> frequencies = count_frequencies([["to be or not to be"], ["to do", ""]], Shingles(width=1))
    >>> frequencies.documents, frequencies.length, len(frequencies), sorted(frequencies.counts.tolist())
    (3, 8, 5, [1, 1, 1, 1, 2])
    """

    documents: int
    length: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.documents < 0 or self.length < 0:
            raise MismatchError(f"there are no {self.documents} documents of {self.length} features")
        if len(self) and self.counts.max() > self.documents:
            raise MismatchError(f"a feature of {self.documents} documents occurs in 1 to {self.documents} of them")

    def __add__(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Return the frequencies of both collections together."""
        run = merged(Run(self.features, self.counts), Run(other.features, other.counts))
        return DocumentFrequencies(*run, self.documents + other.documents, self.length + other.length)

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        return self.digest_after(f"{self.documents} {self.length} ")

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is stored of them: numbers, and arrays by their names."""
        arrays = {"frequency_features": self.features, "frequency_counts": self.counts}
        return {"documents": self.documents, "length": self.length}, arrays


def count_frequencies(
    batches: Iterable[Any], shingles: Shingles = Shingles(), threads: int | None = None
) -> DocumentFrequencies:
    """Count in one pass over batches of texts, or of `Features` with term counts.

    Pieces of a batch are sorted on threads and merged as runs that double in size. So each feature is held about once,
    twice while two runs become one, and nothing depends on how the collection is cut.
    """
    runs = Runs()
    documents = length = 0
    counted = ordered_map(partial(_count, shingles=shingles), pieces(batches), threads, ahead=AHEAD)
    for run, rows, occurrences in counted:
        documents, length = documents + rows, length + occurrences
        runs.add(run)
    return DocumentFrequencies(*runs.whole(), documents, length)


def collection_frequencies(collection: Any, shingles: Shingles, threads: int | None = None) -> DocumentFrequencies:
    """Count a collection: texts, `Features`, a `Source` or a `Reading` of any size; frequencies are taken as they are.

    >>> collection_frequencies(["a rose", "is a rose"], Shingles(width=1)).documents
    2
    """
    if isinstance(collection, DocumentFrequencies):
        return collection
    return count_frequencies(batches_of(collection, threads), shingles, threads)


def _count(piece: Piece, shingles: Shingles) -> tuple[Run, int, int]:
    """Return the run of a piece, how many rows it has, and how many occurrences they hold."""
    batch, start, stop = piece
    if isinstance(batch, Features):
        if batch.counts is None:
            raise UsageError("document frequencies need term counts: extract the features with counts=True")
        span = slice(batch.offsets[start], batch.offsets[stop])
        hashes, occurrences = batch.hashes[span], int(batch.counts[span].sum(dtype=np.int64))
    else:
        every, offsets = shingles.occurrences(batch, start, stop)
        hashes, occurrences = distinct(every, offsets)[0], len(every)
    features, _, counts = distinct(hashes, np.array([0, len(hashes)]), True)
    return Run(features, np.asarray(counts, np.int64)), stop - start, occurrences
