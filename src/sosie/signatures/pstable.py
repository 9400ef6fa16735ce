"""p-stable locality-sensitive hashing: random projections cut into intervals (Datar et al. 2004; STEIN 2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import collection_frequencies
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting
from sosie.features.weighting import weights as weigh
from sosie.kernels.sign.keys import sum_keys, tuple_keys
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.sign.pstable import DRAW_BITS, DRAWS, project
from sosie.kernels.sign.weigh import unit_weights
from sosie.signatures.rows import FUNCTIONS, Made, SignedRows, sign_rows
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.types import F64, I32, I64, Features

MAXIMUM_FUNCTIONS = 1 << 14
UNIT = 1 << 24  # what the L2 norm of a document's weights is, as integers
DEVIATION = 1 << 12  # what the standard deviation of the normal distribution is, as integers
MAXIMUM_WIDTH = float(1 << 20)


@dataclass(frozen=True, kw_only=True)
class PStable(Spec):
    """Keys for the cosine: `multiplicity` tables, each with `code_length` functions floor((a.x + c) / interval).

    x are the weights of a document's features, divided by their L2 norm; a is a Gaussian vector and c a shift, drawn
    from the seed, of each function's own. With encoding "tuple" a key is a hash of the values of a table's functions;
    with "sum", as in STEIN, it is their sum, and all functions have one shift: more documents collide by chance.

    >>> signer = PStable(code_length=8).fit()
    >>> keys = signer.keys(["the cat sat on the mat", "The cat sat on the mat!", "a dog ran off"]).values
    >>> keys.shape, int((keys[0] == keys[1]).sum()), int((keys[0] == keys[2]).sum()) < 10
    ((3, 20), 20, True)
    """

    method: ClassVar[str] = "p-stable"
    version: ClassVar[int] = 1
    makes: ClassVar[tuple[str, ...]] = ("keys",)
    embedding: ClassVar[str] = "projections on Gaussian vectors"
    quantisation: ClassVar[str] = "intervals of one length"

    shingles: Shingles = Shingles(1)
    code_length: int = 24
    multiplicity: int = 20
    interval: float = 4.0
    encoding: Literal["tuple", "sum"] = "tuple"
    weighting: Weighting = "tf"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("code_length", "multiplicity"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.code_length * self.multiplicity > MAXIMUM_FUNCTIONS:
            raise UsageError(
                f"code_length * multiplicity must be at most {MAXIMUM_FUNCTIONS}, got "
                f"{self.code_length} * {self.multiplicity}"
            )
        if not 1 / UNIT <= self.interval <= MAXIMUM_WIDTH:
            raise UsageError(f"interval must be from 2^-24 to {MAXIMUM_WIDTH:.0f}, got {self.interval}")
        if self.encoding not in ("tuple", "sum"):
            raise UsageError(f"encoding must be 'tuple' or 'sum', got {self.encoding!r}")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")

    @property
    def needs_texts(self) -> bool:
        """Whether features weigh by their frequencies in a collection."""
        return self.weighting in FITTED

    def fit(self, texts: Any = None, *, threads: int | None = None) -> PStableSigner:
        """Return a signer; for tf-idf and BM25 it counts the collection first, as `Simhash.fit` does."""
        if not self.needs_texts or texts is None:
            return PStableSigner(self)
        return PStableSigner(self, collection_frequencies(texts, self.shingles, threads))

    def recall(self, similarity: float) -> float:
        """Return the probability that documents of this cosine share a key (Datar et al. 2004, section 3.2).

        Documents of cosine s are d = sqrt(2 - 2s) apart, and a function of interval w has one value for both with
        probability p = erf(w / (d sqrt(2))) - sqrt(2 / pi) (d / w) (1 - exp(-w^2 / (2 d^2))); so some tuple of k is the
        same with 1 - (1 - p^k)^l, on average over the seeds. Where tuples are the same, so are their sums.

        >>> [round(PStable(code_length=20, multiplicity=15).recall(cosine), 3) for cosine in (0, 0.5, 0.9, 1)]
        [0.02, 0.162, 0.919, 1.0]
        """
        if not -1 <= similarity <= 1:
            raise UsageError(f"a cosine is from -1 to 1, got {similarity}")
        if similarity == 1:
            return 1.0
        ratio = self.interval / math.sqrt(2 - 2 * similarity)
        beyond = math.sqrt(2 / math.pi) / ratio * -math.expm1(-(ratio**2) / 2)
        same = math.erf(ratio / math.sqrt(2)) - beyond
        return float(1 - (1 - same**self.code_length) ** self.multiplicity)


@dataclass(frozen=True)
class PStableSigner(Signer):
    """Makes keys of texts, or of features made elsewhere."""

    spec: PStable

    def embed(self, texts: Any, *, threads: int | None = None) -> F64:
        """Return the projections a.x, float64[n, code_length * multiplicity]: a row for each document with features.

        These are what the intervals cut; a table's functions are neighbours.

        >>> points = PStable(code_length=200, multiplicity=5).fit().embed(["one two three four", "one two three", ""])
        >>> points.shape, round(float(points[0] @ points[1]) / 1000, 1)  # 3 / sqrt(4 * 3)
        ((2, 1000), 0.9)
        """
        count = self.spec.code_length * self.spec.multiplicity

        def projected(span: RowSpan) -> Made:
            features = span.features()
            return Made(self._sums(features)[:, :count] / (UNIT * DEVIATION), features.sizes > 0)

        rows: F64 = sign_rows(texts, self.spec.shingles, projected, width=count // FUNCTIONS + 1, threads=threads).rows
        return rows

    def _keys(self, texts: Any, threads: int | None) -> SignedRows:
        """Make the keys of texts, or of `Features`: one for each table."""
        shifts = self._shifts()
        encode = tuple_keys if self.spec.encoding == "tuple" else sum_keys

        def sign(span: RowSpan) -> Made:
            features = span.features()
            keys = np.empty((len(features), self.spec.multiplicity), np.uint64)
            values = (self._sums(features)[:, : len(shifts)] + shifts) // self._width
            encode(values, self.spec.code_length, keys)
            return Made(keys, features.sizes > 0)

        width = self.spec.multiplicity * self.spec.code_length // FUNCTIONS + 1
        return sign_rows(texts, self.spec.shingles, sign, width=width, threads=threads)

    def _sums(self, features: Features) -> I64:
        """Return the projections as integers; there may be some columns more than functions."""
        units = np.empty(len(features.hashes), np.int64)
        unit_weights(weigh(features, self.spec.weighting, self.frequencies), features.offsets, UNIT, units)
        lanes = -(-self.spec.code_length * self.spec.multiplicity // DRAWS)
        sums = np.empty((len(features), lanes * DRAWS), np.int64)
        first = self.spec.seed * MAXIMUM_FUNCTIONS
        project(features.hashes, features.offsets, units, normal_quantiles(), first, sums)
        return sums

    @property
    def _width(self) -> int:
        return round(self.spec.interval * UNIT * DEVIATION)

    def _shifts(self) -> I64:
        """Draw the shift of each function from the seed, from 0 to the width; with sums they are the same."""
        functions = np.arange(self.spec.code_length * self.spec.multiplicity)
        if self.spec.encoding == "sum":
            functions[:] = 0
        drawn = (int(splitmix64(np.uint64(self.spec.seed * MAXIMUM_FUNCTIONS + n))) for n in functions.tolist())
        return np.array([word * self._width >> 64 for word in drawn], np.int64)


@cache
def normal_quantiles() -> I32:
    """Return the 4096 quantiles of the normal distribution that a Gaussian vector consists of, as integers.

    >>> quantiles = normal_quantiles() / DEVIATION
    >>> quantiles[-1].round(3).item(), quantiles.mean().item(), quantiles.std().round(3).item()
    (3.668, 0.0, 1.0)
    """
    count = 1 << DRAW_BITS
    upper = [round(NormalDist().inv_cdf((i + 0.5) / count) * DEVIATION) for i in range(count // 2, count)]
    quantiles = np.array([*(-value for value in reversed(upper)), *upper], np.int32)
    quantiles.flags.writeable = False
    return quantiles
