"""How a pair exactly at the threshold is decided: it is in, and no rounding ever says otherwise.

A threshold is the fraction that its decimal form says: 0.8 is 4/5. What it is compared with:

- sets, by any measure: how many features two sets of these sizes share, and how many they must share, in integers
  (`required_shared` in `kernels/sets/similarity.py`; of pairs that are measured already, `share_reaches`);
- integer weights, as term counts: in integers wherever rounding could decide (`cosine_reaches`);
- float weights: cosine and threshold, both rounded to a multiple of 2^-40 (`rounded_reaches`; `measure_pair` there).
"""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np

from sosie.errors import UsageError
from sosie.kernels.sets.similarity import FINE, Criterion
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.types import F64, I64, Bools

FINEST = 10**6  # denominators beyond this would overflow the integer comparison of large documents
ROUNDING = Fraction(1, 10**12)
CLOSE = 1e-9  # a cosine so close to a bound is compared in integers


def as_fraction(threshold: float | str | Fraction) -> Fraction:
    """Return a threshold as the fraction its decimal form says, so that 0.8 is 4/5 and comparisons are exact.

    >>> as_fraction(0.8)
    Fraction(4, 5)
    """
    try:
        exact = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"threshold must be a number above 0 and at most 1, as in 0.8, got {threshold!r}") from None
    fraction = exact.limit_denominator(FINEST)
    if not 0 < exact <= 1:
        meant = (
            f": for {float(exact):g} percent, write {float(exact / 100):g}"
            if 1 < exact <= 100 and exact % 1 == 0
            else ""
        )
        raise UsageError(f"threshold must be greater than 0 and at most 1, got {threshold}{meant}")
    # 1/3 as a float is meant to be 1/3; 0.9999999 is not meant to be 1
    if fraction == 0 or abs(fraction - exact) > ROUNDING:
        raise UsageError(f"threshold must be given with at most six decimals, got {threshold}")
    return fraction


def criterion_of(similarity: Similarity, threshold: float | str | Fraction, split: int = 0) -> Criterion:
    """Return what counts as a similar pair, as the kernels take it; rows from `split` on are the second collection."""
    fraction = as_fraction(threshold)
    return Criterion(get_args(Measure).index(similarity.measure), fraction.numerator, fraction.denominator, split)


def share_reaches(shared: I64, total: I64, fraction: Fraction) -> Bools:
    """Compare shared / total >= fraction, in integers.

    >>> share_reaches(np.array([4, 79]), np.array([5, 100]), Fraction(4, 5)).tolist()
    [True, False]
    """
    return np.asarray(shared * fraction.denominator >= fraction.numerator * total)


def cosine_reaches(cosine: F64, dots: I64, norms_a: I64, norms_b: I64, fraction: Fraction) -> Bools:
    """Compare cosine >= fraction; where rounding could decide, in integers: dot^2 q^2 >= p^2 |a|^2 |b|^2.

    `norms_a` and `norms_b` are the sums of squared weights: of sets, their sizes.

    >>> cosine_reaches(np.array([0.7999999999999999]), *np.array([[4], [5], [5]]), Fraction(4, 5)).tolist()
    [True]
    """
    reaches = np.asarray(cosine >= float(fraction))
    close = np.flatnonzero(np.abs(cosine - float(fraction)) < CLOSE)
    dot, a, b = (side[close].astype(object) for side in (dots, norms_a, norms_b))  # integers of any size
    reaches[close] = (dot * fraction.denominator) ** 2 >= fraction.numerator**2 * a * b
    return reaches


def rounded_reaches(cosine: F64, fraction: Fraction) -> Bools:
    """Compare a cosine of float weights, as it was measured, with the fraction rounded as it is.

    >>> rounded_reaches(np.array([round(0.7 * 2**40) / 2**40]), Fraction(7, 10)).tolist()  # which is below 0.7
    [True]
    """
    return np.asarray(cosine >= np.floor(float(fraction) * FINE + 0.5) / FINE)
