"""Charts: every pair and cluster is in exactly one bar, and bars are as long as their counts say."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.report.charts import (
    BARS,
    Bar,
    histogram,
    proportion,
    row_chart,
    similarity_bars,
    size_bars,
    tenth_bars,
    tenth_chart,
)


@given(st.lists(st.integers(2, 60) | st.integers(2, 3_000_000), min_size=1))
def test_every_cluster_is_in_the_bar_of_its_size(sizes):
    bars = size_bars(np.array(sizes))
    assert sum(bar.count for bar in bars) == len(sizes)
    assert bars[0].count and bars[-1].count and len(bars) <= 25
    for bar in bars:
        low, _, high = bar.label.replace(",", "").partition(" to ")
        assert bar.count == sum(int(low) <= size <= int(high or low) for size in sizes)


def test_sizes_go_in_round_steps():
    assert [bar.label for bar in size_bars(np.array([2, 1_234]))] == [
        *["2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 to 199", "200 to 499", "500 to 999"],
        "1,000 to 1,999",
    ]
    assert size_bars(np.array([1_234])) == [Bar("1,000 to 1,999", 1)]
    assert size_bars(np.empty(0, np.int64)) == []


@given(
    st.lists(st.fractions(0, 1, max_denominator=400), min_size=1), st.sampled_from([0, 0.1, 0.5, 0.8, 0.85, 0.99, 1])
)
def test_every_pair_is_in_the_bar_of_its_similarity(fractions, threshold):
    fractions = [fraction for fraction in fractions if fraction >= threshold]
    bars = similarity_bars(np.array([float(fraction) for fraction in fractions]), threshold)
    assert sum(bar.count for bar in bars) == len(fractions)
    assert len(bars) <= BARS + 1
    if bars:
        assert bars[-1] == Bar("1", fractions.count(1))
        assert float(bars[0].label) <= threshold + 1e-9
        for low, high in pairwise(bars):
            assert low.count == sum(float(low.label) <= float(f) < float(high.label) for f in fractions)


@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.9])
def test_a_pair_at_the_threshold_is_in_the_first_bar(threshold):
    bars = similarity_bars(np.array([threshold]), threshold)
    assert bars[0] == Bar(bars[0].label, 1) and float(bars[0].label) == threshold


def test_similarities_below_the_threshold_widen_the_axis():
    assert similarity_bars(np.array([0.3, 0.9]), 0.8)[0] == Bar("0.30", 1)


def widths(svg, size):
    return [float(width) for width in re.findall(rf'class="bar[^"]*"[^>]* {size}="([\d.]+)"', svg)]


def test_rows_are_as_long_as_their_counts():
    svg = row_chart([Bar("2", 100), Bar("3", 50), Bar("4", 0), Bar("5 to 9", 1), Bar("<&>", 0)], 'a "name"')
    full, half, none, little, _ = widths(svg, "width")
    assert (half, none) == (full / 2, 0) and little >= 2
    assert "&lt;&amp;&gt;" in svg and 'aria-label="a &quot;name&quot;"' in svg and "50 (33.1 %)" in svg


def test_a_histogram_is_as_high_as_its_counts():
    svg = histogram([Bar("0.8", 80), Bar("0.9", 40), Bar("1", 0)], "name", "axis")
    assert widths(svg, "height") == [190.0, 95.0, 0.0]
    assert "<title>0.8 to 0.9: 80</title>" in svg and "<title>1: 0</title>" in svg


def test_nothing_to_draw():
    for svg in (row_chart([], "none"), histogram([], "none", "none"), proportion([("kept", Bar("kept", 0))], "none")):
        assert svg.startswith("<svg") and "nan" not in svg


def test_parts_add_up():
    svg = proportion([("kept", Bar("kept", 3)), ("dropped", Bar("dropped", 1))], "shares")
    assert re.findall(r'x="([\d.]+)" y="0" width="([\d.]+)"', svg) == [("0.000", "75.000"), ("75.000", "25.000")]


@given(st.lists(st.one_of(st.sampled_from([i / 10 for i in range(-10, 11)]), st.floats(-1, 1)), min_size=1))
def test_every_similarity_is_in_the_tenth_that_it_reaches(similarities):
    bars = tenth_bars(np.array([*similarities, np.nan]))
    assert sum(bar.count for bar in bars) == len(similarities) and 10 <= len(bars) <= 20 and bars[-1].label == "0.9"
    for place, bar in enumerate(bars):
        low, high = float(bar.label), float(bar.label) + 0.1 - 1e-12
        last = place == len(bars) - 1
        inside = sum(low <= value and (last or round(high, 1) > value) for value in similarities)
        assert bar.count == inside


def test_a_line_is_drawn_where_its_similarity_is():
    bars = [Bar(f"{i / 10:.1f}", i) for i in range(10)]
    for value in (0.0, 0.3, 0.55, 1.0):
        drawn = tenth_chart(bars, "links", "similarity", ("least", value))
        line = float(re.search(r'class="threshold" x1="([0-9.]+)"', drawn)[1])
        edges = [float(x) for x in re.findall(r'class="label" x="([0-9.]+)" y="221"', drawn)]
        assert len(edges) == 11 and line == pytest.approx(edges[-1] + value * (edges[0] - edges[-1]), abs=0.1)
    below = tenth_chart([Bar("-0.1", 1), *bars], "links", "similarity", ("least", 0.0))
    assert (
        re.search(r'x="([0-9.]+)" y="221" text-anchor="middle">0.0<', below)[1]
        == (re.search(r'class="threshold" x1="([0-9.]+)"', below)[1])
    )
    assert "threshold" not in tenth_chart(bars, "links", "similarity")
    assert tenth_bars(np.array([])) == tenth_bars(np.array([np.nan])) == []
