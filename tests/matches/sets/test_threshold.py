"""Thresholds: the fraction that a decimal says, within bounds that integers can compare; what measures imply."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie import UsageError
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sets.threshold import as_fraction, cosine_reaches, rounded_reaches, share_reaches


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


def every_pair_of_sets(largest: int):
    """Sizes of two sets and of what they share."""
    for a in range(1, largest):
        for b in range(a, largest):
            for shared in range(a + 1):
                yield a, b, shared


@pytest.mark.parametrize("threshold", ["1", "9/10", "4/5", "1/2", "1/4"])
def test_no_similar_pair_of_sets_is_below_what_signatures_look_for(threshold):
    t = Fraction(threshold)
    least_jaccard, least_cosine = Similarity("cosine").least_jaccard(t), Similarity("jaccard").least_cosine(t)
    by_cosine = [Fraction(c, a + b - c) for a, b, c in every_pair_of_sets(40) if Fraction(c * c, a * b) >= t * t]
    assert min(by_cosine) >= least_jaccard
    by_jaccard = [Fraction(c * c, a * b) for a, b, c in every_pair_of_sets(40) if Fraction(c, a + b - c) >= t]
    assert min(by_jaccard) >= least_cosine**2
    assert Similarity("jaccard").least_jaccard(t) == Similarity("cosine").least_cosine(t) == t


def test_the_bounds_are_reached():
    """One set holds the other: 1 of 4 features is a cosine of 1/2 and a Jaccard similarity of 1/4."""
    assert Similarity("cosine").least_jaccard(Fraction(1, 2)) == Fraction(1, 4)
    assert Similarity("jaccard").least_cosine(Fraction(1, 2)) == Fraction(2, 3)  # 2 of 3 shared by sets of 3


def test_what_signatures_cannot_find_is_wrong_usage():
    for bound in (Similarity("containment").least_jaccard, Similarity("containment").least_cosine):
        with pytest.raises(UsageError, match="--method exact"):
            bound(Fraction(1, 2))
    weighted = Similarity("cosine", np.ones(3))
    with pytest.raises(UsageError, match="minhash compares sets"):
        weighted.least_jaccard(Fraction(1, 2))
    assert weighted.least_cosine(Fraction(1, 2)) == Fraction(1, 2)


def test_measures_and_weights():
    with pytest.raises(UsageError, match="measure must be jaccard, cosine or containment, got 'dice'"):
        Similarity("dice")
    for measure in ("jaccard", "containment"):
        with pytest.raises(UsageError, match="weights are for the cosine"):
            Similarity(measure, np.ones(2))
    given = np.ones(2)
    assert not Similarity("cosine", given).weights.flags.writeable and given.flags.writeable


@settings(max_examples=300)
@given(
    st.integers(1, 300), st.integers(1, 300), st.integers(0, 300), st.sampled_from(["1", "4/5", "7/10", "1/3", "1/2"])
)
@example(9, 1, 1, "1/3")
def test_pairs_at_the_threshold_are_in_by_every_rule(a, b, shared, threshold):
    """Sizes of two sets and what they share, decided from what was measured: the same as by exact fractions."""
    shared, fraction = min(shared, a, b), Fraction(threshold)
    sizes = [np.array([value], np.int64) for value in (shared, a, b)]
    for total in (a + b - shared, min(a, b)):
        exact = Fraction(shared, total) >= fraction
        assert share_reaches(sizes[0], np.array([total]), fraction).tolist() == [exact]
    cosine = sizes[0] / np.sqrt(np.float64(a) * np.float64(b))
    exact = Fraction(shared * shared, a * b) >= fraction * fraction
    assert cosine_reaches(cosine, *sizes, fraction).tolist() == [exact]
    rounded = np.floor(cosine * 2.0**40 + 0.5) / 2.0**40
    assert rounded_reaches(rounded, fraction).tolist() == [exact]
