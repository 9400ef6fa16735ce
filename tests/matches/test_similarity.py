"""Thresholds: the fraction that a decimal says, within bounds that integers can compare."""

from fractions import Fraction

import pytest

from sosie import UsageError
from sosie.matches.similarity import as_fraction


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.8, "4/5"), ("0.8", "4/5"), ("4/5", "4/5"), (1, "1"), (1 / 3, "1/3"), (0.95, "19/20"), (Fraction(2, 7), "2/7")],
)
def test_a_threshold_is_what_its_decimal_form_says(given, expected):
    assert as_fraction(given) == Fraction(expected)


@pytest.mark.parametrize(
    "wrong", [0, -1, 1.0001, "", "eighty", "1/0", float("nan"), float("inf"), "1e-9", 0.9999999, None]
)
def test_what_is_no_threshold(wrong):
    with pytest.raises(UsageError, match="threshold must be"):
        as_fraction(wrong)
