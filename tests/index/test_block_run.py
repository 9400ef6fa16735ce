from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.index.block_run import BlockCut


def bits_of(mask):
    return {64 * w + bit for w, word in enumerate(mask.tolist()) for bit in range(64) if word >> bit & 1}


@given(bits=st.sampled_from((1, 7, 64, 65, 100, 1000)), data=st.data())
def test_headers_are_all_choices_of_blocks_that_share_the_bits(bits, data):
    blocks = data.draw(st.integers(1, min(bits, 7)))
    chosen = data.draw(st.integers(0, blocks))
    cut = BlockCut.of(bits, blocks, chosen)
    assert cut.shape == (blocks, chosen)
    assert cut.edges[0] == 0 and cut.edges[-1] == bits
    assert set(np.diff(cut.edges)) <= {bits // blocks, -(-bits // blocks)}
    assert cut.headers == list(combinations(range(blocks), chosen)) and len(cut.masks) == comb(blocks, chosen)
    for table, header in enumerate(cut.headers):
        expected = {bit for block in header for bit in range(cut.edges[block], cut.edges[block + 1])}
        assert bits_of(cut.masks[table]) == expected
        assert cut.header_bits(table) == len(expected)


@given(bits=st.sampled_from((7, 64, 70, 200)), blocks=st.integers(1, 6), width=st.integers(1, 30), data=st.data())
def test_a_bit_of_the_header_goes_to_its_place_in_the_address(bits, blocks, width, data):
    cut = BlockCut.of(bits, blocks, data.draw(st.integers(1, blocks)))
    addresses = cut.addresses(width)
    assert addresses.bits == min(width, max(cut.header_bits(table) for table in range(len(cut.headers))))
    for table in range(len(cut.headers)):
        header = sorted(bits_of(cut.masks[table]))
        signature = data.draw(st.integers(0, 2**bits - 1))
        words = [signature >> 64 * w & 2**64 - 1 for w in range(cut.masks.shape[1])]
        found = 0
        for word, down, mask, up in addresses.moves[table].tolist():
            found ^= (words[word] >> down & mask) << up
        expected = 0
        for place, bit in enumerate(header):
            expected ^= (signature >> bit & 1) << place % addresses.bits
        assert found == expected


@pytest.mark.parametrize("bits", (64, 128, 130, 1000))
def test_the_word_that_is_compared_first_has_most_bits_outside_the_header(bits):
    cut = BlockCut.of(bits, 4, 1)
    free = np.minimum(64, bits - 64 * np.arange(cut.masks.shape[1])) - np.bitwise_count(cut.masks)
    chosen = cut.columns()
    assert all(free[table, chosen[table]] == free[table].max() for table in range(4))
