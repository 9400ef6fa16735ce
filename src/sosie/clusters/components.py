"""Connected components of rows: pairs come in pieces, and all that is held is a number for each row."""

from __future__ import annotations

import numpy as np

from sosie.arrays import check_rows, read_only
from sosie.errors import UsageError
from sosie.kernels.sets.cluster import connect, settle
from sosie.storage.resident import give_back
from sosie.types import I64, U32, Pairs

_ROWS = 2**32  # that there may be
_STEP = 1 << 22  # pairs that are looked at together


class Components:
    """Which rows chains of pairs connect: a union-find of 4 bytes for each row.

    Pairs may come in any number of pieces, in any order and more than once. Whatever is connected by candidates need
    not be similar: what is to be removed is decided by `dedup`.

    >>> components = Components(5)
    >>> components.add(np.array([3, 1]), np.array([4, 3]))
    >>> components.first().tolist(), components.count
    ([0, 1, 2, 1, 1], 3)
    """

    def __init__(self, rows: int) -> None:
        if not 0 <= rows < _ROWS:
            raise UsageError(f"rows must be between 0 and {_ROWS - 1:,}, got {rows:,}")
        self._parents = np.arange(rows, dtype=np.uint32)
        self.count = rows

    def add(self, a: I64, b: I64) -> None:
        """Connect rows a[i] and b[i]."""
        for side in (a, b):
            check_rows("the rows of pairs", side, len(self._parents))
        self.count -= connect(read_only(a), read_only(b), self._parents)

    def first(self) -> U32:
        """Return the first row of each row's component; a copy, so that more can be added."""
        settle(self._parents)
        return self._parents.copy()


def connected(pairs: Pairs, rows: int) -> U32:
    """Return for each of so many rows the first one that chains of pairs connect it with: itself, if there is none.

    It takes 4 bytes for each row; pairs that are mapped take none. What chains of candidates connect need not be
    similar: who may go is decided by `dedup`.

    >>> connected(Pairs(np.array([0, 2]), np.array([2, 3])), 5).tolist()
    [0, 1, 0, 0, 4]
    """
    components = Components(rows)
    for start in range(0, len(pairs), _STEP):
        a, b = pairs.a[start : start + _STEP], pairs.b[start : start + _STEP]
        components.add(a, b)
        give_back(pairs.a)
        give_back(pairs.b)
    return components.first()
