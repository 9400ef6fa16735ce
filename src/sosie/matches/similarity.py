"""Thresholds as exact fractions."""

from __future__ import annotations

from fractions import Fraction

from sosie.errors import UsageError

FINEST = 10**6  # denominators beyond this would overflow the integer comparison of large documents
ROUNDING = Fraction(1, 10**12)


def as_fraction(threshold: float | str | Fraction) -> Fraction:
    """Return a threshold as the fraction its decimal form says, so that 0.8 is 4/5 and comparisons are exact.

    >>> as_fraction(0.8)
    Fraction(4, 5)
    """
    try:
        exact = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"threshold must be a number in (0, 1], got {threshold!r}") from None
    fraction = exact.limit_denominator(FINEST)
    if not 0 < exact <= 1:
        raise UsageError(f"threshold must be greater than 0 and at most 1, got {threshold}")
    # 1/3 as a float is meant to be 1/3; 0.9999999 is not meant to be 1
    if fraction == 0 or abs(fraction - exact) > ROUNDING:
        raise UsageError(f"threshold must be given with at most six decimals, got {threshold}")
    return fraction
