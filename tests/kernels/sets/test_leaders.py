"""Dense lists by any measure: each row is linked to the most similar leader, or leads."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_measures as oracle

from sosie.kernels.sets.leaders import Lists, link_leaders
from sosie.matches.sets.rows import sets_of, weighed_sets
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sets.threshold import criterion_of

rows = st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=5), min_size=1, max_size=12)


@st.composite
def dense_lists(draw):
    collection = draw(rows)
    members = st.lists(st.integers(0, len(collection) - 1), min_size=1, unique=True)
    lists = draw(st.lists(members, max_size=4))
    return collection, lists, [[draw(st.booleans()) for _ in each] for each in lists]


def similarity(measure, a, b) -> Fraction:
    """The similarity, squared: an exact fraction for the cosine as well."""
    totals = {"jaccard": len(a | b) ** 2, "cosine": len(a) * len(b), "containment": min(len(a), len(b)) ** 2}
    return Fraction(len(a & b) ** 2, totals[measure])


def linked(measure, collection, lists, probes, most, split):
    """Straight from the description: pairs, comparisons, and comparisons left out."""
    done, pairs, compared, left_out = set(), [], 0, 0
    for members, are_probes in zip(lists, probes, strict=True):
        leaders = []
        for at, (b, is_probe) in enumerate(zip(members, are_probes, strict=True)):
            left_out += is_probe * sum(not split or (a < split) != (b < split) for a in members[:at])
            if b in done or (len(leaders) == most and not is_probe):
                continue
            others = [a for a in leaders if not split or (a < split) != (b < split)]
            compared += len(others)
            left_out -= is_probe * len(others)
            reached = [(similarity(measure, collection[a], collection[b]), a) for a in others]
            reached = [(squared, a) for squared, a in reached if squared >= Fraction(1, 4)]
            if reached:
                pairs.append((max(reached, key=lambda each: each[0])[1], b))
                done.add(b)
            elif len(leaders) < most:
                leaders.append(b)
    return pairs, compared, left_out


@settings(max_examples=400)
@given(st.sampled_from(["jaccard", "cosine", "containment"]), dense_lists(), st.integers(1, 5), st.integers(0, 12))
def test_links(measure, case, most, split):
    collection, lists, probes = case
    features, _ = oracle.features_and_weights([dict.fromkeys(row, 1) for row in collection])
    given_lists = Lists(
        np.cumsum([0, *map(len, lists)]),
        np.array([*chain.from_iterable(lists)], np.int64),
        np.array([*chain.from_iterable(probes)], np.bool_),
    )
    rows = weighed_sets(sets_of(features)[0], Similarity(measure))
    criterion = criterion_of(Similarity(measure), 0.5, split)
    a, b, compared, left_out = link_leaders(rows, criterion, given_lists, most)
    found = (list(zip(a.tolist(), b.tolist(), strict=True)), compared, left_out)
    assert found == linked(measure, collection, lists, probes, most, split)
    assert all(similarity(measure, collection[i], collection[j]) >= Fraction(1, 4) for i, j in found[0])
