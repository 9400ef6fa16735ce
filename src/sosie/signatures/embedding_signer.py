"""How the points of an embedding become bits or keys, in integers: the same on every CPU.

unit vector x of weights -> y = P x -> z = (y, sqrt(1 - |y|^2) x) -> a.z for random directions a -> signs, or intervals

The last coordinates of z are what the embedding leaves out. Without them all documents that the dimensions do not
describe would lie near 0 and look alike; with them they are as similar as their features are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.features.weighting import weights
from sosie.kernels.sets.distinct import distinct
from sosie.kernels.sign.minhash import band_keys
from sosie.kernels.sign.projection import embed
from sosie.kernels.sign.simhash import signs, simhash_sums
from sosie.kernels.sign.weigh import unit_weights
from sosie.signatures.basis import Basis
from sosie.signatures.drawn import drawn_words
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Signed, sign_spans
from sosie.signatures.statistics import UnknownVocabularyError
from sosie.types import F64, I64, U64, Features, Keys, Signatures

if TYPE_CHECKING:
    from sosie.signatures.embedding import Embedding

T = TypeVar("T", Signatures, Keys)

UNIT = 1 << 20  # what the L2 norm of a document is, as integers
DEVIATION = 4  # the standard deviation of the random directions: set bits of 64, of which 32 are expected
MAXIMUM_FUNCTIONS = 4096
ROWS = 1024  # documents whose functions are held at a time


@dataclass(frozen=True)
class EmbeddingSigner(Signer):
    """Embeds texts, or features made elsewhere; makes bits or keys of the points."""

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
        dimensions = self.spec.dimensions
        signed, _ = self._signed(texts, lambda features: self._embedded(features)[:2], dimensions, threads)
        points = np.zeros((signed.count, dimensions))
        points[signed.documents] = signed.rows.view(np.int64)
        return np.ldexp(points, -self.basis.exponent) / UNIT

    def sign(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Signatures:
        """Return binary signatures: the signs of random hyperplanes.

        Texts of which none has a known feature raise `UnknownVocabularyError`, here and in `keys`.
        """
        bits = self.spec.bits
        directions = self._directions(bits)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            words = np.empty((len(values), values.shape[1] // 64), np.uint64)
            signs(values, words)
            if bits % 64:
                words[:, -1] &= np.uint64((1 << bits % 64) - 1)
            return words, known

        signed, worded = self._signed(texts, make, -(-bits // 64), threads)
        return _recognised(Signatures(signed.rows, bits, signed.ids(ids), self.digest, signed.unsigned), worded)

    def keys(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Keys:
        """Return the keys, one for each table: floor((a.z + c) / width) for every random direction a, hashed."""
        tables, length = self.spec.multiplicity, self.spec.code_length
        width = round(self.spec.interval * DEVIATION * UNIT)
        shifts = (drawn_words(np.arange(tables * length), self.spec.seed) % np.uint64(width)).astype(np.int64)
        directions = self._directions(tables * length)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            intervals = (values[:, : tables * length] + shifts) // width
            keys = np.empty((len(values), tables), np.uint64)
            band_keys(intervals.astype(np.uint32), length, keys)
            return keys, known

        signed, worded = self._signed(texts, make, tables, threads)
        return _recognised(Keys(signed.rows, signed.ids(ids), self.digest, signed.unsigned), worded)

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
        self, texts: Any, make: Callable[[Features], tuple[Any, I64]], width: int, threads: int | None
    ) -> tuple[Signed, int]:
        """Make a row of each document with a known feature; return, too, how many have any feature.

        `make` returns rows of `width` 64-bit words, and how many features of each are known.
        """
        counted = isinstance(texts, Features)
        if counted and texts.counts is None and self.spec.weighting != "binary":
            raise UsageError(f"{self.spec.weighting} weights need term counts: extract the features with counts=True")

        def sign(hashes: U64, offsets: I64) -> U64:
            return np.concatenate([part(hashes, offsets[i : i + ROWS + 1]) for i in range(0, len(offsets), ROWS)])

        def part(hashes: U64, offsets: I64) -> U64:
            here = hashes[offsets[0] : offsets[-1]]
            rows, known = make(Features(*distinct(here, offsets - offsets[0], True)))
            return np.column_stack([rows.view(np.uint64), known.astype(np.uint64)])

        signed = sign_spans(_repeated(texts) if counted else texts, self.spec.shingles, sign, threads)
        known = signed.rows[:, -1] > 0
        return Signed(signed.rows[known, :width], signed.documents[known], signed.count), len(known)


def _recognised(signed: T, worded: int) -> T:
    """Return what was signed, unless there are documents with features, but none with a known one."""
    if worded and not len(signed):
        raise UnknownVocabularyError(signed)
    return signed


def _repeated(features: Features) -> Features:
    """Return features as occurrences, each as often as it is counted."""
    if features.counts is None:
        return features
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(features.counts, dtype=np.int64)])
    return Features(np.repeat(features.hashes, features.counts), ends[features.offsets])
