"""The chance that two similar documents are found: by bands of minima, and by signatures of signs within a radius."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from sosie.errors import UsageError
from sosie.planner.facts import F64

MINIMA = 128  # of a document, where nobody says how many
WIDEST = 32  # minima of a band: wider ones tell no more


def band_chance(similarity: Any, rows: int, bands: int) -> F64:
    """Return the chance that two documents of some Jaccard similarity J share a band: 1 - (1 - J^rows)^bands.

    A minimum over a random order of all features is the same in both with the chance J (Broder, On the resemblance and
    containment of documents, 1997); a band is the same if all its `rows` minima are (Indyk and Motwani, Approximate
    nearest neighbors, 1998: AND of rows, OR of bands).

    >>> float(band_chance(0.8, rows=5, bands=25).round(5)), band_chance([0.3, 1.0], rows=5, bands=25).round(3).tolist()
    (0.99995, [0.059, 1.0])
    """
    jaccard = np.asarray(similarity, np.float64)
    return np.asarray(1 - (1 - jaccard**rows) ** bands)


def rows_for(threshold: float, recall: float, minima: int = MINIMA) -> int:
    """Return how many rows a band of so many minima may have, at most, if a pair at the threshold is to be found.

    The more rows, the fewer pairs below the threshold become candidates. Where even bands of one minimum do not reach
    the recall, it is 1.

    >>> rows_for(0.8, 0.999), rows_for(0.8, 0.9), rows_for(0.02, 0.999)
    (5, 8, 1)
    """
    if not 0 < threshold <= 1 or not 0 < recall < 1:
        raise UsageError(f"threshold must be in (0, 1] and recall in (0, 1), got {threshold} and {recall}")
    for rows in range(min(minima, WIDEST), 1, -1):
        if band_chance(threshold, rows, minima // rows) >= recall:
            return rows
    return 1


def bands_for(threshold: float, recall: float, rows: int) -> int:
    """Return the least number of bands of so many rows that finds a pair at the threshold with a chance of `recall`.

    It is log(1 - recall) / log(1 - t^rows), rounded up.

    >>> bands_for(0.8, 0.95, rows=4), bands_for(1.0, 0.95, rows=4)
    (6, 1)
    """
    apart = 1 - threshold**rows
    if apart <= 0:
        return 1
    return max(1, math.ceil(math.log1p(-recall) / math.log(apart))) if apart < 1 else sys.maxsize


def cosine_of(jaccard: Any) -> F64:
    """Return the least cosine of two sets of some Jaccard similarity J: 2J / (1 + J), that of sets of one size.

    Sets of a and b features that share s have J = s / (a + b - s) and the cosine s / sqrt(a b); of all sizes with one
    sum, equal ones have the greatest product.

    >>> float(cosine_of(0.8).round(4))
    0.8889
    """
    similarity = np.asarray(jaccard, np.float64)
    return np.asarray(2 * similarity / (1 + similarity))


def flip_chance(cosine: Any) -> F64:
    """Return the chance that a bit of two signatures of signs differs: their angle / pi.

    A random plane comes between two vectors with that chance (Goemans and Williamson 1995; Charikar, Similarity
    estimation techniques from rounding algorithms, 2002; NFL Equation 2).

    >>> flip_chance([1.0, 0.0]).tolist()
    [0.0, 0.5]
    """
    return np.asarray(np.arccos(np.clip(np.asarray(cosine, np.float64), -1.0, 1.0)) / math.pi)


def radius_chance(cosine: Any, bits: int, radius: int) -> F64:
    """Return the chance that the signatures of two documents are at most `radius` of so many bits apart.

    Bits are independent, so that their distance is binomial (NFL Equation 5, of all bits).

    >>> radius_chance([8 / 9, 1.0], bits=64, radius=17).round(3).tolist()
    [0.994, 1.0]
    """
    flip = flip_chance(cosine)
    total = np.zeros(flip.shape)
    for distance in range(min(radius, bits) + 1):
        total += _binomial(bits, distance, flip)
    return np.asarray(np.minimum(total, 1.0))


def radius_for(cosine: float, bits: int, recall: float = 0.99) -> int:
    """Return the smallest radius that holds a pair of this cosine with a chance of at least `recall`.

    >>> radius_for(8 / 9, bits=64), radius_for(8 / 9, bits=256), radius_for(1.0, bits=64)
    (17, 53, 0)
    """
    if not 0 <= cosine <= 1 or not 0 < recall < 1:
        raise UsageError(f"cosine must be from 0 to 1 and recall between 0 and 1, got {cosine} and {recall}")
    if cosine == 1:
        return 0
    flip = flip_chance(cosine)
    reached, radius = 0.0, -1
    while reached < recall and radius < bits:
        radius += 1
        reached += float(_binomial(bits, radius, flip))
    return radius


def _binomial(count: int, chosen: int, chance: F64) -> F64:
    """Return the chance of so many hits; of a chance of 0 all that there are is no hit."""
    choices = math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)
    hit = np.clip(chance, 1e-300, 1 - 1e-16)
    found = np.exp(choices + chosen * np.log(hit) + (count - chosen) * np.log1p(-hit))
    return np.asarray(np.where(np.asarray(chance) <= 0, float(chosen == 0), found))
