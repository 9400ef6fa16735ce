"""Minhash: the minima of K hash functions over the features (Broder 1997); two documents share one with probability J.

The minima of a document serve as keys (bands of consecutive minima: equal band = candidate) or, b bits of each, as a
binary signature whose expected Hamming distance is bits * (1 - J) / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.arrays import U32, read_only
from sosie.errors import UsageError
from sosie.features.spans import RowSpan
from sosie.kernels.sign.keys import tuple_keys
from sosie.kernels.sign.minhash import BLOCK, minhash, pack_bits
from sosie.kernels.sign.mix import splitmix64
from sosie.parallel import ordered_map, spans
from sosie.planner.models.bands import MINIMA, band_chance, rows_for
from sosie.signatures.rows import FUNCTIONS, Made, SignedRows, sign_rows
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import F64, I64, U64, Features, offsets_of

MAXIMUM_MINIMA = 4096
COLUMN_SPAN = 1 << 18  # features that one task signs: a column grows by some thousand keys at a time


@dataclass(frozen=True, kw_only=True)
class Minhash(Spec):
    """K minima a document: `rows` consecutive ones make a band's key; `b` bits of each make a binary signature.

    >>> signer = Minhash(minima=128, rows=4).fit()
    >>> keys = signer.keys(["one two three four five six", "one two three four five six seven"])
    >>> keys.values.shape, bool((keys.values[0] == keys.values[1]).any())
    ((2, 32), True)
    """

    method: ClassVar[str] = "minhash"
    version: ClassVar[int] = 1
    makes: ClassVar[tuple[str, ...]] = ("signatures", "keys")
    embedding: ClassVar[str] = "minima of hash functions"
    quantisation: ClassVar[str] = "32-bit integers, or b bits of each"
    encoding: ClassVar[str] = "tuple, or bits"

    minima: int = MINIMA
    rows: int = 5
    b: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.minima <= MAXIMUM_MINIMA:
            raise UsageError(f"minima must be from 1 to {MAXIMUM_MINIMA}, got {self.minima}")
        if not 1 <= self.rows <= self.minima:
            raise UsageError(f"rows must be from 1 to the number of minima, {self.minima}, got {self.rows}")
        if not (1 <= self.b <= 32 and self.minima * self.b <= MAXIMUM_MINIMA):
            raise UsageError(f"b must be at least 1 and minima * b at most {MAXIMUM_MINIMA}, got b = {self.b}")

    @property
    def bands(self) -> int:
        """How many keys a document has."""
        return self.minima // self.rows

    @property
    def code_length(self) -> int:
        """The minima of a band."""
        return self.rows

    @property
    def multiplicity(self) -> int:
        """The bands."""
        return self.bands

    @classmethod
    def for_threshold(cls, threshold: float, *, recall: float = 0.999, minima: int = MINIMA, **other: Any) -> Minhash:
        """Return the most selective bands that make a pair at the threshold a candidate with the given probability.

        Below a threshold of some 0.05 even bands of one minimum do not reach .999; `recall` says what they reach.

        >>> spec = Minhash.for_threshold(0.8)
        >>> spec.rows, spec.bands, round(spec.recall(0.8), 5)
        (5, 25, 0.99995)
        """
        return cls(minima=minima, rows=rows_for(threshold, recall, minima), **other)

    def recall(self, similarity: float) -> float:
        """Return the probability that documents of this Jaccard similarity share a key: 1 - (1 - J^rows)^bands.

        >>> round(Minhash(minima=128, rows=8).recall(0.5), 3)
        0.061
        """
        return float(self.chances(np.array([similarity]))[0])

    def chances(self, similarities: F64) -> F64:
        """Return that probability for each of many similarities."""
        return band_chance(similarities, self.rows, self.bands)

    def similarity(self, distances: Any, *, keys: bool = False) -> F64:
        """Return the Jaccard similarity that each distance is an estimate of.

        Of two b-bit signatures, a minimum that differs makes half of its bits differ; of keys, the share of equal ones
        estimates J^rows.

        >>> Minhash().similarity([0, 16, 64]).tolist(), Minhash().similarity([0, 24], keys=True).round(4).tolist()
        ([1.0, 0.75, 0.0], [1.0, 0.5253])
        """
        far = np.asarray(distances, np.float64) / (self.bands if keys else self.minima * self.b)
        estimate = (1 - far) ** (1 / self.rows) if keys else np.maximum(1 - 2 * far, 0.0)
        return np.asarray(estimate)

    def fit(self, texts: Any = None, *, threads: int | None = None) -> MinhashSigner:
        """Return a signer; minhash needs no statistics, so no texts are read."""
        return MinhashSigner(self)


@dataclass(frozen=True)
class MinhashSigner(Signer):
    """Makes minima, keys and binary signatures of texts, or of features made elsewhere."""

    spec: Minhash

    def minima(self, texts: Any, *, threads: int | None = None) -> SignedRows:
        """Return the minima as uint32[n, K]: one row for each document with features."""
        count = self.spec.minima
        return self._signed(texts, lambda minima: minima[:, :count].copy(), threads)

    @contextmanager
    def key_columns(self, features: Features, rows: I64, room: Room) -> Iterator[list[U64]]:
        """Yield the keys of these rows, a column for each band; where they are large together they are in the room.

        >>> import tempfile
        >>> features, signer = Features(np.arange(6, dtype=np.uint64), np.array([0, 3, 6])), Minhash().fit()
        >>> with signer.key_columns(features, np.array([1]), Room(tempfile.mkdtemp())) as columns:
        ...     len(columns), bool(columns[0] == signer.keys(features).values[1, 0])
        (25, True)
        """

        def sign(span: tuple[int, int]) -> U64:
            return self.keys(features.take(rows[slice(*span)]), threads=1).values.T.copy()

        bands = self.spec.bands
        with ExitStack() as stack:
            share = room.memory // bands
            columns = [stack.enter_context(Spill(room.scratch, np.uint64, memory=share)) for _ in range(bands)]
            for keys in ordered_map(sign, spans(offsets_of(features.sizes[rows]), COLUMN_SPAN), room.threads):
                for column, values in zip(columns, keys, strict=True):
                    column.append(values)
            yield [column.array() for column in columns]

    @property
    def _bits(self) -> int:
        return self.spec.minima * self.spec.b

    def _keys(self, texts: Any, threads: int | None) -> SignedRows:
        """Make the keys of texts, or of `Features`: one for each band."""

        def banded(minima: U32) -> U64:
            values = np.empty((len(minima), self.spec.bands), np.uint64)
            tuple_keys(minima, self.spec.rows, values)
            return values

        return self._signed(texts, banded, threads)

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        """Make b-bit minhash signatures of texts, or of `Features`."""

        def packed(minima: U32) -> U64:
            words = np.empty((len(minima), -(-self._bits // 64)), np.uint64)
            pack_bits(minima, self.spec.minima, self.spec.b, words)
            return words

        return self._signed(texts, packed, threads)

    def _signed(self, texts: Any, make: Callable[[U32], Any], threads: int | None) -> SignedRows:
        lanes = self._lanes()

        def sign(span: RowSpan) -> Made:
            hashes, offsets = span.occurrences()
            minima = np.empty((len(offsets) - 1, len(lanes[0])), np.uint32)
            minhash(read_only(hashes), read_only(offsets), lanes[0], lanes[1], minima)
            return Made(make(minima), np.diff(offsets) > 0)

        return sign_rows(texts, self.spec.shingles, sign, width=len(lanes[0]) // FUNCTIONS + 1, threads=threads)

    def _lanes(self) -> tuple[U32, U32]:
        """Draw a hash function for every lane from the seed; whole blocks, so that every K uses one kernel."""
        lanes = -(-self.spec.minima // BLOCK) * BLOCK
        drawn = np.array([splitmix64(np.uint64((self.spec.seed << 16) + lane)) for lane in range(lanes)], np.uint64)
        return drawn.astype(np.uint32), (drawn >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
