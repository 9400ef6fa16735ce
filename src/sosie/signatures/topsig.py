"""TopSig: each term leaves its weight at a few of the places of a signature (Geva and De Vries 2011; TOPK, ISSL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import TermCounts, collection_terms
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.features.weighting import FIXED_POINT, fixed_point
from sosie.kernels.sign.topsig import term_weights, topsig
from sosie.signatures.rows import Made, SignedRows, sign_rows, trimmed
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Angular, Spec
from sosie.types import F64, Features

MAXIMUM_BITS = 4096


@dataclass(frozen=True, kw_only=True)
class TopSig(Angular, Spec):
    """Signatures of 2 to 4096 bits for search by words; the signer is fitted to a collection.

    A term adds its weight at `bits // density // 2` places, drawn from seed and term, and subtracts it at as many
    others. Occurring c times in a text of so many words, and cf times among all words of the collection, it weighs
    (c - 1/2) LL with LL = ln((c / words) (all words / cf)); terms with LL <= 0 are left out. A place whose sum is 0 has
    the bit of the document's simhash; texts of fewer than `least_terms` terms that weigh have no signature.

    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a bird sang in the tree"]
    >>> signed = TopSig(shingles=Shingles(1, stem="porter"), least_terms=2).fit(texts).sign([*texts, "cats"])
    >>> len(signed), signed.bits, signed.unsigned.tolist()
    (3, 1024, [3])
    """

    method: ClassVar[str] = "topsig"
    version: ClassVar[int] = 1
    embedding: ClassVar[str] = "sums of term weights at random places"

    shingles: Shingles = Shingles(width=1)
    bits: int = 1024
    density: int = 21
    least_terms: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.bits <= MAXIMUM_BITS:
            raise UsageError(f"bits must be from 2 to {MAXIMUM_BITS}, got {self.bits}")
        if not 1 <= self.density <= self.bits // 2:
            raise UsageError(f"density must be from 1 to half the bits, {self.bits // 2}, got {self.density}")
        if self.least_terms < 1:
            raise UsageError(f"least_terms must be at least 1, got {self.least_terms}")

    @property
    def needs_texts(self) -> bool:
        """Always: terms weigh by how often they occur in a collection."""
        return True

    @property
    def places(self) -> int:
        """How many places a term adds its weight to; it subtracts it at as many others."""
        return self.bits // self.density // 2

    def fit(self, texts: Any = None, *, threads: int | None = None) -> TopSigSigner:
        """Return a signer; counts the terms of texts, `Features`, a `Source`, a `Reading`, or takes `TermCounts`."""
        return TopSigSigner(self, None if texts is None else collection_terms(texts, self.shingles, threads))

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> TermCounts:
        """Return the term counts that were stored."""
        return TermCounts(arrays["features"], arrays["counts"])


@dataclass(frozen=True)
class TopSigSigner(Signer):
    """Makes TopSig signatures of texts, or of features with their counts."""

    spec: TopSig
    statistics: TermCounts | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.statistics is not None and not self.statistics.total:
            raise UsageError("the collection has no terms: fit TopSig to texts with words")

    def weights(self, features: Features) -> F64:
        """Return the weight of each of `features.hashes`, a multiple of 2^-16; 0 for terms that are left out."""
        assert self.statistics is not None
        if features.counts is None:
            raise UsageError("TopSig needs term counts: extract the features with counts=True")
        found, known = np.empty(len(features.hashes)), self.statistics.lookup(features.hashes)
        term_weights(features.counts, features.offsets, known, self.statistics.total, found)
        return fixed_point(found) / FIXED_POINT

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        """Sign texts, or `Features` with counts."""
        return sign_rows(texts, self.spec.shingles, self._sign, width=-(-self.spec.bits // 64), threads=threads)

    def _sign(self, span: RowSpan) -> Made:
        spec, features = self.spec, span.features()
        fixed = fixed_point(self.weights(features))
        words = np.zeros((len(features), -(-spec.bits // 64)), np.uint64)
        topsig(features.hashes, features.offsets, fixed, spec.places, spec.seed, spec.bits, words)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(fixed > 0)])
        weighing = before[features.offsets[1:]] - before[features.offsets[:-1]]
        return Made(trimmed(words, spec.bits), features.sizes > 0, weighing >= spec.least_terms)
