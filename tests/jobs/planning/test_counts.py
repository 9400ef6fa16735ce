"""Comparisons counted beforehand are those that the joins count themselves."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import signatures

from sosie.index.block_run import BlockCut
from sosie.jobs.planning.counts import LARGEST, count_blocks, count_keys
from sosie.matches.block_tables import BlockTables
from sosie.matches.blocks import join_blocks
from sosie.matches.keys import join_keys
from sosie.matches.scan import Scan
from sosie.types import Keys, Signatures


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(("random", "clustered", "duplicated", "narrow")),
    width=st.sampled_from((20, 64, 100, 256)),
    radius=st.integers(0, 8),
    counts=st.tuples(st.integers(0, 400), st.none() | st.integers(0, 200)),
)
def test_comparisons_of_a_block_join_are_its_own(kind, width, radius, counts):
    a = signatures(kind, counts[0], width)
    b = None if counts[1] is None else signatures(kind, counts[1], width, 1)
    counted, pairs = count_blocks(a, b, radius=radius), join_blocks(a, b, radius)
    assert counted.comparisons == pairs.counters.get("comparisons", 0)
    assert counted.tables == pairs.counters.get("tables", 0)


@pytest.mark.parametrize("width", (64, 128))
@pytest.mark.parametrize("shape", ((4, 1), (5, 2), (9, 6)))
def test_of_another_cut_too(width, shape):
    rows = Signatures(np.unique(signatures("clustered", 3000, width).words, axis=0), width)
    cut = BlockCut.of(width, *shape)
    counted = count_blocks(rows, radius=3, cut=cut)
    assert counted.comparisons == BlockTables(Scan.of(rows), cut, 3, 1).join(lambda pairs: None)
    assert counted.tables == len(cut.headers) and counted.rows == len(rows)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 999), tables=st.integers(1, 4), other=st.none() | st.integers(0, 60))
def test_comparisons_of_a_key_join_are_its_own(seed, tables, other):
    rng = np.random.default_rng(seed)
    a = Keys(rng.integers(0, 30, (80, tables), dtype=np.uint64))
    b = None if other is None else Keys(rng.integers(0, 30, (other, tables), dtype=np.uint64))
    assert count_keys(a, b).comparisons == join_keys(a, b).counters["comparisons"]


def test_the_largest_groups_are_shown_with_an_example():
    values = np.arange(400, dtype=np.uint64).reshape(200, 2) + 1000
    values[5:90, 1] = 7
    values[100:104, 0] = 99
    for group in range(20):
        values[110 + 2 * group : 112 + 2 * group, 0] = group
    keys = Keys(values, ids=pa.array([f"d{row}" for row in range(200)]))
    largest = count_keys(keys).largest
    assert len(largest) == LARGEST
    assert largest[:2] == ((85, 1, 47, "d47"), (4, 0, 102, "d102"))
    assert {group.size for group in largest[2:]} == {2}
    across = count_keys(keys, Keys(values[:20]))
    assert across.largest[0] == (85 + 15, 1, 47, "d47") and across.comparisons == 2 * 5 + 15 + 85 * 15


def test_groups_of_a_block_join_are_of_rows_with_one_header():
    words = np.random.default_rng(0).integers(0, 2**64, 3000, dtype=np.uint64)
    words[500:900] = words[500:900] & np.uint64(0xFFFF) | np.uint64(77) << np.uint64(16)
    counted = count_blocks(Signatures(words), radius=3)
    group = counted.largest[0]
    assert group.size >= 400 and 500 <= group.row < 900 and group.id == group.row
    assert counted.rows == len(np.unique(words))


def test_one_row_or_none_is_compared_with_nothing():
    none, one = Signatures(np.empty((0, 1), np.uint64)), Signatures(np.zeros((3, 1), np.uint64))
    for a, b in itertools.product((none, one), (None, none)):
        assert count_blocks(a, b, radius=2).comparisons == 0
    assert count_keys(Keys(np.empty((0, 2), np.uint64))).largest == ()
    assert count_keys(Keys(np.empty((0, 2), np.uint64)), Keys(np.zeros((3, 2), np.uint64))).comparisons == 0
