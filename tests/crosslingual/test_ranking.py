"""Links in the order in which they stand out: as the definition says, and chosen as a person would by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_vectors as oracle

from sosie.crosslingual.compared import Compared
from sosie.crosslingual.ranking import ranked, selected, without
from sosie.errors import UsageError

# Eighths, so that all sums are exact and many links are equal.
pairs = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 8).map(lambda eighths: eighths / 8), max_size=20
)
real = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.floats(0.001, 1), max_size=30)


def compared(drawn):
    a, b = (np.array([pair[end] for pair in sorted(drawn)], np.int64) for end in (0, 1))
    return Compared(a, b, np.array([drawn[pair] for pair in sorted(drawn)], np.float64))


def listed(links):
    return list(zip(links.a.tolist(), links.b.tolist(), links.rank.tolist(), strict=True))


def by_source(chosen, key):
    """Number the links of each source in the order of a key."""
    found = []
    for source in sorted({a for a, _ in chosen}):
        own = sorted((pair for pair in chosen if pair[0] == source), key=key)
        found += [(a, b, rank) for rank, (a, b) in enumerate(own, 1)]
    return found


@given(pairs)
def test_ranks_are_by_how_far_links_stand_out(drawn):
    standing = oracle.standings(drawn)
    links = ranked(compared(drawn))
    assert listed(links) == by_source(drawn, lambda pair: (-standing[pair], -drawn[pair], pair))
    assert links.similarity.tolist() == [drawn[a, b] for a, b, _ in listed(links)]
    assert links.standing.tolist() == [standing[a, b] for a, b, _ in listed(links)]
    assert listed(links.first) == [link for link in listed(links) if link[2] == 1]


@given(real)
def test_standings_of_any_similarities(drawn):
    standing = oracle.standings(drawn)
    links = ranked(compared(drawn))
    assert links.standing.tolist() == pytest.approx([standing[a, b] for a, b, _ in listed(links)])


def first_of(end, chosen, key):
    return {min((pair for pair in chosen if pair[end] == row), key=key) for row in {pair[end] for pair in chosen}}


@settings(max_examples=300)
@given(
    pairs, st.sampled_from([None, 0.25, 0.5, 2.0]), st.booleans(), st.booleans(), st.sampled_from([None, 1, 2])
)  # fmt: skip
def test_chosen_as_by_hand(drawn, threshold, one_to_one, mutual, k):
    standing = oracle.standings(drawn)

    def key(pair):
        return (-standing[pair], -drawn[pair], pair)

    chosen = [pair for pair in drawn if threshold is None or drawn[pair] >= threshold]
    if mutual:
        both = first_of(0, chosen, key) & first_of(1, chosen, key)
        chosen = [pair for pair in chosen if pair in both]
    if one_to_one:
        taken = []
        for pair in sorted(chosen, key=key):
            if all(pair[0] != a and pair[1] != b for a, b in taken):
                taken.append(pair)
        chosen = taken
    links = selected(ranked(compared(drawn)), k=k, threshold=threshold, one_to_one=one_to_one, mutual=mutual)
    assert listed(links) == [link for link in by_source(chosen, key) if k is None or link[2] <= k]
    assert links.standing.tolist() == [standing[a, b] for a, b, _ in listed(links)]
    if one_to_one or mutual:
        assert len(set(links.a.tolist())) == len(set(links.b.tolist())) == len(links)


def test_a_target_that_is_similar_to_all_stands_out_less():
    """Target 0 is the most similar of everyone; the twins come first all the same."""
    drawn = {(a, 0): 0.625 for a in range(4)} | {(a, a): 0.5 for a in range(1, 4)}
    links = ranked(compared(drawn))
    assert listed(links.first) == [(a, a, 1) for a in range(4)]
    assert listed(selected(links, one_to_one=True)) == [(a, a, 1) for a in range(4)]
    assert listed(selected(links, mutual=True)) == [(a, a, 1) for a in range(4)]


def test_one_to_one_takes_the_next_that_is_free():
    links = ranked(compared({(0, 0): 1.0, (1, 0): 0.875, (1, 1): 0.25}))
    assert listed(selected(links, one_to_one=True)) == [(0, 0, 1), (1, 1, 1)]
    assert listed(selected(links, one_to_one=True, threshold=0.5)) == [(0, 0, 1)]


def test_nothing_to_rank():
    links = ranked(compared({}))
    assert len(links) == 0 == len(selected(links, one_to_one=True, mutual=True, k=1, threshold=0.5))


def test_targets_are_left_out():
    found = without(compared({(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.125, (2, 2): 1.0}), np.array([0, 2]))
    assert (found.a.tolist(), found.b.tolist(), found.similarity.tolist()) == ([0], [1], [0.25])


def test_no_link_at_all_is_not_asked_for():
    with pytest.raises(UsageError, match="at least 1 link of each document is asked for, got k=0"):
        selected(ranked(compared({})), k=0)


def test_rivals_below_a_threshold_are_taken_for_just_below_it():
    # Above .7 the pair (0, 1) is the only one of row 0; its rivals were not listed, and it is not to take 1 from row 1.
    pairs = Compared(np.array([0, 1, 1]), np.array([1, 1, 2]), np.array([0.71, 0.95, 0.94]), least=0.7)
    first = selected(ranked(pairs), mutual=True)
    assert (1, 1) in zip(first.a.tolist(), first.b.tolist(), strict=True)
    found = ranked(pairs)
    assert found.standing[0] == pytest.approx(0.71 - ((0.71 + 0.7) / 2 + (0.95 + 0.71) / 2) / 2)
