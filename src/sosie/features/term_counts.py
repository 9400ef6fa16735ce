"""Term counts: how often each feature occurs in a collection, exactly; not in how many documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from sosie.errors import UsageError
from sosie.features.feature_counts import FeatureCounts
from sosie.features.frequencies import DocumentFrequencies
from sosie.features.runs import AHEAD, Piece, Run, Runs, batches_of, merged, pieces
from sosie.features.shingles import Shingles
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map
from sosie.types import Features


@dataclass(frozen=True, eq=False)
class TermCounts(FeatureCounts):
    """The statistics of a collection: `features[i]`, which are sorted, occurs `counts[i]` times in it.

    The counts of two collections are added to those of both.

    >>> counted = count_terms([["to be or not to be"], ["to do", ""]], Shingles(width=1))
    >>> counted.total, len(counted), sorted(counted.counts.tolist())
    (8, 5, [1, 1, 1, 2, 3])
    """

    def __add__(self, other: TermCounts) -> TermCounts:
        """Return the counts of both collections together."""
        return TermCounts(*merged(Run(self.features, self.counts), Run(other.features, other.counts)))

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


def count_terms(batches: Iterable[Any], shingles: Shingles = Shingles(), threads: int | None = None) -> TermCounts:
    """Count in one pass over batches of texts, or of `Features` with term counts; how they are cut never matters."""
    runs = Runs()
    for run in ordered_map(partial(_count, shingles=shingles), pieces(batches), threads, ahead=AHEAD):
        runs.add(run)
    return TermCounts(*runs.whole())


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


def _count(piece: Piece, shingles: Shingles) -> Run:
    batch, start, stop = piece
    if not isinstance(batch, Features):
        every, _ = shingles.occurrences(batch, start, stop)
        features, _, counts = distinct(every, np.array([0, len(every)]), True)
        return Run(features, np.asarray(counts, np.int64))
    if batch.counts is None:
        raise UsageError("term counts need features with theirs: extract the features with counts=True")
    span = slice(batch.offsets[start], batch.offsets[stop])
    features, place = np.unique(batch.hashes[span], return_inverse=True)
    sums = np.zeros(len(features), np.int64)
    np.add.at(sums, place, batch.counts[span])
    return Run(features, sums)
