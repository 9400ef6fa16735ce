import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import bits_of, distances, pack

from sosie.arrays import aligned_zeros, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.cascade import Rows, cascade, seek, settle
from sosie.kernels.planes.cascade_plan import plan_cascade, stage_size
from sosie.kernels.planes.count import add_planes
from sosie.kernels.planes.cut_off import Aim, chance, reach
from sosie.kernels.planes.layout import plane_count, set_rows
from sosie.kernels.planes.majorities import CHAIN_CHUNK, adder_count, ask_majorities, chain_of, set_majorities
from sosie.kernels.planes.tighten import CARRIES, DISTANCE, UNKNOWN
from sosie.kernels.planes.top import UNFILLED


def rows_of(words, bits):
    """Return the rows of some blocks, as a cascade searches them."""
    blocks = -(-len(words) // 512)
    planes, live = aligned_zeros((blocks, plane_count(bits), 8)), aligned_zeros((blocks, 8))
    set_rows(planes, 0, words)
    set_rows(live.reshape(-1, 1, 8), 0, np.ones((len(words), 1), np.uint64))
    majorities = aligned_zeros((blocks, adder_count(bits), 4, 8))
    set_majorities(read_only(planes), read_only(chain_of(bits)), (0, blocks), majorities)
    return Rows(read_only(majorities), read_only(live), read_only(words))


def carries_of(words, query, bits, adders):
    """Count the differing bits in the first planes of the chain, and halve them."""
    differ = np.unpackbits((words ^ query).view(np.uint8), axis=1, bitorder="little")
    return differ[:, chain_of(bits)[: 2 * adders + 1]].sum(axis=1, dtype=np.int64) // 2


@kernel
def counted(majorities, order, units, slices, counts):
    height = slices.size // 8
    for chunk in range(units.shape[0]):
        add_planes(majorities.reshape(majorities.size), 0, order[256 * chunk :], units[chunk], slices, height)
    for row in range(512):
        for level in range(height):
            bit = (slices[8 * level + row // 64] >> np.uint64(row % 64)) & np.uint64(1)
            counts[row] += np.int64(bit) << level


def test_the_chain_is_pinned():
    assert chain_of(128)[:8].tolist() == [89, 77, 100, 122, 61, 82, 50, 123]
    assert len(set(chain_of(1024))) == 513


@settings(deadline=None, max_examples=30)
@given(
    bits=st.sampled_from((128, 200, 1024, 2100)),
    kind=st.sampled_from(("random", "clustered", "ones", "zeros", "narrow")),
    share=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_carries_are_half_the_differing_bits(bits, kind, share, seed):
    words, query = pack(bits_of(kind, 512, bits, seed)), pack(bits_of("random", 1, bits, seed + 1))
    rows, adders = rows_of(words, bits), max(32, adder_count(bits) * share // 128 * 32)
    asked = ask_majorities(query, read_only(chain_of(bits)), np.array([adders]), CHAIN_CHUNK)
    counts = np.zeros(512, np.int64)
    counted(rows.majorities, asked.order[0], asked.units[0], asked.slices[0], counts)
    assert np.array_equal(counts, carries_of(words, query, bits, adders))


@pytest.mark.parametrize(("bits", "planes"), ((128, 65), (1024, 257), (1024, 513)))
def test_the_chance_is_that_of_the_hypergeometric_distribution(bits, planes):
    for distance in (0, 1, bits // 10, bits // 3, bits // 2, bits):
        for carries in range(0, planes // 2 + 1, 3):
            most = range(min(2 * carries + 1, planes, distance) + 1)
            exact = sum(math.comb(distance, i) * math.comb(bits - distance, planes - i) for i in most)
            assert chance(carries, distance, planes, bits) == pytest.approx(exact / math.comb(bits, planes), abs=0.013)


@given(distance=st.integers(1, 1023), planes=st.sampled_from((65, 257, 513)), deviations=st.floats(-3, 3))
def test_reach_is_where_the_chance_is(distance, planes, deviations):
    carries = reach(distance, planes, 1024, deviations)
    level = 0.5 * math.erfc(-deviations / math.sqrt(2))
    assert chance(carries, distance, planes, 1024) >= level - 1e-9
    if carries:
        assert chance(carries - 1, distance, planes, 1024) <= level + 1e-9 or 2 * carries - 1 >= min(distance, planes)


def found_by_definition(words, query, known, adders, k, aim):
    """Return the k nearest of what is known and of the rows up to the first cut-off that is expected to suffice."""
    bits, carries = aim.bits, carries_of(words, query, aim.bits, adders)
    near = distances(words, query[None])[:, 0]
    for cut in range(adders + 1):
        passed = {(int(near[row]), int(row)) for row in np.flatnonzero(carries <= cut)} | known
        best = sorted(passed)[:k]
        expected = np.mean([chance(cut, distance, 2 * adders + 1, bits) for distance, _ in best]) if best else 0
        if len(best) == k and expected >= aim.recall:
            return best, int(np.sum(carries <= cut)), expected
    return best, len(words), 1.0


@settings(deadline=None, max_examples=25)
@given(
    kind=st.sampled_from(("random", "clustered", "duplicated", "equal", "complement")),
    recall=st.sampled_from((0.3, 0.8, 0.95, 0.999)),
    k=st.integers(1, 12),
    cuts=st.sets(st.integers(0, 9), max_size=3),
    seed=st.integers(0, 99),
)
def test_a_cascade_finds_what_its_definition_says_however_the_blocks_are_cut(kind, recall, k, cuts, seed):
    bits = 256
    words, queries = pack(bits_of(kind, 4700, bits, seed)), pack(bits_of("random", 3, bits, seed + 1))
    queries[0] = words[11]
    rows, aim, adders = rows_of(words, bits), Aim(bits, recall), np.array([64, 32, 64])
    known = np.full((3, 2), UNFILLED)
    known[:, 0] = np.bitwise_count(words[5] ^ queries).sum(axis=1) << DISTANCE | 5
    edges = [0, *sorted(cuts - {0, 9, 10}), 10]
    parts = []
    for first, last in pairwise(edges):
        asked = ask_majorities(queries, read_only(chain_of(bits)), adders, CHAIN_CHUNK)
        parts.append(seek(read_only(queries), adders, known, k))
        cascade(rows, (first, last), asked, parts[-1], k, aim)
    best, compared, expected = settle(rows.words, parts, k, aim)
    truth = [
        found_by_definition(words, query, {(int(one >> DISTANCE), 5)}, count, k, aim)
        for query, one, count in zip(queries, known[:, 0], adders, strict=True)
    ]
    assert [[(int(key) >> DISTANCE, int(key) & (1 << DISTANCE) - 1) for key in near] for near in best] == [
        near for near, _, _ in truth
    ]
    assert compared == sum(count for _, count, _ in truth)
    assert expected == pytest.approx(sum(chances for _, _, chances in truth))


def test_keys_have_room_for_the_widest():
    assert (1 << 63) > (16384 // 4) << CARRIES | UNKNOWN << DISTANCE
    assert UNKNOWN > 16384


@pytest.mark.parametrize("kind", ("random", "clustered", "equal"))
def test_a_plan_knows_rows_of_the_sample_with_their_distances(kind):
    bits, words = 256, pack(bits_of(kind, 20_000, 256))
    rows, queries = rows_of(words, bits), words[:40].copy()
    most, known, adders = adder_count(bits), np.empty((40, 64), np.int64), np.full(40, adder_count(bits))
    asked = ask_majorities(queries, read_only(chain_of(bits)), adders, stage_size(most))
    plan_cascade(rows, read_only(queries), asked, bits, known, adders)
    for query, keys in zip(queries, known, strict=True):
        keys = keys[keys != UNFILLED]
        assert len(keys) >= 32
        near, row = keys >> DISTANCE, keys & ((1 << DISTANCE) - 1)
        assert np.array_equal(near, np.bitwise_count(words[row] ^ query).sum(axis=1))
        assert len(set(row)) == len(row) and np.all(np.diff(keys) > 0)
    assert set(adders) <= set(range(0, most + 1, 32))
    if kind != "clustered":
        assert set(adders) == {0 if kind == "equal" else 32}
