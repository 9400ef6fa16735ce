"""Bits cut into parts that are equal up to one bit: blocks, substrings and slices."""

from __future__ import annotations

from itertools import pairwise


def widths(bits: int, parts: int) -> list[int]:
    """Return the bits of each part.

    >>> widths(64, 5), widths(10, 3)
    ([12, 13, 13, 13, 13], [3, 3, 4])
    """
    edges = [bits * part // parts for part in range(parts + 1)]
    return [stop - start for start, stop in pairwise(edges)]
