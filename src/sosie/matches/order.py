"""Pairs in their one order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sosie.types import I64, U64, Counters, Pairs, VerifiedPairs

WAITING = 1 << 20  # packed pairs that are sorted at a time, at least


def ordered_pairs(
    a: I64, b: I64, counters: Counters | None = None, *, distinct: bool = True, recall: float | None = None
) -> Pairs:
    """Return pairs ordered by (a, b); repeated ones are dropped unless they are known to be distinct.

    >>> pairs = ordered_pairs(np.array([3, 1, 3]), np.array([4, 2, 4]), distinct=False)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([1, 3], [2, 4])
    """
    if len(a) and max(int(a.max()), int(b.max())) >= 2**32:
        order = np.lexsort((b, a))
        a, b = a[order], b[order]
    else:
        a, b = unpacked(np.sort(a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)))
    if not distinct:
        new = (np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 0)
        a, b = a[new], b[new]
    return Pairs(a, b, dict(counters or {}), recall)


def renumbered(pairs: VerifiedPairs, numbers: I64) -> VerifiedPairs:
    """Return pairs of rows as pairs of other numbers, `numbers[row]`, in their order again.

    >>> shared = np.ones(2, np.int64)
    >>> pairs = VerifiedPairs(np.array([0, 1]), np.array([2, 2]), np.ones(2), shared)
    >>> pairs = renumbered(pairs, np.array([9, 5, 7]))
    >>> list(zip(pairs.a.tolist(), pairs.b.tolist()))
    [(5, 7), (7, 9)]
    """
    first, second = numbers[pairs.a], numbers[pairs.b]
    a, b = np.minimum(first, second), np.maximum(first, second)
    return replace(pairs, a=a, b=b).take(np.lexsort((b, a)))


def distinct_packed(parts: Iterable[U64]) -> U64:
    """Return the distinct values of all parts, sorted; parts are let go while more come.

    >>> distinct_packed([np.array([3, 1], np.uint64), np.array([3], np.uint64)]).tolist()
    [1, 3]
    """
    known = np.empty(0, np.uint64)
    waiting: list[U64] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) > max(WAITING, len(known)):
            known, waiting = _distinct([known, *waiting]), []
    return _distinct([known, *waiting])


def packed(a: I64, b: I64) -> U64:
    """Return pairs of rows, each below 2^32, as one number: the lower row above the other.

    >>> packed(np.array([7]), np.array([3])) == np.uint64(3 << 32 | 7)
    array([ True])
    """
    return np.minimum(a, b).astype(np.uint64) << np.uint64(32) | np.maximum(a, b).astype(np.uint64)


def unpacked(pairs: U64) -> tuple[I64, I64]:
    """Return the upper and the lower 32 bits of packed pairs.

    >>> [side.tolist() for side in unpacked(np.array([3 << 32 | 7], np.uint64))]
    [[3], [7]]
    """
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(2**32 - 1)).astype(np.int64)


def _distinct(parts: list[U64]) -> U64:
    values = np.sort(np.concatenate(parts))
    new = np.ones(len(values), np.bool_)
    new[1:] = values[1:] != values[:-1]
    return np.asarray(values[new])


def merged(pairs: VerifiedPairs, more: VerifiedPairs) -> VerifiedPairs:
    """Return verified pairs together with others that are not among them, ordered by (a, b)."""
    a, b = np.concatenate([pairs.a, more.a]), np.concatenate([pairs.b, more.b])
    order = np.lexsort((b, a))
    similarity = np.concatenate([pairs.similarity, more.similarity])[order]
    shared = np.concatenate([pairs.shared, more.shared])[order]
    totals = [side.total for side in (pairs, more) if side.total is not None]
    total = np.concatenate(totals)[order] if len(totals) == 2 else None
    return replace(pairs, a=a[order], b=b[order], similarity=similarity, shared=shared, total=total)
