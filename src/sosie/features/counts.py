"""The features of a collection, counted: pieces on threads, merged as runs, and looked up by feature."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from sosie.arrays import read_only
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import MismatchError, UsageError
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan, cut_all
from sosie.kernels.sets.counts import leading_bits, lookup_counts, merge_counts
from sosie.parallel import ordered_map
from sosie.runs import Runs
from sosie.types import I64, U64

SPAN = 1 << 20  # bytes of text, or of features, that one task counts
MOST = 2**62  # occurrences, of which sums are made
AHEAD = 8  # tasks per thread that wait while runs are merged

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CountRun:
    """Features, sorted and distinct, and a count of each: what is merged until a collection is counted.

    >>> a, b = (CountRun(np.array(features, np.uint64), np.array([1, 2])) for features in ([3, 7], [7, 9]))
    >>> a.merged(b).features.tolist(), a.merged(b).counts.tolist()
    ([3, 7, 9], [1, 3, 2])
    """

    features: U64
    counts: I64

    def __len__(self) -> int:
        return len(self.features)

    def merged(self, other: CountRun) -> CountRun:
        """Return the features of either run with the sums of their counts."""
        mine, theirs = (self.features, self.counts), (other.features, other.counts)
        return CountRun(*merge_counts(*map(read_only, mine), *map(read_only, theirs)))


@dataclass(frozen=True, eq=False)
class FeatureCounts(CountRun):
    """What the statistics of a collection share: `counts[i]` is that of `features[i]`, which are sorted.

    >>> FeatureCounts(np.array([3, 7], np.uint64), np.array([1, 5])).lookup(np.array([7, 4], np.uint64)).tolist()
    [5, 0]
    """

    def __post_init__(self) -> None:
        if self.features.dtype != np.uint64 or self.counts.dtype != np.int64 or self.features.ndim != 1:
            raise MismatchError(
                f"features and counts are uint64 and int64, got {self.features.dtype} and {self.counts.dtype}"
            )
        if self.features.shape != self.counts.shape:
            raise MismatchError(f"{self.counts.size} counts for {self.features.size} features")
        if np.any(self.features[1:] <= self.features[:-1]):
            raise MismatchError("the features of a collection are sorted and distinct")
        if len(self) and self.counts.min() < 1:
            raise MismatchError(f"a feature of a collection occurs in it, got a count of {self.counts.min()}")
        if self.counts.sum(dtype=np.float64) >= MOST:
            raise MismatchError("the features of a collection occur more often than can be counted")
        object.__setattr__(self, "features", read_only(self.features))
        object.__setattr__(self, "counts", read_only(self.counts))

    def lookup(self, hashes: U64) -> I64:
        """Return the count of each feature, 0 for those that are unknown."""
        found = np.empty(len(hashes), np.int64)
        lookup_counts(self.features, self.counts, *self._directory, read_only(hashes), found)
        return found

    def digest_after(self, head: str) -> str:
        """Return a digest of a text, the features and the counts: 32 hexadecimal digits."""
        digest = hashlib.sha256(head.encode())
        for array, kind in ((self.features, "<u8"), (self.counts, "<i8")):
            digest.update(np.ascontiguousarray(array, kind).view(np.uint8).data)
        return digest.hexdigest()[:32]

    @cached_property
    def _directory(self) -> tuple[I64, int]:
        return leading_bits(self.features)


def count_spans(
    batches: Iterable[Any], shingles: Shingles, count: Callable[[RowSpan], T], threads: int | None = None
) -> Iterator[T]:
    """Cut batches of texts, or of `Features`, count every span on threads, and yield what was counted in order."""
    return ordered_map(count, cut_all(batches, shingles, SPAN), threads, ahead=AHEAD)


def batches_of(collection: Any, threads: int | None = None) -> Iterable[Any]:
    """Return the batches of a collection: texts, `Features`, a `Source` or a `Reading` of any size."""
    reading = collection.batches(threads) if isinstance(collection, Source) else collection
    if not isinstance(reading, Reading):
        return [reading]
    if reading.documents:
        raise UsageError("this reading has begun, so its first texts are gone: pass the Source, or its batches() anew")
    return (batch.texts for batch in reading)


def merge_all(runs: Iterable[CountRun]) -> CountRun:
    """Merge runs as they come, so that each feature is held about once, twice while two runs become one.

    >>> merge_all(summed(np.array([feature], np.uint64), np.array([1])) for feature in (7, 3, 7)).counts.tolist()
    [1, 2]
    """
    held: Runs[CountRun] = Runs()
    for run in runs:
        held = held.added(run, CountRun.merged)
    return held.whole(CountRun.merged) or CountRun(np.empty(0, np.uint64), np.empty(0, np.int64))


def summed(hashes: U64, counts: I64) -> CountRun:
    """Return features in any order, with repeats, as a run: sorted, with the sum of the counts of each."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(ordered)]
    sums = np.add.reduceat(counts[order], first, dtype=np.int64) if len(first) else np.empty(0, np.int64)
    return CountRun(ordered[first], sums)
