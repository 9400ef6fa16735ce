"""How much faster two threads are than one on this machine: the product's own search, on generated signatures."""

from __future__ import annotations

import time

import numpy as np

from sosie.index.flat import FlatIndex
from sosie.types import Signatures

ROWS, QUERIES, BITS = 1 << 17, 1 << 11, 256
_REPEATS = 3


def measure(threads: int) -> dict[str, float | dict[int, float]]:
    """Return what two threads gain, at least nothing; nothing at all where there is one."""
    if threads < 2:
        return {}
    drawn = np.random.default_rng(0).integers(0, 2**64, (ROWS + QUERIES, BITS // 64), dtype=np.uint64)
    index, queries = FlatIndex(Signatures(drawn[QUERIES:], BITS)), Signatures(drawn[:QUERIES], BITS)
    one, two = (_best(index, queries, count) for count in (1, 2))
    return {"threads": min(max(one / two, 1.0), 2.0)}


def _best(index: FlatIndex, queries: Signatures, threads: int) -> float:
    """Return the least time of some searches; the first one, which may compile, does not count."""
    index.within(queries.take(np.arange(64)), radius=40, threads=threads)
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        index.within(queries, radius=40, threads=threads)
        times.append(time.perf_counter() - begin)
    return min(times)
