"""What a distance in bits, or in tables, says of the similarity, and how far such an estimate may be off."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.features.phrases import Phrases
from sosie.index.hamming import HammingIndex
from sosie.index.keys import KeyIndex
from sosie.index.words import WordIndex
from sosie.signatures.signer import Signer
from sosie.types import F64

AnyIndex = HammingIndex | KeyIndex | WordIndex
Reader = Signer | Phrases  # what makes rows of texts
_MARGIN = 1.96  # standard deviations: 95 of 100 estimates are not further off


def estimated_similarity(index: AnyIndex, signer: Reader | None, distances: Any) -> F64 | None:
    """Return the similarity that each distance is an estimate of, to four digits; None without a signer that knows.

    Estimates below 0 are 0.
    """
    estimate = _estimate(index, signer, np.asarray(distances, np.float64))
    return None if estimate is None else estimate.round(4)


def margin_of_error(index: AnyIndex, signer: Reader | None, distances: Any) -> F64 | None:
    """Return how far estimates of the similarity are off at most, in 95 of 100 cases; None where there are none.

    Each bit, or each table, is one trial of a binomial distribution.
    """
    if isinstance(index, WordIndex):
        return None
    trials = index.tables if isinstance(index, KeyIndex) else index.bits
    differ = np.asarray(distances, np.float64)
    # One success and one failure more (Agresti and Coull): where all bits agree, that is still only a sample.
    share = (differ + 2) / (trials + 4)
    off = _MARGIN * np.sqrt(share * (1 - share) / (trials + 4)) * trials
    low, found, high = (_estimate(index, signer, np.clip(differ + step * off, 0, trials)) for step in (1, 0, -1))
    if low is None or found is None or high is None:
        return None
    return np.maximum(high - found, found - low).round(4)


def _estimate(index: AnyIndex, signer: Reader | None, distances: F64) -> F64 | None:
    if not isinstance(signer, Signer):
        return None
    estimate = signer.spec.similarity(distances, keys=isinstance(index, KeyIndex))
    return None if estimate is None else np.maximum(estimate, 0.0)
