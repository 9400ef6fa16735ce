"""Dense lists: each document is linked to the most similar leader, or leads."""

from fractions import Fraction
from itertools import chain

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from sosie.kernels.sets.leaders import link_leaders
from sosie.kernels.sets.set_join import Bounds
from sosie.matches.sets import rows_of

rows = st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=5), min_size=1, max_size=12)


@st.composite
def dense_lists(draw):
    collection = draw(rows)
    lists = draw(st.lists(st.frozensets(st.integers(0, len(collection) - 1), min_size=1).map(sorted), max_size=4))
    return collection, lists


def linked(collection, lists, most, split=0):
    """Straight from the description: pairs, comparisons, and comparisons left out."""
    done, pairs, compared, possible = set(), [], 0, 0
    for members in lists:
        leaders = []
        first = sum(member < split for member in members)
        possible += first * (len(members) - first) if split else len(members) * (len(members) - 1) // 2
        for b in members:
            if b in done:
                continue
            others = [a for a in leaders if not split or (a < split) != (b < split)]
            compared += len(others)
            similar = [a for a in others if oracle.jaccard(collection[a], collection[b]) >= Fraction(1, 2)]
            if similar:
                pairs.append((max(similar, key=lambda a: (oracle.jaccard(collection[a], collection[b]), -a)), b))
                done.add(b)
            elif len(leaders) < most:
                leaders.append(b)
    return pairs, compared, possible - compared


@settings(max_examples=250)
@given(dense_lists(), st.integers(1, 5), st.integers(0, 12))
def test_links(case, most, split):
    collection, lists = case
    hashes = [sorted(each) for each in collection]
    edges = np.cumsum([0, *map(len, hashes)])
    sets = rows_of(np.array([*chain.from_iterable(hashes)], np.uint64), edges[:-1], edges[1:])
    ends = np.cumsum([0, *map(len, lists)])
    members = np.array([*chain.from_iterable(lists)], np.int64)
    a, b, compared, left_out = link_leaders(sets, Bounds(1, 2, split), ends, members, most)
    found = (list(zip(a.tolist(), b.tolist(), strict=True)), compared, left_out)
    assert found == linked(collection, lists, most, split)
    assert all(oracle.jaccard(collection[i], collection[j]) >= Fraction(1, 2) for i, j in found[0])
