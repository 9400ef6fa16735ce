"""Which rows have not been removed: a bit for each."""

from __future__ import annotations

import numpy as np

from sosie.types import I64, U64


def live_bits(rows: int, removed: I64) -> U64:
    """Return bit i for row i, set unless it was removed; bits beyond the rows are 0.

    >>> [f"{word:b}" for word in live_bits(67, np.array([0, 65])).tolist()]
    ['1111111111111111111111111111111111111111111111111111111111111110', '101']
    """
    live = np.full(-(-rows // 64), ~np.uint64(0))
    if rows % 64:
        live[-1] = np.uint64((1 << rows % 64) - 1)
    forget_bits(live, removed)
    return live


def more_bits(live: U64, begin: int, end: int) -> U64:
    """Return the bits with those of rows `begin` to `end` set; room grows by halves, what is beyond does not matter."""
    if (end + 63) // 64 > len(live):
        longer = np.zeros(max((end + 63) // 64, len(live) + len(live) // 2), np.uint64)
        longer[: len(live)] = live
        live = longer
    whole = -(-begin // 64)
    if begin % 64:
        live[begin // 64] |= ~np.uint64(0) << np.uint64(begin % 64)
    live[whole : (end + 63) // 64] = ~np.uint64(0)
    return live


def forget_bits(live: U64, rows: I64) -> None:
    """Clear the bits of some rows."""
    np.bitwise_and.at(live, rows // 64, ~(np.uint64(1) << (rows % 64).astype(np.uint64)))
