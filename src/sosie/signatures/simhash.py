"""Simhash: the signs of a random projection of the features (Charikar 2002; PSM Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import collection_frequencies
from sosie.features.spans import RowSpan
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting, fixed_point
from sosie.features.weighting import weights as weigh
from sosie.kernels.sets.distinct import distinct
from sosie.kernels.sign.simhash import signs, simhash, simhash_sums, simhash_weighted
from sosie.signatures.rows import Made, SignedRows, scaled, sign_rows, trimmed
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Angular, Spec
from sosie.types import I64, Features, Signatures

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
    volatile: ClassVar[bool] = True
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
        signed = self.rows(texts, volatility=volatility, threads=threads)
        return self.signatures(signed, signed.ids(ids))

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
        fixed, before = fixed_point(values), features.offsets

        def sign(span: RowSpan) -> Made:
            here = fixed[before[span.start] : before[span.stop]]
            return self._weighted(span.features(), here, volatility)

        signed = self._signed(features, sign, threads)
        return self.signatures(signed, signed.ids(ids))

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        binary = self.spec.weighting == "binary"
        equal = binary or not (self.spec.needs_texts or isinstance(texts, Features))
        return self._signed(texts, self._sign_equal if equal else self._sign_weighing, threads)

    def _volatile_words(self, texts: Any, threads: int | None) -> SignedRows:
        return self._signed(texts, lambda span: self._sign_weighing(span, volatility=True), threads)

    def _signed(self, texts: Any, sign: Callable[[RowSpan], Made], threads: int | None) -> SignedRows:
        return sign_rows(texts, self.spec.shingles, sign, width=self._width, threads=threads)

    def _sign_equal(self, span: RowSpan) -> Made:
        """Sign occurrences that all weigh 1."""
        hashes, offsets = span.occurrences()
        if self.spec.weighting == "binary":
            hashes, offsets, _ = distinct(hashes, offsets, False)
        words = np.empty((len(offsets) - 1, self._width), np.uint64)
        simhash(hashes, offsets, self._mixed, self._lane, words)
        return Made(trimmed(words, self.spec.bits), np.diff(offsets) > 0)

    def _sign_weighing(self, span: RowSpan, volatility: bool = False) -> Made:
        """Sign features by the weights that the spec gives them."""
        features = span.features(counts=self.spec.weighting != "binary")
        return self._weighted(features, fixed_point(weigh(features, self.spec.weighting, self.frequencies)), volatility)

    def _weighted(self, features: Features, fixed: I64, volatility: bool) -> Made:
        hashes, offsets, worded = features.hashes, features.offsets, features.sizes > 0
        words = np.empty((len(features), self._width), np.uint64)
        if not volatility:
            simhash_weighted(hashes, offsets, fixed, self._mixed, self._lane, words)
            return Made(trimmed(words, self.spec.bits), worded)
        sums = np.empty((len(features), 64 * self._width), np.int64)
        simhash_sums(hashes, offsets, fixed, self._mixed, self._lane, sums)
        signs(sums, words)
        kept = scaled(sums[:, : self.spec.bits], fixed, features.sizes)
        return Made(trimmed(words, self.spec.bits), worded, sums=kept)

    @property
    def _width(self) -> int:
        return -(-self.spec.bits // 64)

    @property
    def _mixed(self) -> bool:
        # Up to 64 bits a feature's word is its hash; wider signatures and other seeds draw words from it.
        return self.spec.bits > 64 or self.spec.seed > 0

    @property
    def _lane(self) -> int:
        return self.spec.seed * (MAXIMUM_BITS // 64)
