import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import bits_of, pack

from sosie.kernels.tables.permuted import draw_permutation, gather_bits, permuted_order


def ordered(bits, places):
    """The rows in the order of their permuted bits, as strings sort."""
    return sorted(range(len(bits)), key=lambda row: ("".join(str(int(bits[row, place])) for place in places), row))


@settings(deadline=None, max_examples=40)
@given(
    width=st.integers(1, 300),
    counts=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    kind=st.sampled_from(("random", "clustered", "zeros", "narrow")),
    seed=st.integers(0, 99),
)
def test_the_order_of_permuted_bits(width, counts, kind, seed):
    bits = bits_of(kind, sum(counts), width, seed) if sum(counts) else np.empty((0, width), np.bool_)
    bits[: len(bits) // 3] = bits[len(bits) - len(bits) // 3 :]  # equal rows stay in their order
    words = pack(bits) if len(bits) else np.empty((0, -(-width // 64)), np.uint64)
    places = draw_permutation(width, seed, 3)
    truth = ordered(bits, places)
    assert permuted_order([words], places).tolist() == truth
    assert permuted_order([words[: counts[0]], words[counts[0] :]], places).tolist() == truth


def test_permutations_are_drawn_for_each_table_and_stay_the_same():
    drawn = [draw_permutation(1000, 0, table) for table in range(50)]
    assert all(sorted(places) == list(range(1000)) for places in drawn)
    assert len({places.tobytes() for places in drawn}) == 50
    assert draw_permutation(1000, 1, 0).tolist() != drawn[0].tolist()
    assert draw_permutation(12, 7, 5).tolist() == [1, 7, 0, 4, 9, 2, 11, 10, 8, 3, 5, 6]
    places = np.array(drawn)
    assert abs(places[:, :500].mean() - 499.5) < 10  # every bit comes first as often as any other


@pytest.mark.parametrize("count", (1, 7, 64))
def test_bits_are_gathered_from_the_most_significant_on(count):
    bits = bits_of("random", 20, 130)
    places = np.random.default_rng(3).permutation(130)[:count]
    keys = gather_bits(pack(bits), places)
    assert [int(key) >> 64 - count for key in keys] == [
        int("".join(str(int(bits[row, place])) for place in places), 2) for row in range(20)
    ]
