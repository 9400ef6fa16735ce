"""Thresholds as exact fractions."""

from __future__ import annotations

from fractions import Fraction

from sosie.errors import UsageError

FINEST = 10**6  # denominators beyond this would overflow the integer comparison of large documents


def as_fraction(threshold: float | str | Fraction) -> Fraction:
    """Return a threshold as the fraction its decimal form says, so that 0.8 is 4/5 and comparisons are exact.

    >>> as_fraction(0.8)
    Fraction(4, 5)
    """
    try:
        fraction = Fraction(str(threshold)).limit_denominator(FINEST)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"threshold must be a number in (0, 1], got {threshold!r}") from None
    if not 0 < fraction <= 1:
        raise UsageError(f"threshold must be greater than 0 and at most 1, got {threshold}")
    return fraction
