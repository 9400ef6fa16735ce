"""Dense lists, linked to leaders instead of compared all with all.

A list that thousands of documents share (a template, a boilerplate paragraph) holds a quadratic number of pairs. In
the order of the rows, each document is compared with the leaders so far: it is linked to those it is similar to, and
becomes a leader where it is similar to none. Linked once, it is not looked at in later lists.
"""

from __future__ import annotations

import numpy as np

from sosie.kernels.compile import kernel
from sosie.kernels.overlap import required_overlap, shared_features
from sosie.kernels.set_join import Bounds, Sets, _grown


@kernel
def link_leaders(
    sets: Sets, bounds: Bounds, ends: np.ndarray, members: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, int, int]:
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
        lead = 0
        seen = 0
        for at in range(ends[which], ends[which + 1]):
            b = members[at]
            compared_here = 0
            if not linked[b]:
                size = sets.stops[b] - sets.starts[b]
                for i in range(lead):
                    a = leaders[i]
                    if bounds.split > 0 and (a < bounds.split) == (b < bounds.split):
                        continue
                    need = required_overlap(
                        sets.stops[a] - sets.starts[a], size, bounds.numerator, bounds.denominator
                    )
                    compared_here += 1
                    shared = shared_features(
                        sets.hashes, sets.starts[a], sets.stops[a], sets.starts[b], sets.stops[b], need
                    )
                    if shared >= 0:
                        linked[b] = True
                        pair_a = _grown(pair_a, pairs + 1)
                        pair_b = _grown(pair_b, pairs + 1)
                        pair_a[pairs] = a
                        pair_b[pairs] = b
                        pairs += 1
                if not linked[b] and lead < most:
                    leaders[lead] = b
                    lead += 1
            compared += compared_here
            left_out += seen - compared_here
            seen += 1
    return pair_a[:pairs], pair_b[:pairs], compared, left_out
