"""How well a Hamming distance stands for a cosine: precision and recall of every radius (PSM 8.2, Figure 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.types import F64, I32, I64


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
        _ratio(true, np.cumsum(pairs)),
        _ratio(true, np.full(length, true[-1])),
        _ratio(np.bincount(distances, cosines, length), pairs),
    )


def _ratio(part: F64 | I64, whole: I64) -> F64:
    found = np.full(len(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
