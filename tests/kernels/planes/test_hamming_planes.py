import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import bits_of, distances, pack

from sosie.arrays import aligned_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import add_planes, mark_below
from sosie.kernels.planes.layout import ask_planes, get_rows, plane_count, set_rows
from sosie.kernels.tables.hits import Hits, sort_hits


@kernel
def counts_of_block(planes, order, units, slices, counts):
    height = slices.size // 8
    for chunk in range(units.shape[0]):
        ahead = 4096 * (chunk % 2)  # asking for memory, or not, changes nothing
        add_planes(planes.reshape(planes.size), 0, order[512 * chunk :], units[chunk], slices, height, ahead)
    for row in range(512):
        for level in range(height):
            bit = (slices[8 * level + row // 64] >> np.uint64(row % 64)) & np.uint64(1)
            counts[row] += np.int64(bit) << level


@kernel
def below(slices, bound, marks, found):
    return mark_below(slices, slices.size // 8, bound, marks, 0, found)


@settings(deadline=None, max_examples=40)
@given(
    width=st.integers(1, 1400),
    kind=st.sampled_from(("random", "clustered", "ones", "zeros", "narrow")),
    query_kind=st.sampled_from(("random", "ones", "zeros")),
    bound=st.integers(0, 1500),
    seed=st.integers(0, 99),
)
def test_counts_and_threshold(width, kind, query_kind, bound, seed):
    rows, query = pack(bits_of(kind, 512, width, seed)), pack(bits_of(query_kind, 1, width, seed + 1))
    planes = aligned_zeros((1, plane_count(width), 8))
    set_rows(planes, 0, rows)
    asked = ask_planes(query, planes.shape[1])
    counts = np.zeros(512, np.int64)
    counts_of_block(planes, asked.order[0], asked.units[0], asked.slices[0], counts)
    truth = distances(rows, query)[:, 0]
    assert np.array_equal(counts, truth)
    marks = np.random.default_rng(seed).integers(0, 2**64, 8, dtype=np.uint64)
    found = np.empty(8, np.uint64)
    bound = min(bound, 2 ** (asked.slices.shape[1] // 8) - 1)
    expected = np.packbits(truth < bound, bitorder="little").view(np.uint64) & marks
    assert below(asked.slices[0], bound, marks, found) == bool(expected.any())
    assert np.array_equal(found, expected)


@settings(deadline=None, max_examples=40)
@given(first=st.integers(0, 700), count=st.integers(0, 400), width=st.sampled_from((1, 31, 64, 65, 97, 200)))
def test_rows_come_back_from_their_planes(first, count, width):
    rows = pack(bits_of("random", count, width)) if count else np.empty((0, -(-width // 64)), np.uint64)
    planes = aligned_zeros((3, plane_count(width), 8))
    after = ~rows[:9]  # rows that follow stay as they are, and what was there before does not matter
    if width % 64:
        after[:, -1] &= np.uint64((1 << width % 64) - 1)
    set_rows(planes, first, np.zeros_like(rows))
    set_rows(planes, first + count, after)
    set_rows(planes, first, rows[::-1])
    set_rows(planes, first, rows)
    back = np.full((first + count + len(after), rows.shape[1]), 7, np.uint64)
    get_rows(planes, back)
    assert np.array_equal(back[first:], np.concatenate([rows, after]))
    assert not back[:first].any()
    for row in range(0, count, 37):
        for bit in range(width):
            lane = planes[(first + row) // 512, bit, (first + row) % 512 // 64]
            assert int(lane) >> (first + row) % 64 & 1 == int(rows[row, bit // 64]) >> bit % 64 & 1


@pytest.mark.parametrize("width", (1, 32, 512, 513, 4096))
def test_the_order_of_a_query_holds_every_plane_once(width):
    queries = pack(bits_of("random", 3, width))
    asked = ask_planes(queries, plane_count(width))
    for order, units, query in zip(asked.order, asked.units, queries, strict=True):
        assert sorted(order // 8) == list(range(plane_count(width)))
        for chunk in range(len(units)):
            part = order[512 * chunk : 512 * chunk + 512]
            bits = np.unpackbits(query.view(np.uint8), bitorder="little")
            bits = np.append(bits, np.zeros(64, np.uint8))[part // 8]
            same, opposite = 32 * units[chunk, 0], 32 * units[chunk, 1]
            assert not bits[:same].any()
            assert bits[same : same + opposite].all()
            assert np.array_equal(part[same + opposite :] % 8, bits[same + opposite :])
            assert units[chunk].sum() * 32 == len(part)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 99)), max_size=60))
def test_hits_are_sorted(found):
    columns = np.array(found, np.int64).reshape(-1, 3)
    hits = Hits(columns[:, 0].astype(np.int32), columns[:, 2].copy(), columns[:, 1].astype(np.int32))
    offsets, rows, distance = sort_hits(hits, 6, 9)
    expected = sorted(found, key=lambda hit: hit[:2])
    assert rows.tolist() == [hit[2] for hit in expected]
    assert distance.tolist() == [hit[1] for hit in expected]
    assert np.diff(offsets).tolist() == [sum(hit[0] == query for hit in found) for query in range(6)]
