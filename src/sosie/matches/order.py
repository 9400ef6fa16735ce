"""Pairs in their one order."""

from __future__ import annotations

import numpy as np

from sosie.types import I64, Counters, Pairs, VerifiedPairs


def ordered_pairs(a: I64, b: I64, counters: Counters | None = None, *, distinct: bool = True) -> Pairs:
    """Return pairs ordered by (a, b); repeated ones are dropped unless they are known to be distinct.

    >>> pairs = ordered_pairs(np.array([3, 1, 3]), np.array([4, 2, 4]), distinct=False)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([1, 3], [2, 4])
    """
    if len(a) and max(int(a.max()), int(b.max())) >= 2**32:
        order = np.lexsort((b, a))
        a, b = a[order], b[order]
    else:
        packed = np.sort(a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64))
        a, b = (packed >> np.uint64(32)).astype(np.int64), (packed & np.uint64(2**32 - 1)).astype(np.int64)
    if not distinct:
        new = (np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 0)
        a, b = a[new], b[new]
    return Pairs(a, b, dict(counters or {}))


def merged(pairs: VerifiedPairs, more: VerifiedPairs) -> VerifiedPairs:
    """Return verified pairs together with others that are not among them, ordered by (a, b)."""
    a, b = np.concatenate([pairs.a, more.a]), np.concatenate([pairs.b, more.b])
    order = np.lexsort((b, a))
    similarity = np.concatenate([pairs.similarity, more.similarity])[order]
    shared = np.concatenate([pairs.shared, more.shared])[order]
    totals = [side.total for side in (pairs, more) if side.total is not None]
    total = np.concatenate(totals)[order] if len(totals) == 2 else None
    return VerifiedPairs(a[order], b[order], similarity, shared, total, pairs.counters)
