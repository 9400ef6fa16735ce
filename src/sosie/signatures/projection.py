"""Random projection: the signs of inner products with random vectors (Charikar 2002; NFL Equations 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import collection_frequencies
from sosie.features.spans import RowSpan
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting, fixed_point, weights
from sosie.kernels.sign.projection import FIELDS, project
from sosie.signatures.rows import Made, SignedRows, sign_rows, trimmed
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Angular, Spec

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

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        """Sign texts, or `Features` (with counts, unless they all weigh 1)."""
        return sign_rows(texts, self.spec.shingles, self._sign, width=-(-self.spec.bits // 64), threads=threads)

    def _sign(self, span: RowSpan) -> Made:
        features = span.features()
        words = np.empty((len(features), -(-self.spec.bits // 64)), np.uint64)
        fixed = fixed_point(weights(features, self.spec.weighting, self.frequencies))
        first_lane = self.spec.seed * (MAXIMUM_BITS // FIELDS)
        project(features.hashes, features.offsets, fixed, self.spec.vectors == "ternary", first_lane, words)
        return Made(trimmed(words, self.spec.bits), features.sizes > 0)
