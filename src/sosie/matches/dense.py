"""Lists too dense to join: each document is linked to its most similar leader."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sosie.kernels.sets.leaders import link_leaders
from sosie.kernels.sets.set_join import Bounds, Sets
from sosie.matches.groups import spread
from sosie.types import I64, Counters, offsets_of

LEADERS = 64


def link_dense(
    sets: Sets, threshold: Fraction, offsets: I64, members: I64, split: int = 0
) -> tuple[I64, I64, Counters]:
    """Link the rows of each list (CSR, ascending inside) to leaders: similar pairs (a, b) and what was counted.

    The longest lists come first: who shares a template with everyone is linked to the first that has it.
    """
    sizes = np.diff(offsets)
    order = np.argsort(-sizes, kind="stable")
    ends = offsets_of(sizes[order])
    rows = members[spread(offsets[:-1][order], sizes[order])]
    bounds = Bounds(threshold.numerator, threshold.denominator, split)
    a, b, compared, left_out = link_leaders(sets, bounds, ends, rows, LEADERS)
    return a, b, {"linked": compared, "bounded_lists": len(sizes), "bounded_comparisons": left_out}
