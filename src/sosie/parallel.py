"""Kernels side by side on threads, in an order that never depends on them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sosie.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use; None means every core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise UsageError(f"threads must be at least 1, got {threads}")
    return threads


def ordered_map(
    function: Callable[[T], R], items: Iterable[T], threads: int | None = None, *, ahead: int = 2
) -> Iterator[R]:
    """Apply a function on threads and yield the results in the order of the items.

    At most `ahead` items per thread are under way, so a stream of any length needs bounded memory. After an error no
    thread is at work; where the results are let go before their end, those under way are still finished.

    >>> list(ordered_map(lambda x: x * x, range(5), threads=3))
    [0, 1, 4, 9, 16]
    """
    workers = thread_count(threads)
    if workers == 1:
        yield from map(function, items)
        return
    pool, waiting, wait = ThreadPoolExecutor(workers), deque[Future[R]](), True
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > ahead * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except GeneratorExit:
        # Whoever asked has gone. This may be the garbage collector, at any moment: even where this very thread is being
        # started or ended and holds the lock by which threads end. Who waits for them there waits for ever.
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)


def spans(offsets: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Cut rows into consecutive spans of about `size` units each, at least one row in each.

    >>> spans(np.array([0, 4, 5, 9, 30, 31]), 8)
    [(0, 3), (3, 4), (4, 5)]
    """
    rows = len(offsets) - 1
    cuts, start = [], 0
    while start < rows:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="left"))
        stop = min(max(stop, start + 1), rows)
        cuts.append((start, stop))
        start = stop
    return cuts
