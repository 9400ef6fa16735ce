"""Simhash: the signs of a random projection of the features (Charikar 2002; PSM Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import collection_frequencies
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting, fixed_point
from sosie.features.weighting import weights as weigh
from sosie.kernels.sets.distinct import distinct
from sosie.kernels.sign.simhash import signs, simhash, simhash_sums, simhash_weighted
from sosie.parallel import ordered_map, spans
from sosie.signatures.angular import Angular
from sosie.signatures.signer import Signer
from sosie.signatures.spec import SPAN, Signed, Spec, sign_spans
from sosie.types import F32, I64, U64, Features, Signatures

MAXIMUM_WEIGHT = float(1 << 24)
MAXIMUM_BITS = 4096


@dataclass(frozen=True, kw_only=True)
class Simhash(Angular, Spec):
    """Signatures of 1 to 4096 bits; their Hamming distance estimates the angle between two documents' features.

    `weighting` is "tf" (a feature weighs as often as it occurs), "binary" (each distinct feature weighs 1), "tf-idf" or
    "bm25" (rare features weigh more: the signer is fitted to a collection).

    >>> signer = Simhash(bits=64).fit()
    >>> a, b, c = signer.sign(["the cat sat on the mat", "The cat sat on the mat!", "a dog ran off"]).words[:, 0]
    >>> int(a ^ b).bit_count(), int(a ^ c).bit_count() > 15
    (0, True)
    """

    method: ClassVar[str] = "simhash"
    version: ClassVar[int] = 1
    embedding: ClassVar[str] = "projections on random signs"

    bits: int = 64
    weighting: Weighting = "tf"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.bits <= MAXIMUM_BITS:
            raise UsageError(f"bits must be from 1 to {MAXIMUM_BITS}, got {self.bits}")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")

    @property
    def needs_texts(self) -> bool:
        """Whether features weigh by their frequencies in a collection."""
        return self.weighting in FITTED

    def fit(self, texts: Any = None, *, threads: int | None = None) -> SimhashSigner:
        """Return a signer; for tf-idf and BM25 it counts the collection first, others read no texts.

        The collection is texts, `Features`, a `Source`, a `Reading`, or `DocumentFrequencies` counted before.

        >>> signer = Simhash(weighting="tf-idf").fit(["the cat sat on the mat", "the dog sat on the mat"])
        >>> signer.frequencies.documents, len(signer.sign(["the bird sat on the mat"]))
        (2, 1)
        """
        if not self.needs_texts or texts is None:
            return SimhashSigner(self)
        return SimhashSigner(self, collection_frequencies(texts, self.shingles, threads))


@dataclass(frozen=True)
class SimhashSigner(Signer):
    """Makes simhash signatures of texts, or of features made elsewhere."""

    spec: Simhash

    def sign(self, texts: Any, *, ids: Any = None, volatility: bool = False, threads: int | None = None) -> Signatures:
        """Sign texts, or `Features`; see `sign_weighted` for the volatility."""
        counted = self.spec.weighting != "binary"
        given = isinstance(texts, Features)
        if volatility or (given and counted):
            features = texts if given else self.spec.shingles.extract(texts, counts=counted, threads=threads)
            return self._sign_features(features, self._fixed_weights(features), ids, volatility, threads)
        signed = sign_spans(texts, self.spec.shingles, self._sign_occurrences, threads)
        return Signatures(signed.rows, self.spec.bits, signed.ids(ids), self.digest, signed.unsigned)

    def sign_weighted(
        self,
        features: Features,
        weights: Any,
        *,
        ids: Any = None,
        volatility: bool = False,
        threads: int | None = None,
    ) -> Signatures:
        """Sign features by weights of their own, one for each of `features.hashes`.

        `volatility` keeps the sums W_j behind the bits, divided by the L2 norm of the weights: the closer to 0, the
        likelier bit j flips in a near-duplicate (PSM section 5).
        """
        values = np.asarray(weights, np.float64)
        if values.shape != features.hashes.shape:
            raise UsageError(f"{values.size} weights for {len(features.hashes)} features")
        if not np.isfinite(values).all() or (np.abs(values) > MAXIMUM_WEIGHT).any():
            raise UsageError(f"weights must be finite and at most {MAXIMUM_WEIGHT:.0f} in absolute value")
        return self._sign_features(features, fixed_point(values), ids, volatility, threads)

    def _sign_features(
        self, features: Features, fixed: I64, ids: Any, volatility: bool, threads: int | None
    ) -> Signatures:
        def task(span: tuple[int, int]) -> tuple[U64, F32 | None]:
            offsets = features.offsets[span[0] : span[1] + 1]
            here = slice(offsets[0], offsets[-1])
            sign = self._sign_volatile if volatility else self._sign_weighted
            return sign(features.hashes[here], offsets - offsets[0], fixed[here])

        # A row takes as much as its words do, so that many short or empty rows need no more memory than few long ones.
        sizes = features.offsets + self._words * np.arange(len(features.offsets))
        cuts = spans(sizes, SPAN // 8) or [(0, 0)]
        words, sums = zip(*ordered_map(task, cuts, threads), strict=True)
        rows = np.flatnonzero(features.sizes)
        signed = Signed(np.concatenate(words)[rows], rows, len(features))
        kept = np.concatenate(sums)[rows] if volatility else None
        return Signatures(signed.rows, self.spec.bits, signed.ids(ids), self.digest, signed.unsigned, kept)

    def _sign_occurrences(self, hashes: U64, offsets: I64) -> U64:
        if not self.spec.needs_texts:
            return self._sign_equal(hashes, offsets)
        features = Features(*distinct(hashes, offsets, True))
        return self._sign_weighted(features.hashes, features.offsets, self._fixed_weights(features))[0]

    def _sign_equal(self, hashes: U64, offsets: I64) -> U64:
        if self.spec.weighting == "binary":
            hashes, offsets, _ = distinct(hashes, offsets, False)
        words = np.empty((len(offsets) - 1, self._words), np.uint64)
        simhash(hashes, offsets, self._mixed, self._lane, words)
        return self._trim(words)

    def _sign_weighted(self, hashes: U64, offsets: I64, fixed: I64) -> tuple[U64, None]:
        words = np.empty((len(offsets) - 1, self._words), np.uint64)
        simhash_weighted(hashes, offsets, fixed, self._mixed, self._lane, words)
        return self._trim(words), None

    def _sign_volatile(self, hashes: U64, offsets: I64, fixed: I64) -> tuple[U64, F32]:
        sums = np.empty((len(offsets) - 1, 64 * self._words), np.int64)
        simhash_sums(hashes, offsets, fixed, self._mixed, self._lane, sums)
        words = np.empty((len(sums), self._words), np.uint64)
        signs(sums, words)
        # Each row is summed by itself: differences of running sums would depend on the rows before it.
        row = np.repeat(np.arange(len(sums)), np.diff(offsets))
        squares = np.bincount(row, fixed.astype(np.float64) ** 2, minlength=len(sums))
        norms = np.sqrt(np.maximum(squares, 1.0))
        return self._trim(words), (sums[:, : self.spec.bits] / norms[:, None]).astype(np.float32)

    def _fixed_weights(self, features: Features) -> I64:
        return fixed_point(weigh(features, self.spec.weighting, self.frequencies))

    @property
    def _words(self) -> int:
        return -(-self.spec.bits // 64)

    @property
    def _mixed(self) -> bool:
        # Up to 64 bits a feature's word is its hash; wider signatures and other seeds draw words from it.
        return self.spec.bits > 64 or self.spec.seed > 0

    @property
    def _lane(self) -> int:
        return self.spec.seed * (MAXIMUM_BITS // 64)

    def _trim(self, words: U64) -> U64:
        if self.spec.bits % 64:
            words[:, -1] &= np.uint64((1 << self.spec.bits % 64) - 1)
        return words
