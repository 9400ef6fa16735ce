"""The statistics of an embedding: the document frequencies of a collection, and where each of its features points."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError
from sosie.features.frequencies import DocumentFrequencies
from sosie.kernels.sets.counts import leading_bits, lookup_counts
from sosie.shown import counted
from sosie.signatures.spec import State
from sosie.types import F64, I32, I64, U64

LARGEST_EXPONENT = 30


@dataclass(frozen=True, eq=False)
class Basis:
    """The projection P of an embedding y = P x, a row for each feature: `directions[i]` 2^-`exponent` is that of i.

    Fixed-point numbers make the same bits on every CPU. How a basis is computed may differ in the last digits between
    CPUs, so it is stored with what it made, and named by its digest.

    >>> from sosie.features.frequencies import count_frequencies
    >>> from sosie.features.shingles import Shingles
    >>> basis = basis_of(count_frequencies([["a rose", "is a rose"]], Shingles(1)), np.eye(3, 2) / 4)
    >>> basis.dimensions, basis.exponent, basis.projection.tolist()
    (2, 30, [[0.25, 0.0], [0.0, 0.25], [0.0, 0.0]])
    """

    frequencies: DocumentFrequencies
    directions: I32
    exponent: int

    def __repr__(self) -> str:
        return f"Basis({self.directions.shape[1]:,} dimensions of {counted(len(self.frequencies), 'feature')})"

    def __post_init__(self) -> None:
        features = len(self.frequencies)
        if self.directions.dtype != np.int32 or self.directions.ndim != 2 or len(self.directions) != features:
            shape = f"{self.directions.dtype}{list(self.directions.shape)}"
            raise MismatchError(f"the directions of {features} features are int32[{features}, dimensions], got {shape}")
        if type(self.exponent) is not int or not 0 <= self.exponent <= LARGEST_EXPONENT:
            raise MismatchError(f"the exponent of a basis is from 0 to {LARGEST_EXPONENT}, got {self.exponent}")
        object.__setattr__(self, "directions", read_only(self.directions))

    @property
    def dimensions(self) -> int:
        """How many coordinates an embedded document has."""
        return int(self.directions.shape[1])

    @property
    def projection(self) -> F64:
        """The directions as numbers: P of STEIN's Remark 5, transposed."""
        return np.asarray(np.ldexp(self.directions, -self.exponent), np.float64)

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        digest = hashlib.sha256(f"{self.frequencies.digest} {self.exponent} {self.dimensions} ".encode())
        digest.update(np.ascontiguousarray(self.directions, "<i4").view(np.uint8).data)
        return digest.hexdigest()[:32]

    def state(self) -> State:
        """Return what is stored."""
        counted = self.frequencies
        said = {"documents": counted.documents, "length": counted.length, "exponent": self.exponent}
        return said, {"features": counted.features, "counts": counted.counts, "directions": self.directions}

    def places(self, hashes: U64) -> I64:
        """Return the row of each feature, counted from 1 on; 0 for those that are unknown."""
        found = np.empty(len(hashes), np.int64)
        lookup_counts(self.frequencies.features, self._numbers, *self._directory, read_only(hashes), found)
        return found

    @cached_property
    def _numbers(self) -> I64:
        return read_only(np.arange(1, len(self.frequencies) + 1))

    @cached_property
    def _directory(self) -> tuple[I64, int]:
        return leading_bits(self.frequencies.features)


def basis_of(frequencies: DocumentFrequencies, projection: F64) -> Basis:
    """Round a projection, a row for each feature of the frequencies, to fixed-point numbers of 30 bits."""
    largest = float(np.abs(projection).max(initial=0.0))
    exponent = LARGEST_EXPONENT - max(math.frexp(largest)[1], 0)
    return Basis(frequencies, np.rint(np.ldexp(projection, exponent)).astype(np.int32), exponent)


def restored_basis(meta: dict[str, Any], arrays: dict[str, Any]) -> Basis:
    """Return the basis that `Basis.state` gave away."""
    counted = DocumentFrequencies(arrays["features"], arrays["counts"], meta["documents"], meta["length"])
    return Basis(counted, arrays["directions"], meta["exponent"])
