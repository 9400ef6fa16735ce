import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.planner.models.blocks import (
    Delays,
    compared,
    header_widths,
    latency,
    latency_of_long_headers,
    latency_of_short_headers,
    least_blocks,
    matched_bits,
    most_chosen,
    storage,
    tables,
)
from sosie.planner.models.cuts import widths

SOME = Delays(7.0, 90.0, 3.0)


def headers_of(rows, bits, blocks, chosen):
    """Return for each choice of blocks what the rows have there, as plain numbers."""
    edges = np.cumsum([0, *widths(bits, blocks)])
    for header in combinations(range(blocks), chosen):
        places = np.concatenate([np.arange(edges[block], edges[block + 1]) for block in header])
        yield rows[:, places]


@pytest.mark.parametrize(("bits", "blocks", "chosen"), ((32, 4, 1), (33, 5, 2), (24, 6, 3), (12, 2, 2)))
def test_random_rows_are_compared_as_often_as_predicted(bits, blocks, chosen):
    rng = np.random.default_rng(0)
    rows, queries = rng.integers(0, 2, (4000, bits)), rng.integers(0, 2, (400, bits))
    met = 0
    for own, asked in zip(
        headers_of(rows, bits, blocks, chosen), headers_of(queries, bits, blocks, chosen), strict=True
    ):
        powers = 1 << np.arange(own.shape[1], dtype=np.int64)
        met += np.count_nonzero((own @ powers)[:, None] == (asked @ powers)[None, :])
    predicted = compared(bits, blocks, chosen, len(rows)) * len(queries)
    assert met == pytest.approx(predicted, abs=4 * math.sqrt(predicted) + 1)
    assert len(header_widths(bits, blocks, chosen)) == tables(blocks, chosen)


@given(st.integers(0, 5), st.integers(1, 3))
def test_with_g_plus_h_blocks_nothing_is_missed_and_with_fewer_something_is(radius, chosen):
    bits, blocks = 24, least_blocks(radius, chosen)
    rng = np.random.default_rng(radius)
    row = rng.integers(0, 2, (1, bits))
    edges = np.cumsum([0, *widths(bits, blocks)])
    one_in_each = row.copy()
    one_in_each[0, edges[:radius]] ^= 1  # the worst there is: every bit in a block of its own

    def agree(blocks):
        pairs = zip(headers_of(row, bits, blocks, chosen), headers_of(one_in_each, bits, blocks, chosen), strict=True)
        return any(np.array_equal(mine, other) for mine, other in pairs)

    assert agree(blocks)
    if radius and blocks - 1 >= chosen:
        one_in_each = row.copy()
        one_in_each[0, np.cumsum([0, *widths(bits, blocks - 1)])[: min(radius, blocks - 1)]] ^= 1
        assert agree(blocks - 1) == (radius < blocks - chosen)


@given(st.integers(2, 6), st.integers(1, 5), st.integers(10, 30))
def test_the_two_forms_of_the_latency_are_equation_9(blocks, chosen, log):
    chosen = min(chosen, blocks)
    if chosen * 64 / blocks <= log:
        other = latency_of_short_headers(64, blocks, chosen, 2**log, SOME)
    else:
        other = latency_of_long_headers(blocks, chosen, 2**log, SOME)
    assert other == pytest.approx(latency(64, blocks, chosen, 2**log, SOME))


@given(st.integers(1, 6), st.integers(1, 20), st.integers(4, 60))
def test_the_bound_on_g_is_where_the_header_has_d_bits(radius, chosen, log):
    header = chosen * 64 / (chosen + radius)
    assert (chosen <= most_chosen(64, radius, 2**log)) == (header <= log + 1e-9)
    assert matched_bits(64, chosen + radius, chosen, 2**log) == min(header, log)


def test_more_blocks_than_needed_take_longer_and_more_memory():
    for chosen in (1, 2, 3):
        for blocks in range(3 + chosen, 12):
            for log in (12, 20, 28):
                assert latency(64, blocks + 1, chosen, 2**log, SOME) > latency(64, blocks, chosen, 2**log, SOME)
            assert storage(64, blocks + 1, chosen, 2**20) > storage(64, blocks, chosen, 2**20)
