import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import bits_of, distances, pack

from sosie.arrays import read_only
from sosie.kernels.planes.ranges import Asked, near_each
from sosie.kernels.planes.weighed import stages_of, weigh


def near(rows, queries, first, last, radius, width):
    """What the kernel finds, as (query, row)."""
    stages = stages_of(width, radius)
    asked = Asked(read_only(queries), read_only(first), read_only(last))
    found = near_each(weigh(rows, width, stages), asked, stages, radius)
    return sorted((q, r) for queries, rows in found for q, r in zip(queries.tolist(), rows.tolist(), strict=True))


def expected(rows, queries, first, last, radius):
    within = distances(rows, queries).T <= radius
    return [(q, r) for q in range(len(queries)) for r in range(first[q], last[q]) if within[q, r]]


@settings(deadline=None, max_examples=60)
@given(
    width=st.integers(1, 1400),
    count=st.integers(1, 1300),
    kind=st.sampled_from(("random", "clustered", "ones", "zeros", "narrow")),
    query_kind=st.sampled_from(("random", "clustered", "ones", "zeros")),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_ranges_hold_what_comparing_finds(width, count, kind, query_kind, share, seed):
    rng = np.random.default_rng(seed)
    rows, queries = pack(bits_of(kind, count, width, seed)), pack(bits_of(query_kind, 70, width, seed))
    first = rng.integers(0, count + 1, 70)
    last = np.maximum(first, rng.integers(0, count + 1, 70))
    radius = int(share * width)
    assert near(rows, queries, first, last, radius, width) == expected(rows, queries, first, last, radius)


@pytest.mark.parametrize("width", (64, 1000))
def test_more_matches_than_there_is_room_for(width):
    rows = pack(bits_of("zeros", 5000, width))
    first, last = np.arange(130), np.full(130, 5000)
    found = near(rows, rows[:130], first, last, 0, width)
    assert found == [(q, r) for q in range(130) for r in range(q, 5000)]


@pytest.mark.parametrize(("width", "radius"), ((1000, 0), (1000, 100), (1000, 300), (64, 3), (2000, 200), (1, 0)))
def test_stages_end_with_the_width_and_the_last_one_is_looked_at(width, radius):
    stages = stages_of(width, radius)
    assert stages.ends[-1] == width and stages.looks[-1] == 1
    assert (np.diff(stages.ends, prepend=0) > 0).all() and (np.diff(stages.ends, prepend=0) <= 512).all()


def test_blocks_are_given_up_where_rows_are_far():
    assert stages_of(1000, 100).looks.tolist() == [1, 1, 1]
    assert stages_of(1000, 400).looks.tolist() == [0, 1]
