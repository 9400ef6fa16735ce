"""Embeddings that are fitted to a collection (STEIN 3): documents as points of few dimensions, then bits or keys.

unit vector x of weights -> y = P x -> z = (y, sqrt(1 - |y|^2) x) -> a.z for random directions a -> signs, or intervals

The last coordinates are what the embedding leaves out. Without them all documents that the k dimensions do not describe
would lie near 0 and look alike; with them they are as similar as their features are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.features.frequencies import count_frequencies
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS, Weighting, weights
from sosie.kernels.distinct import distinct
from sosie.kernels.embedding import embed, unit_weights
from sosie.kernels.minhash import band_keys
from sosie.kernels.simhash import signs, simhash_sums
from sosie.signatures.basis import Basis, basis_of, restored_basis
from sosie.signatures.collected import collected, sampled
from sosie.signatures.drawn import drawn_words
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Signed, Spec, sign_spans
from sosie.types import F64, I64, U64, Features, Keys, Signatures

UNIT = 1 << 20  # what the L2 norm of a document is, as integers
DEVIATION = 4  # the standard deviation of the random directions: set bits of 64, of which 32 are expected
MAXIMUM_DIMENSIONS = 1024
MAXIMUM_FUNCTIONS = 4096
MOST_FEATURES = 1 << 27  # of all documents that are fitted, together
LARGEST_BASIS = 4 << 30  # bytes of a projection while it is computed
STRANGERS = 10  # so many documents with features, none of them known, are of another kind


@dataclass(frozen=True, kw_only=True)
class Embedding(Spec):
    """What the embeddings share: `dimensions` of the points, and how these become bits or keys.

    `sign` makes `bits` signs; `keys` makes `multiplicity` keys of `code_length` intervals of a `width` each. Of the
    collection, `sample` documents drawn by the seed are fitted; None takes all of them.
    """

    quantisation: ClassVar[str] = "signs of random hyperplanes, or intervals of one width"
    encoding: ClassVar[str] = "bits, or a hash of the intervals"

    shingles: Shingles = Shingles(1)
    dimensions: int = 50
    weighting: Weighting = "tf-idf"
    sample: int | None = None
    bits: int = 256
    code_length: int = 24
    multiplicity: int = 20
    width: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.dimensions <= MAXIMUM_DIMENSIONS:
            raise UsageError(f"dimensions must be from 1 to {MAXIMUM_DIMENSIONS}, got {self.dimensions}")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.sample is not None and self.sample < self.dimensions:
            raise UsageError(f"sample must be at least dimensions, {self.dimensions}, got {self.sample}")
        if not 1 <= self.bits <= MAXIMUM_FUNCTIONS:
            raise UsageError(f"bits must be from 1 to {MAXIMUM_FUNCTIONS}, got {self.bits}")
        if not (1 <= self.code_length and 1 <= self.multiplicity):
            raise UsageError(
                f"code_length and multiplicity must be at least 1, got {self.code_length} and {self.multiplicity}"
            )
        if self.code_length * self.multiplicity > MAXIMUM_FUNCTIONS:
            raise UsageError(f"code_length * multiplicity must be at most {MAXIMUM_FUNCTIONS}")
        if not 2.0**-10 <= self.width <= 2.0**10:
            raise UsageError(f"width must be from 2^-10 to 2^10, got {self.width}")

    @property
    def needs_texts(self) -> bool:
        """Embeddings are fitted to a collection."""
        return True

    def fit(self, texts: Any = None, *, threads: int | None = None) -> EmbeddingSigner:
        """Return a signer fitted to texts, `Features` with counts, a `Source` or a `Reading`, or given a `Basis`."""
        if texts is None or isinstance(texts, Basis):
            return EmbeddingSigner(self, texts)
        batches = collected(texts, self.shingles, threads)
        features = sampled(batches if self.sample else self._affordable(batches), self.sample, self.seed)
        return EmbeddingSigner(self, self._basis(features))

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> Basis:
        """Return the basis that was stored."""
        return restored_basis(meta, arrays)

    @abstractmethod
    def project(self, x: Any) -> F64:
        """Return P^T, a row for each column of X; the rows of X are documents of L2 norm 1."""

    @abstractmethod
    def refuse(self, documents: int, features: int) -> None:
        """Raise if so many documents, of so many features together, cost too much."""

    def _affordable(self, batches: Iterable[Features]) -> Iterator[Features]:
        documents = features = 0
        for batch in batches:
            documents += int(np.count_nonzero(batch.sizes))
            features += len(batch.hashes)
            self.refuse(documents, features)
            yield batch

    def _basis(self, features: Features) -> Basis:
        from sosie.signatures.decompose import unit_rows  # SciPy, which only fitting needs

        if self.dimensions > len(features):
            raise UsageError(
                f"dimensions must be at most the number of documents with features, {len(features)}, got "
                f"{self.dimensions}: take fewer dimensions, or fit a larger collection"
            )
        frequencies = count_frequencies([features])
        if (size := 8 * len(frequencies) * self.dimensions) > LARGEST_BASIS:
            raise UsageError(
                f"a projection of {len(frequencies):,} features on {self.dimensions} dimensions takes "
                f"{size / 2**30:,.1f} GiB: take fewer dimensions, narrower shingles, or a sample, as in sample=2000"
            )
        return basis_of(frequencies, self.project(unit_rows(features, weights(features, self.weighting, frequencies))))


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
        signed = self._signed(texts, lambda features: self._embedded(features)[:2], dimensions, threads)
        points = np.zeros((signed.count, dimensions))
        points[signed.documents] = signed.rows.view(np.int64)
        return np.ldexp(points, -self.basis.exponent) / UNIT

    def sign(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Signatures:
        """Return binary signatures: the signs of random hyperplanes."""
        bits = self.spec.bits
        directions = self._directions(bits)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            words = np.empty((len(values), values.shape[1] // 64), np.uint64)
            signs(values, words)
            if bits % 64:
                words[:, -1] &= np.uint64((1 << bits % 64) - 1)
            return words, known

        signed = self._signed(texts, make, -(-bits // 64), threads)
        return Signatures(signed.rows, bits, signed.ids(ids), self.digest, signed.unsigned)

    def keys(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Keys:
        """Return the keys, one for each table: floor((a.z + c) / width) for every random direction a, hashed."""
        tables, length = self.spec.multiplicity, self.spec.code_length
        width = round(self.spec.width * DEVIATION * UNIT)
        shifts = (drawn_words(np.arange(tables * length), self.spec.seed) % np.uint64(width)).astype(np.int64)
        directions = self._directions(tables * length)

        def make(features: Features) -> tuple[U64, I64]:
            values, known = self._functions(features, directions)
            intervals = (values[:, : tables * length] + shifts) // width
            keys = np.empty((len(values), tables), np.uint64)
            band_keys(intervals.astype(np.uint32), length, keys)
            return keys, known

        signed = self._signed(texts, make, tables, threads)
        return Keys(signed.rows, signed.ids(ids), self.digest, signed.unsigned)

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
    ) -> Signed:
        """Make a row of each document with a known feature; `make` returns rows of 64-bit words, and what is known."""
        counted = isinstance(texts, Features)
        if counted and texts.counts is None and self.spec.weighting != "binary":
            raise UsageError(f"{self.spec.weighting} weights need term counts: extract the features with counts=True")

        def sign(hashes: U64, offsets: I64) -> U64:
            rows, known = make(Features(*distinct(hashes, offsets, True)))
            return np.column_stack([rows.view(np.uint64), known.astype(np.uint64)])

        signed = sign_spans(_repeated(texts) if counted else texts, self.spec.shingles, sign, threads)
        known = signed.rows[:, -1] > 0
        if len(known) >= STRANGERS and not known.any():
            raise MismatchError(
                f"none of {len(known):,} documents has one of the {len(self.basis.frequencies):,} features that the "
                "signer was fitted to: fit it to documents of this kind, with the same shingles"
            )
        return Signed(signed.rows[known, :width], signed.documents[known], signed.count)


def _repeated(features: Features) -> Features:
    """Return features as occurrences, each as often as it is counted."""
    if features.counts is None:
        return features
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(features.counts, dtype=np.int64)])
    return Features(np.repeat(features.hashes, features.counts), ends[features.offsets])
