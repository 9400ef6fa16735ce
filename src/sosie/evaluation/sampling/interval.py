"""The 95 % interval of a recall that was measured on sampled documents.

Documents are drawn, not pairs: the pairs of a document come together, are often found or missed together, and a few
documents may have most of them. What varies from sample to sample is therefore what documents say, not pairs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from sosie.types import F64, I64

CONFIDENCE = 0.975  # below the upper end of 95 % in the middle


def recall_interval(
    true: F64, found: F64, *, pairs: tuple[float, float], inside: int, documents: int, known: float
) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of two totals over pairs, from a random sample of documents.

    `true` and `found` are what each sampled document adds to the totals, by its similar pairs and by those of them that
    were found; `pairs` are both totals, where a pair of two sampled documents counts once. `inside` of the true pairs
    are reached from either of their ends. The sample is of `documents`, and `known` is what `seen_from_pairs` says of
    all of them, as far as anyone knows.

    The ratio R has the variance of the sum of found - R true over the sampled documents (a ratio estimator, linearised:
    Cochran, Sampling Techniques, 6.3), and of the pairs that both ends would have reached. A sample does not tell what
    documents it lacks. So two are added, one wholly found and one wholly missed, as Agresti and Coull (1998) add two
    successes and two failures: where nothing was missed, this leaves three documents in doubt. They are large, twice as
    large as those that pairs belong to on average, but no larger than the largest, or than is known of all documents.
    Student's quantile goes by how many documents carry the pairs (Kish).

    >>> def interval(documents, missed, partners=1.0):
    ...     true = np.full(documents, partners)
    ...     found = np.where(np.arange(documents) < missed, 0, true)
    ...     pairs = float(true.sum()), float(found.sum())
    ...     low, high = recall_interval(true, found, pairs=pairs, inside=0, documents=10**6, known=0)
    ...     return round(low, 3), round(high, 3)
    >>> interval(1000, missed=0), interval(1000, missed=0, partners=500.0)
    ((0.997, 1.0), (0.997, 1.0))
    >>> interval(1000, missed=100), interval(5, missed=0)
    ((0.881, 0.918), (0.534, 1.0))
    """
    total, right = pairs
    share = len(true) / documents if documents else 1.0
    if not total:
        return 0.0, 1.0
    recall = right / total
    if share == 1:
        return recall, recall
    usual = seen_from_pairs(true)
    large = max(min(2 * usual, float(true.max())), known)
    total, right = total + 2 * large, right + large
    middle = right / total
    beside = middle * (1 - middle)
    squares = float(np.square(found - middle * true).sum()) + large**2 * (1 - 2 * beside)
    variance = (1 - share) * squares + inside * beside * share * (1 - share) ** 2 / (2 - share)
    carriers = float(true.sum()) / usual
    half = float(stdtrit(carriers + 1, CONFIDENCE)) * math.sqrt(variance) / total
    return max(min(middle - half, recall), 0.0), min(max(middle + half, recall), 1.0)


def seen_from_pairs(partners: F64 | I64) -> float:
    """Return how many partners a document has on average if it is met by way of a pair: those with many are met often.

    >>> seen_from_pairs(np.array([1, 1, 1, 1])), seen_from_pairs(np.array([30, 1, 1, 1])), seen_from_pairs(np.zeros(2))
    (1.0, 27.363636363636363, 0.0)
    """
    total = float(partners.sum())
    return float(np.square(partners, dtype=np.float64).sum()) / total if total else 0.0
