"""Features of a collection, sorted, with a count of each that is looked up by feature."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError
from sosie.kernels.sets.counts import leading_bits, lookup_counts
from sosie.types import I64, U64


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """What the statistics of a collection share: `counts[i]` is that of `features[i]`, which are sorted.

    >>> FeatureCounts(np.array([3, 7], np.uint64), np.array([1, 5])).lookup(np.array([7, 4], np.uint64)).tolist()
    [5, 0]
    """

    features: U64
    counts: I64

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
        object.__setattr__(self, "features", read_only(self.features))
        object.__setattr__(self, "counts", read_only(self.counts))

    def __len__(self) -> int:
        return len(self.features)

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
