"""Dense lists, linked to leaders instead of compared all with all.

A list that hundreds of documents share (a template, a boilerplate paragraph) holds a quadratic number of pairs. In
the order of the list, each row is compared with the leaders so far: it is linked to the most similar one, or becomes a
leader where it is similar to none. Linked once, it is not looked at in later lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, Bools
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.join import grown
from sosie.kernels.sets.similarity import (
    JACCARD,
    Criterion,
    WeighedSets,
    may_pair,
    measure_pair,
    required_overlap,
    shared_features,
)


class Lists(NamedTuple):
    """Rows of lists, CSR, and whether a row is looked for in its list, or there only to be found."""

    ends: I64
    members: I64
    probes: Bools


@kernel
def link_leaders(rows: WeighedSets, criterion: Criterion, lists: Lists, most: int) -> tuple[I64, I64, int, int]:
    """Link the rows of each list to at most `most` leaders.

    Returns the similar pairs (a, b), the number of comparisons, and how many were left out.
    """
    pair_a, pair_b = np.empty(256, np.int64), np.empty(256, np.int64)
    linked = np.zeros(rows.starts.size, np.bool_)
    leaders = np.empty(most, np.int64)
    pairs = compared = left_out = 0
    for which in range(lists.ends.size - 1):
        lead = first = second = 0
        for at in range(lists.ends[which], lists.ends[which + 1]):
            b = lists.members[at]
            is_second = criterion.split == 0 or b >= criterion.split
            before = first if is_second and criterion.split > 0 else second
            first += not is_second
            second += is_second
            left_out += before if lists.probes[at] else 0
            if linked[b] or (lead == most and not lists.probes[at]):
                continue
            best, tried = _most_similar(rows, criterion, leaders[:lead], b)
            compared += tried
            left_out -= tried if lists.probes[at] else 0
            if best >= 0:
                linked[b] = True
                pair_a, pair_b = grown(pair_a, pairs + 1), grown(pair_b, pairs + 1)
                pair_a[pairs], pair_b[pairs] = best, b
                pairs += 1
            elif lead < most:
                leaders[lead] = b
                lead += 1
    return pair_a[:pairs], pair_b[:pairs], compared, left_out


@kernel
def _most_similar(rows: WeighedSets, criterion: Criterion, leaders: I64, b: int) -> tuple[np.int64, int]:
    """Return the leader most similar to row b, the first of equals, or -1; and how many were compared."""
    if criterion.measure == JACCARD:
        return _most_similar_set(rows, criterion, leaders, b)
    best = np.int64(-1)
    highest = -1.0
    compared = 0
    for a in leaders:
        if may_pair(criterion.split, a, b):
            compared += 1
            similarity, shared = measure_pair(rows, criterion, a, b)
            if shared >= 0 and similarity > highest:
                best, highest = a, similarity
    return best, compared


@kernel
def _most_similar_set(rows: WeighedSets, criterion: Criterion, leaders: I64, b: int) -> tuple[np.int64, int]:
    """Do the same by Jaccard, a tenth faster: a leader is given up as soon as it cannot be better than the best."""
    best = np.int64(-1)
    shared_best, total_best = criterion.numerator, criterion.denominator
    start, stop = rows.starts[b], rows.stops[b]
    compared = 0
    for a in leaders:
        if may_pair(criterion.split, a, b):
            compared += 1
            both = rows.stops[a] - rows.starts[a] + stop - start
            need = required_overlap(both, 0, shared_best, total_best)
            shared = shared_features(rows.hashes, rows.starts[a], rows.stops[a], start, stop, need)
            if shared >= 0 and (best < 0 or shared * total_best > shared_best * (both - shared)):
                best = a
                shared_best, total_best = shared, both - shared
    return best, compared
