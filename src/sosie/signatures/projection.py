"""Random projection: the signs of inner products with random vectors (Charikar 2002; NFL Equations 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import collection_frequencies
from sosie.features.spans import RowSpan
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting, fixed_point, weights
from sosie.kernels.sign.projection import FIELDS, GAUSSIAN_SPREAD, TERNARY_SPREAD, project, project_sums
from sosie.kernels.sign.simhash import signs
from sosie.signatures.rows import Made, SignedRows, scaled, sign_rows, trimmed
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Angular, Spec
from sosie.types import I64, Features, Signatures

Vectors = Literal["gaussian", "ternary"]

VECTORS: tuple[Vectors, ...] = get_args(Vectors)
MAXIMUM_BITS = 4096


@dataclass(frozen=True, kw_only=True)
class RandomProjection(Angular, Spec):
    """Signatures of 1 to 4096 bits; their Hamming distance estimates the angle between two documents' features.

    `vectors` are "gaussian", or "ternary" (+1, 0 and -1 with probabilities 1/6, 2/3, 1/6). They are drawn from seed and
    feature. `weighting` is that of `Simhash`, whose vectors are of +1 and -1: for texts of few features, or of one that
    outweighs the others, Gaussian vectors estimate better.

    >>> signer = RandomProjection(bits=1000).fit()
    >>> a, b = signer.sign(["the cat sat on the mat by the door", "the cat sat on the mat by the window"]).words
    >>> bool(signer.spec.similarity(np.bitwise_count(a ^ b).sum()) > 0.7)  # 5 of 6 shingles are shared
    True
    """

    method: ClassVar[str] = "projection"
    version: ClassVar[int] = 1
    volatile: ClassVar[bool] = True
    embedding: ClassVar[str] = "projections on random Gaussian or ternary vectors"

    bits: int = 1000
    vectors: Vectors = "gaussian"
    weighting: Weighting = "tf"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.bits <= MAXIMUM_BITS:
            raise UsageError(f"bits must be from 1 to {MAXIMUM_BITS}, got {self.bits}")
        if self.vectors not in VECTORS:
            raise UsageError(f"vectors must be one of {', '.join(VECTORS)}, got {self.vectors!r}")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")

    @property
    def needs_texts(self) -> bool:
        """Whether features weigh by their frequencies in a collection."""
        return self.weighting in FITTED

    def fit(self, texts: Any = None, *, threads: int | None = None) -> ProjectionSigner:
        """Return a signer; for tf-idf and BM25 it counts the collection first, as `Simhash.fit` does."""
        if not self.needs_texts or texts is None:
            return ProjectionSigner(self)
        return ProjectionSigner(self, collection_frequencies(texts, self.shingles, threads))


@dataclass(frozen=True)
class ProjectionSigner(Signer):
    """Makes random projections of texts, or of features made elsewhere."""

    spec: RandomProjection

    def sign(self, texts: Any, *, ids: Any = None, volatility: bool = False, threads: int | None = None) -> Signatures:
        """Sign texts, or `Features` (with counts, unless they all weigh 1).

        `volatility` keeps the sums behind the bits (PSM Equation 4), divided by the L2 norm of the weights and by the
        standard deviation of the vectors' numbers: over all vectors their variance is 1, as that of simhash is.

        >>> kept = RandomProjection(bits=64).fit().sign(["the cat sat on the mat"], volatility=True)
        >>> kept.volatility.shape, bool(kept.words[0, 0] & np.uint64(1)) == bool(kept.volatility[0, 0] > 0)
        ((1, 64), True)
        """
        signed = self.rows(texts, volatility=volatility, threads=threads)
        return self.signatures(signed, signed.ids(ids))

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        return sign_rows(texts, self.spec.shingles, self._sign, width=self._width, threads=threads)

    def _volatile_words(self, texts: Any, threads: int | None) -> SignedRows:
        return sign_rows(texts, self.spec.shingles, self._sign_volatile, width=self._width, threads=threads)

    def _sign(self, span: RowSpan) -> Made:
        features, fixed = self._weighed(span)
        words = np.empty((len(features), self._width), np.uint64)
        project(features.hashes, features.offsets, fixed, self._ternary, self._first_lane, words)
        return Made(trimmed(words, self.spec.bits), features.sizes > 0)

    def _sign_volatile(self, span: RowSpan) -> Made:
        features, fixed = self._weighed(span)
        words = np.empty((len(features), self._width), np.uint64)
        sums = np.empty((len(features), 64 * self._width), np.int64)
        project_sums(features.hashes, features.offsets, fixed, self._ternary, self._first_lane, sums)
        signs(sums, words)
        spread = TERNARY_SPREAD if self._ternary else GAUSSIAN_SPREAD
        kept = scaled(sums[:, : self.spec.bits], fixed, features.sizes, spread)
        return Made(trimmed(words, self.spec.bits), features.sizes > 0, sums=kept)

    def _weighed(self, span: RowSpan) -> tuple[Features, I64]:
        features = span.features()
        return features, fixed_point(weights(features, self.spec.weighting, self.frequencies))

    @property
    def _width(self) -> int:
        return -(-self.spec.bits // 64)

    @property
    def _ternary(self) -> bool:
        return self.spec.vectors == "ternary"

    @property
    def _first_lane(self) -> int:
        return self.spec.seed * (MAXIMUM_BITS // FIELDS)
