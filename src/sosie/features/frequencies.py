"""The statistics of a collection: in how many of its documents each feature occurs, and how often in all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.features.counts import MOST, CountRun, FeatureCounts, batches_of, count_spans, merge_all, summed
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.kernels.sets.distinct import distinct
from sosie.shown import counted
from sosie.types import I32, U64, Features


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(FeatureCounts):
    """In how many documents features occur: `counts[i]` of `documents` hold `features[i]`, which are sorted.

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
        for number in (self.documents, self.length):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < MOST:
                raise MismatchError(f"there are no {self.documents} documents of {self.length} features")
        if len(self) and self.counts.max() > self.documents:
            raise MismatchError(f"a feature of {self.documents} documents occurs in 1 to {self.documents} of them")

    def __repr__(self) -> str:
        return f"DocumentFrequencies({counted(len(self), 'feature')} of {counted(self.documents, 'document')})"

    def __add__(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Return the frequencies of both collections together."""
        run = self.merged(other)
        return DocumentFrequencies(
            run.features, run.counts, self.documents + other.documents, self.length + other.length
        )

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        return self.digest_after(f"{self.documents} {self.length} ")

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is stored of them: numbers, and arrays by their names."""
        arrays = {"frequency_features": self.features, "frequency_counts": self.counts}
        return {"documents": self.documents, "length": self.length}, arrays


@dataclass(frozen=True, eq=False)
class TermCounts(FeatureCounts):
    """How often features occur in a collection: `features[i]`, which are sorted, occurs `counts[i]` times.

    The counts of two collections are added to those of both.

    >>> counted = count_terms([["to be or not to be"], ["to do", ""]], Shingles(width=1))
    >>> counted.total, len(counted), sorted(counted.counts.tolist())
    (8, 5, [1, 1, 1, 2, 3])
    """

    def __repr__(self) -> str:
        return f"TermCounts({counted(len(self), 'feature')}, {counted(self.total, 'occurrence')})"

    def __add__(self, other: TermCounts) -> TermCounts:
        """Return the counts of both collections together."""
        run = self.merged(other)
        return TermCounts(run.features, run.counts)

    @cached_property
    def total(self) -> int:
        """How many occurrences the collection holds."""
        return int(self.counts.sum())

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        return self.digest_after(f"terms {self.total} ")

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is stored of them: numbers, and arrays by their names."""
        return {"total": self.total}, {"features": self.features, "counts": self.counts}


def count_frequencies(
    batches: Iterable[Any], shingles: Shingles = Shingles(), threads: int | None = None
) -> DocumentFrequencies:
    """Count documents in one pass over batches of texts, or of `Features` with term counts.

    Pieces of a batch are sorted on threads and merged as runs; nothing depends on how the collection is cut.
    """
    documents = length = 0

    def runs() -> Iterable[CountRun]:
        nonlocal documents, length
        for run, rows, occurrences in count_spans(batches, shingles, _documents_of, threads):
            documents, length = documents + rows, length + occurrences
            yield run

    whole = merge_all(runs())
    return DocumentFrequencies(whole.features, whole.counts, documents, length)


def count_terms(batches: Iterable[Any], shingles: Shingles = Shingles(), threads: int | None = None) -> TermCounts:
    """Count occurrences in one pass over batches of texts, or of `Features` with term counts."""
    whole = merge_all(count_spans(batches, shingles, _terms_of, threads))
    return TermCounts(whole.features, whole.counts)


def collection_frequencies(collection: Any, shingles: Shingles, threads: int | None = None) -> DocumentFrequencies:
    """Count a collection: texts, `Features`, a `Source` or a `Reading` of any size; frequencies are taken as they are.

    >>> collection_frequencies(["a rose", "is a rose"], Shingles(width=1)).documents
    2
    """
    if isinstance(collection, DocumentFrequencies):
        return collection
    return count_frequencies(batches_of(collection, threads), shingles, threads)


def collection_terms(collection: Any, shingles: Shingles, threads: int | None = None) -> TermCounts:
    """Count a collection: texts, `Features`, a `Source` or a `Reading` of any size; counts are taken as they are.

    >>> collection_terms(["a rose", "is a rose"], Shingles(width=1)).total
    5
    """
    if isinstance(collection, TermCounts):
        return collection
    if isinstance(collection, DocumentFrequencies):
        raise UsageError("document frequencies do not say how often a term occurs: pass the texts, or TermCounts")
    return count_terms(batches_of(collection, threads), shingles, threads)


def _documents_of(span: RowSpan) -> tuple[CountRun, int, int]:
    """Return in how many rows of a span each feature occurs, how many rows there are, and all their occurrences."""
    if isinstance(span.batch, Features):
        features = span.features()
        hashes, occurrences = features.hashes, int(_counts_of(features).sum(dtype=np.int64))
    else:
        every, offsets = span.occurrences()
        hashes, occurrences = distinct(every, offsets)[0], len(every)
    return _counted(hashes), span.stop - span.start, occurrences


def _terms_of(span: RowSpan) -> CountRun:
    """Return how often each feature occurs in a span."""
    if isinstance(span.batch, Features):
        features = span.features()
        return summed(features.hashes, _counts_of(features).astype(np.int64))
    return _counted(span.occurrences()[0])


def _counted(hashes: U64) -> CountRun:
    features, _, counts = distinct(hashes, np.array([0, len(hashes)]), True)
    return CountRun(features, np.asarray(counts, np.int64))


def _counts_of(features: Features) -> I32:
    if features.counts is None:
        raise UsageError("statistics of a collection need term counts: extract the features with counts=True")
    return features.counts
