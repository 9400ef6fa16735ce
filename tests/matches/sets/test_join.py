"""Dense lists: the longest first, rows linked once, everything counted."""

from fractions import Fraction

import numpy as np

from sosie.matches.sets.join import link_dense
from sosie.matches.sets.rows import rows_of

SETS = rows_of(np.array([1, 2, 3, 1, 2, 4, 1, 2, 5], np.uint64), np.array([0, 3, 6]), np.array([3, 6, 9]))
HALF = Fraction(1, 2)


def test_the_longest_list_comes_first():
    a, b, counted = link_dense(SETS, HALF, np.array([0, 2, 5]), np.array([1, 2, 0, 1, 2]))
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1), (0, 2)]  # 2 goes with 0, not with 1
    assert counted == {"linked": 2, "bounded_lists": 2, "bounded_comparisons": 2}


def test_no_list_links_nothing():
    a, b, counted = link_dense(SETS, HALF, np.zeros(1, np.int64), np.empty(0, np.int64))
    assert len(a) == len(b) == 0 and counted["bounded_lists"] == 0
