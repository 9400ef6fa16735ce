"""Prefix classes: how often each class of features is to be expected, and how far a document deviates (STEIN 2.3)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError, UsageError
from sosie.kernels.sets.counts import leading_bits, lookup_counts
from sosie.kernels.sign.mix import draw_classes
from sosie.signatures.statistics import State
from sosie.types import F64, I64, U64, Features


@dataclass(frozen=True, eq=False)
class PrefixClasses:
    """A reference distribution by class: `classes[i]` is the class of `features[i]`, numbered from 1.

    `features` are sorted; any other feature is of a class that its hash draws. In the reference, features of class c
    occur `occurrences[c]` times. Scheme s cuts the deviations of class c at `cuts[s, c]`, which ascend.
    """

    features: U64
    classes: I64
    occurrences: I64
    cuts: F64
    lane: int = 0

    def __post_init__(self) -> None:
        for name in ("features", "classes", "occurrences", "cuts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def restored(cls, arrays: dict[str, Any], lane: int, shape: tuple[int, int, int]) -> PrefixClasses:
        """Return stored classes; raise if signing with them could leave an array, or they are not of this shape."""
        made = cls(arrays["features"], arrays["classes"], arrays["occurrences"], arrays["cuts"], lane)
        kinds = [(made.features, np.uint64), (made.classes, np.int64), (made.occurrences, np.int64)]
        if any(array.dtype != kind or array.ndim != 1 for array, kind in kinds) or made.cuts.dtype != np.float64:
            raise StorageError("the classes are not stored as numbers of this version. Fit again.")
        count = shape[1]
        if len(made.classes) != len(made.features) or len(made.occurrences) != count or made.cuts.shape != shape:
            raise StorageError("the classes are not those of the spec. Fit again.")
        if np.any(made.features[1:] <= made.features[:-1]) or np.any((made.classes < 1) | (made.classes > count)):
            raise StorageError("the classes of features are not in order. Fit again.")
        if np.any(made.occurrences < 0) or not (np.isfinite(made.cuts).all() and (np.diff(made.cuts) >= 0).all()):
            raise StorageError("occurrences are negative, or cuts do not ascend. Fit again.")
        return made

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        digest = hashlib.sha256(f"{self.cuts.shape} {self.lane} ".encode())
        for array, kind in (
            (self.features, "<u8"),
            (self.classes, "<i8"),
            (self.occurrences, "<i8"),
            (self.cuts, "<f8"),
        ):
            digest.update(np.ascontiguousarray(array, kind).tobytes())
        return digest.hexdigest()[:32]

    def state(self) -> State:
        """Return what is stored of them."""
        names = ("features", "classes", "occurrences", "cuts")
        return {}, {name: getattr(self, name) for name in names}

    @cached_property
    def expected(self) -> F64:
        """The share of all occurrences that is to be expected in each class; no class is impossible."""
        count = len(self.occurrences)
        return np.asarray((self.occurrences + 0.5) / (int(self.occurrences.sum()) + 0.5 * count))

    def known(self, hashes: U64) -> I64:
        """Return the class of every feature, from 1 on, or 0 where the reference does not have it."""
        found = np.empty(len(hashes), np.int64)
        lookup_counts(self.features, self.classes, *self._directory, read_only(hashes), found)
        return found

    def classified(self, hashes: U64) -> I64:
        """Return the class of every feature, from 0 on."""
        found = self.known(hashes)
        draw_classes(read_only(hashes), self.lane, len(self.occurrences), found)
        return found

    def deviations(self, features: Features) -> F64:
        """Return y = (f - e) / sqrt(e (1 - e) / length) for each document and class: f is the class's share in it.

        Made of additions, multiplications, divisions and roots, which IEEE 754 rounds in one way everywhere.
        """
        if features.counts is None:
            raise UsageError("classes of features need term counts: extract the features with counts=True")
        count, expected = len(self.occurrences), self.expected
        places = np.repeat(np.arange(len(features)) * count, features.sizes) + self.classified(features.hashes)
        counts = np.bincount(places, features.counts, len(features) * count).reshape(-1, count)
        lengths = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return np.asarray((counts - lengths * expected) / np.sqrt(lengths * (expected * (1 - expected))))

    @cached_property
    def _directory(self) -> tuple[I64, int]:
        return leading_bits(self.features)
