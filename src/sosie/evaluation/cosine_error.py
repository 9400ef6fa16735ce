"""How far the cosine that signatures stand for is from the true one, by similarity (NFL Table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sosie.errors import MismatchError
from sosie.evaluation.cosines import distances, each_pair
from sosie.types import F64, I64, Features, Signatures

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
