"""What signatures say of pairs, beside their true similarity.

- `cosine_error`: how far the cosine that signatures stand for is from the true one, by similarity (NFL Table 1).
- `hamming_quality`: how well a distance stands for a cosine: precision and recall of every radius (PSM 8.2, Figure 6).
- `stress`: how far an embedding is off where it matters, precision stress and recall stress (STEIN Definition 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.evaluation.signatures.cosines import distances, each_pair
from sosie.types import F64, I32, I64, Bools, Features, Signatures

LEAST = (0.0, 0.1, 0.2)  # the intervals of the paper: all pairs, and those whose cosine is not below .1 and .2


class Estimating(Protocol):
    """A signer whose spec says which similarity a Hamming distance stands for."""

    @property
    def spec(self) -> Any:
        """What has `similarity(distance)`."""

    def sign(self, texts: Any) -> Signatures:
        """Sign texts, or `Features`."""


@dataclass(frozen=True, eq=False)
class CosineError:
    """`error[i]` is the mean absolute error over the `pairs[i]` pairs whose true cosine is at least `least[i]`.

    `bias[i]` is the mean of estimate less cosine: what more bits do not take away. Both are NaN where there are none.
    """

    least: F64
    pairs: I64
    error: F64
    bias: F64


def cosine_error(cosines: F64, estimates: F64, least: Sequence[float] = LEAST) -> CosineError:
    """Compare the estimate of each pair with its cosine.

    >>> found = cosine_error(np.array([0.0, 0.1, 0.5]), np.array([0.3, 0.1, 0.4]))
    >>> found.pairs.tolist(), found.error.round(3).tolist(), found.bias.round(3).tolist()
    ([3, 2, 1], [0.133, 0.05, 0.1], [0.067, -0.05, -0.1])
    """
    if cosines.shape != estimates.shape:
        raise MismatchError(f"{estimates.size} estimates for {cosines.size} cosines")
    apart = [(estimates - cosines)[cosines >= bound] for bound in least]
    pairs = np.array([each.size for each in apart], np.int64)
    error = np.array([np.abs(each).mean() if each.size else np.nan for each in apart])
    bias = np.array([each.mean() if each.size else np.nan for each in apart])
    return CosineError(np.asarray(least, np.float64), pairs, error, bias)


def signer_error(signer: Estimating, features: Features, cosines: F64, least: Sequence[float] = LEAST) -> CosineError:
    """Sign rows of features and compare the estimates of all pairs with the cosines of every two rows.

    Pairs of which one has no signature do not count.

    >>> from sosie.features.shingles import Shingles
    >>> from sosie.signatures.projection import RandomProjection
    >>> features = Shingles(1).extract(["a b c d", "a b c d", "e f"], counts=True)
    >>> true = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> found = signer_error(RandomProjection(bits=4000).fit(), features, true, least=(0, 0.5))
    >>> found.pairs.tolist(), bool(found.error[0] < 0.1), found.error[1].item()
    ([3, 1], True, 0.0)
    """
    count = len(features)
    if cosines.shape != (count, count):
        raise MismatchError(f"cosines of every two of {count} rows, got {list(cosines.shape)}")
    signed = signer.sign(features)
    rows = np.delete(np.arange(count), signed.unsigned)
    a, b = each_pair(len(rows))
    return cosine_error(cosines[rows[a], rows[b]], signer.spec.similarity(distances(signed.words)[a, b]), least)


@dataclass(frozen=True, eq=False)
class HammingQuality:
    """What each distance h from 0 to the number of bits is worth, over given pairs.

    - `pairs[h]`: how many are at the distance h.
    - `precision[h]`: of those within h, the share whose cosine reaches the threshold; NaN where there are none.
    - `recall[h]`: of those whose cosine reaches the threshold, the share within h; NaN where there are none.
    - `cosine[h]`: the mean cosine of those at the distance h; NaN where there are none.
    """

    pairs: I64
    precision: F64
    recall: F64
    cosine: F64

    @property
    def any_similar(self) -> bool:
        """Whether the cosine of any pair reaches the threshold: where none does, recall says nothing."""
        return not bool(np.isnan(self.recall[-1]))

    @property
    def balance(self) -> int:
        """The smallest radius that finds something similar at which recall is not below precision, as in the paper."""
        reached = (self.recall >= self.precision) & (self.recall > 0)
        return int(np.argmax(reached)) if reached.any() else len(self.pairs) - 1


def hamming_quality(cosines: F64, distances: I32, bits: int, threshold: float) -> HammingQuality:
    """Compare the distance of each pair with its cosine.

    >>> found = hamming_quality(np.array([0.95, 0.92, 0.3]), np.array([1, 3, 3], np.int32), 4, threshold=0.9)
    >>> found.recall.tolist(), found.precision[1:].round(2).tolist(), found.balance
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.67, 0.67], 3)
    """
    length = bits + 1
    pairs = np.bincount(distances, minlength=length)
    true = np.cumsum(np.bincount(distances[cosines >= threshold], minlength=length))
    return HammingQuality(
        pairs,
        ratio(true, np.cumsum(pairs)),
        ratio(true, np.full(length, true[-1])),
        ratio(np.bincount(distances, cosines, length), pairs),
    )


def ratio(part: F64 | I64, whole: I64) -> F64:
    """Divide, and give NaN where there is nothing to divide by."""
    found = np.full(len(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


@dataclass(frozen=True)
class Stress:
    """What an embedding does at a threshold: `returned` pairs are above it as embedded, `similar` ones in truth.

    `precision_stress` is the squared error of the similarities of the returned pairs over the sum of their squared true
    similarities; `recall_stress` is the same of the similar pairs. Each is NaN where there are no such pairs.
    """

    threshold: float
    precision_stress: float
    recall_stress: float
    returned: int
    similar: int
    both: int

    @property
    def precision(self) -> float:
        """The share of the returned pairs that are similar; NaN if none is returned."""
        return self.both / self.returned if self.returned else float("nan")

    @property
    def recall(self) -> float:
        """The share of the similar pairs that are returned; NaN if there are none."""
        return self.both / self.similar if self.similar else float("nan")


def stress(similarity: Any, embedded: Any, thresholds: Iterable[float]) -> list[Stress]:
    """Return the stress of each threshold, of pairs with these similarities, in truth and as embedded.

    >>> at, = stress([0.9, 0.8, 0.1], [0.9, 0.4, 0.6], [0.5])
    >>> round(at.precision_stress, 3), round(at.recall_stress, 3), at.precision, at.recall
    (0.305, 0.11, 0.5, 0.5)
    """
    true, found = np.asarray(similarity, np.float64), np.asarray(embedded, np.float64)
    if true.shape != found.shape or true.ndim != 1:
        raise MismatchError(f"similarities of {true.size} pairs in truth, and of {found.size} as embedded")
    return [_stress(true, found, threshold) for threshold in thresholds]


def pairs_of(matrix: F64) -> F64:
    """Return the similarities of all pairs i < j of a symmetric matrix, row by row.

    >>> pairs_of(np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]])).tolist()
    [0.2, 0.3, 0.4]
    """
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


def _stress(true: F64, found: F64, threshold: float) -> Stress:
    if not 0 <= threshold <= 1:
        raise UsageError(f"a threshold is from 0 to 1, got {threshold}")
    similar, returned = true > threshold, found > threshold
    counts = (int(which.sum()) for which in (returned, similar, returned & similar))
    return Stress(threshold, _relative_error(true, found, returned), _relative_error(true, found, similar), *counts)


def _relative_error(true: F64, found: F64, which: Bools) -> float:
    norm = float((true[which] ** 2).sum())
    return float(((true[which] - found[which]) ** 2).sum()) / norm if norm else float("nan")
