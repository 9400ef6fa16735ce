"""How the points of an embedding become bits or keys, in integers: the same on every CPU.

unit vector x of weights -> y = P x -> z = (y, sqrt(1 - |y|^2) x) -> a.z for random directions a -> signs, or intervals

The last coordinates of z are what the embedding leaves out. Without them all documents that the dimensions do not
describe would lie near 0 and look alike; with them they are as similar as their features are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.errors import MismatchError
from sosie.features.spans import RowSpan
from sosie.features.weighting import weights
from sosie.kernels.sign.keys import tuple_keys
from sosie.kernels.sign.mix import drawn_words
from sosie.kernels.sign.projection import embed
from sosie.kernels.sign.simhash import signs, simhash_sums
from sosie.kernels.sign.weigh import unit_weights
from sosie.signatures.basis import Basis
from sosie.signatures.rows import FUNCTIONS, Made, SignedRows, sign_rows, trimmed
from sosie.signatures.signer import Signer
from sosie.types import F64, I64, U64, Features

if TYPE_CHECKING:
    from sosie.signatures.embedding import Embedding

UNIT = 1 << 20  # what the L2 norm of a document is, as integers
DEVIATION = 4  # the standard deviation of the random directions: set bits of 64, of which 32 are expected
MAXIMUM_FUNCTIONS = 4096


@dataclass(frozen=True)
class EmbeddingSigner(Signer):
    """Embeds texts, or features made elsewhere; makes bits or keys of the points.

    Texts of which none has a known feature raise `UnknownVocabularyError`; `embed` places them at 0.
    """

    spec: Embedding
    statistics: Basis | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.basis.dimensions != self.spec.dimensions:
            raise MismatchError(f"a basis of {self.basis.dimensions} dimensions for {self.spec}")

    @property
    def basis(self) -> Basis:
        """What the signer knows of its collection."""
        assert self.statistics is not None, "an embedding is fitted"
        return self.statistics

    def embed(self, texts: Any, *, threads: int | None = None) -> F64:
        """Return a point for each text, or row of `Features`: float64[n, dimensions], 0 without a known feature.

        The inner product of two points stands for the similarity of their documents.
        """
        signed = self._signed(texts, lambda features: self._embedded(features)[:2], 0, threads)
        points = np.zeros((len(signed.documents) + len(signed.unsigned), self.spec.dimensions))
        points[signed.documents] = signed.rows
        return np.ldexp(points, -self.basis.exponent) / UNIT

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        """Make binary signatures: the signs of random hyperplanes."""
        bits = self.spec.bits
        directions = self._directions(bits)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            words = np.empty((len(values), values.shape[1] // 64), np.uint64)
            signs(values, words)
            return trimmed(words, bits), known

        return self._signed(texts, make, bits, threads)

    def _keys(self, texts: Any, threads: int | None) -> SignedRows:
        """Make keys, one for each table: floor((a.z + c) / width) for every random direction a, hashed."""
        tables, length = self.spec.multiplicity, self.spec.code_length
        width = round(self.spec.interval * DEVIATION * UNIT)
        shifts = (drawn_words(np.arange(tables * length), self.spec.seed) % np.uint64(width)).astype(np.int64)
        directions = self._directions(tables * length)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            intervals = (values[:, : tables * length] + shifts) // width
            keys = np.empty((len(values), tables), np.uint64)
            tuple_keys(intervals.astype(np.uint32), length, keys)
            return keys, known

        return self._signed(texts, make, tables * length, threads)

    def _functions(self, features: Features, directions: F64) -> tuple[I64, I64]:
        """Return for each row its z times the random directions, and how many of its features are known."""
        sums, known, units = self._embedded(features)
        points = (sums + (1 << self.basis.exponent >> 1)) >> self.basis.exponent
        inner = points.astype(np.float64) @ directions.T  # integers below 2^53: exact, in every order
        left = np.sqrt(np.maximum(float(UNIT) ** 2 - (points * points).sum(axis=1), 0.0))
        own = np.empty((len(features), len(directions)), np.int64)
        simhash_sums(features.hashes, features.offsets, units, True, self.spec.seed * (MAXIMUM_FUNCTIONS // 64), own)
        own *= (DEVIATION * np.rint(left)).astype(np.int64)[:, None]
        return inner.astype(np.int64) + own // UNIT, known

    def _embedded(self, features: Features) -> tuple[I64, I64, I64]:
        """Return the points as integers, how many features of each row are known, and the weights of the features."""
        weighed = weights(features, self.spec.weighting, self.basis.frequencies)
        units = np.empty(len(features.hashes), np.int64)
        unit_weights(weighed, features.offsets, UNIT, units)
        sums, known = np.empty((len(features), self.spec.dimensions), np.int64), np.empty(len(features), np.int64)
        embed(self.basis.places(features.hashes), features.offsets, units, self.basis.directions, sums, known)
        return sums, known, units

    def _directions(self, count: int) -> F64:
        """Draw random directions, whole words of them: nearly Gaussian integers, the set bits of 64 less 32."""
        shape = (-(-count // 64) * 64, self.spec.dimensions)
        numbers = np.arange(shape[0] * shape[1]) + MAXIMUM_FUNCTIONS  # those before are shifts
        return np.bitwise_count(drawn_words(numbers, self.spec.seed)).astype(np.float64).reshape(shape) - 32

    def _signed(
        self, texts: Any, make: Callable[[Features], tuple[Any, I64]], functions: int, threads: int | None
    ) -> SignedRows:
        """Make a row of each document with a known feature; `make` returns rows, and how many features are known."""

        def sign(span: RowSpan) -> Made:
            features = span.features()
            rows, known = make(features)
            return Made(rows, features.sizes > 0, known > 0, bool(known.any()))

        width = (functions + self.spec.dimensions) // FUNCTIONS + 1
        return sign_rows(texts, self.spec.shingles, sign, width=width, threads=threads)
