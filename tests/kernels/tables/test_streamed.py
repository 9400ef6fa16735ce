"""Sorted rows met by probes, beside plain Python."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, signatures

from sosie.arrays import read_only
from sosie.kernels.tables.hits import Hits, lowest_rows
from sosie.kernels.tables.streamed import (
    Asked,
    Probes,
    count_probes,
    first_at_least,
    is_sorted,
    leads_of,
    meet_probes,
    part_bounds,
    place_probes,
)
from sosie.matches.store.sorted_rows import SortedRows


def lead(words, bits):
    """Return the top 64 bits of a signature as a number, those of a shorter one above zeros."""
    number = sum(word << 64 * i for i, word in enumerate(words))
    return number << (64 - bits) if bits < 64 else number >> (bits - 64)


@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    bits=st.sampled_from((1, 9, 64, 65, 127, 128, 130)),
    count=st.integers(1, 60),
    header=st.integers(1, 9),
    part_bits=st.integers(0, 3),
    radius=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_probes_meet_the_rows_with_their_headers(kind, bits, count, header, part_bits, radius, seed):
    header, part_bits = min(header, bits), min(part_bits, header, bits)
    rng = np.random.default_rng(seed)
    made = SortedRows.of(signatures(kind, count, bits, seed).words, bits)
    queries = signatures(kind, 12, bits, seed + 1).words
    rows, asked = made.words.tolist(), queries.tolist()
    leads = [lead(row, bits) for row in rows]
    assert leads == sorted(leads) == leads_of(made.words, bits).tolist()
    assert list(zip(leads, made.rows, strict=True)) == sorted(zip(leads, made.rows, strict=True))
    assert is_sorted(made.words, made.rows, bits)

    bounds = part_bounds(made.words, bits, part_bits)
    assert bounds.tolist() == [bisect_left(leads, part << (64 - part_bits)) for part in range(2**part_bits)] + [count]
    flips = np.sort(np.stack([rng.permutation(2**header)[:2] for _ in asked]), axis=1).astype(np.uint32)
    counts = np.zeros(2**part_bits, np.int64)
    own = leads_of(read_only(queries), bits)
    count_probes(own, flips, header, counts)
    starts = np.append(0, np.cumsum(counts))
    probes = Probes(np.empty(flips.size, np.uint64), np.empty(flips.size, np.uint32), starts)
    place_probes(own, flips, header, starts[:-1].copy(), probes)
    wanted = sorted(
        (lead(query, bits) ^ (flip << (64 - header)), i, flip.bit_count())
        for i, query in enumerate(asked)
        for flip in flips[i].tolist()
    )
    placed = [
        (a, b & (2**27 - 1), b >> 27) for a, b in zip(probes.leads.tolist(), probes.origins.tolist(), strict=True)
    ]
    assert sorted(placed) == wanted
    assert [each[0] >> (64 - part_bits) for each in placed] == np.repeat(np.arange(2**part_bits), counts).tolist()

    answered = rng.random(len(asked)) < 0.2
    pieces = [
        (part, begin, min(begin + 7, stop))
        for part, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        for begin in range(start, stop, 7)
    ]
    some = Asked(read_only(queries), header, read_only(answered))
    probes = Probes(*map(read_only, probes))
    hits, work = meet_probes(made.words, bits, read_only(np.array(pieces).reshape(-1, 3)), probes, some, radius)
    right = [
        (i, j, sum((a ^ b).bit_count() for a, b in zip(query, row, strict=True)))
        for i, query in enumerate(asked)
        for j, row in enumerate(rows)
        if not answered[i] and (lead(query, bits) ^ leads[j]) >> (64 - header) in flips[i].tolist()
    ]
    found = zip(hits.queries.tolist(), hits.rows.tolist(), hits.distances.tolist(), strict=True)
    assert sorted(found) == [each for each in right if each[2] <= radius]
    assert len(right) <= work[0]


def test_where_a_lead_would_stand():
    words = read_only(np.array([[0], [4], [4], [2**64 - 1]], np.uint64))
    for wanted in (0, 1, 4, 5, 2**64 - 1):
        assert first_at_least(words, 64, np.uint64(wanted), 0, 4) == bisect_left([0, 4, 4, 2**64 - 1], wanted)
    assert first_at_least(words, 64, np.uint64(4), 2, 4) == 2


@pytest.mark.parametrize(
    ("words", "rows", "right"),
    [
        ([1, 2, 2], [2, 0, 1], True),
        ([1, 2, 2], [2, 1, 0], False),
        ([1, 2, 2], [2, 1, 1], False),
        ([2, 1], [0, 1], False),
        ([], [], True),
    ],
)
def test_what_is_in_order(words, rows, right):
    made = read_only(np.array(words, np.uint64).reshape(-1, 1)), read_only(np.array(rows, np.uint32))
    assert is_sorted(*made, 64) == right


def test_the_lowest_row_of_each_query():
    rng = np.random.default_rng(0)
    queries, rows = rng.integers(0, 40, 90).astype(np.int32), rng.permutation(90)
    places = lowest_rows(Hits(queries, rows, np.zeros(90, np.int32)), 50).tolist()
    assert [queries[place] for place in places] == sorted(set(queries.tolist()))
    assert all(rows[place] == rows[queries == queries[place]].min() for place in places)
