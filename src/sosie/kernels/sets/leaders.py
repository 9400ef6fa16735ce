"""Dense lists, linked to leaders instead of compared all with all.

A list that hundreds of documents share (a template, a boilerplate paragraph) holds a quadratic number of pairs. In
the order of the rows, each document is compared with the leaders so far: it is linked to the most similar one, or
becomes a leader where it is similar to none. Linked once, it is not looked at in later lists.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.overlap import required_overlap, shared_features
from sosie.kernels.sets.set_join import Bounds, Sets, grown


@kernel
def _most_similar(sets: Sets, bounds: Bounds, leaders: I64, b: int) -> tuple[np.int64, int]:
    """Return the leader most similar to row b, the first of equals, or -1; and how many were compared."""
    best = np.int64(-1)
    shared_best, total_best = bounds.numerator, bounds.denominator
    size = sets.stops[b] - sets.starts[b]
    compared = 0
    for a in leaders:
        if bounds.split > 0 and (a < bounds.split) == (b < bounds.split):
            continue
        compared += 1
        size_a = sets.stops[a] - sets.starts[a]
        need = required_overlap(size_a, size, shared_best, total_best)
        shared = shared_features(sets.hashes, sets.starts[a], sets.stops[a], sets.starts[b], sets.stops[b], need)
        if shared >= 0 and (best < 0 or shared * total_best > shared_best * (size_a + size - shared)):
            best = a
            shared_best, total_best = shared, size_a + size - shared
    return best, compared


@kernel
def link_leaders(sets: Sets, bounds: Bounds, ends: I64, members: I64, most: int) -> tuple[I64, I64, int, int]:
    """Link the members of each list (CSR) to at most `most` leaders.

    Returns the similar pairs (a, b), the number of comparisons, and how many were left out.
    """
    pair_a = np.empty(256, np.int64)
    pair_b = np.empty(256, np.int64)
    pairs = 0
    linked = np.zeros(sets.starts.size, np.bool_)
    leaders = np.empty(most, np.int64)
    compared = 0
    left_out = 0
    for which in range(ends.size - 1):
        lead = first = 0
        for at in range(ends[which], ends[which + 1]):
            b = members[at]
            first += b < bounds.split
            left_out += at - ends[which] if bounds.split == 0 else first if b >= bounds.split else 0
            if linked[b]:
                continue
            best, tried = _most_similar(sets, bounds, leaders[:lead], b)
            compared += tried
            left_out -= tried
            if best >= 0:
                linked[b] = True
                pair_a = grown(pair_a, pairs + 1)
                pair_b = grown(pair_b, pairs + 1)
                pair_a[pairs] = best
                pair_b[pairs] = b
                pairs += 1
            elif lead < most:
                leaders[lead] = b
                lead += 1
    return pair_a[:pairs], pair_b[:pairs], compared, left_out
