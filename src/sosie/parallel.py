"""Kernels side by side on threads, in an order that never depends on them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Thread
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
    function: Callable[[T], R], items: Iterable[T], threads: int | None = None, *, ahead: int = 2, apart: bool = False
) -> Iterator[R]:
    """Apply a function on threads and yield the results in the order of the items.

    At most `ahead` items per thread are under way, so a stream of any length needs bounded memory. After an error no
    thread is at work; where the results are let go before their end, what is under way is still finished. With `apart`,
    even one thread is not that of the caller, and nobody waits for it who is interrupted: for what only computes,
    however long, in code that no signal reaches.

    >>> list(ordered_map(lambda x: x * x, range(5), threads=3))
    [0, 1, 4, 9, 16]
    """
    workers = thread_count(threads)
    if workers == 1 and not apart:
        yield from map(function, items)
        return
    most = 0 if workers == 1 else ahead * workers
    pool: _Threads | ThreadPoolExecutor = _Threads(workers) if apart else ThreadPoolExecutor(workers)
    waiting, wait = deque[Future[R]](), True
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except GeneratorExit:
        # Whoever asked has gone. This may be the garbage collector, at any moment: even where this very thread is being
        # started or ended and holds the lock by which threads end. Who waits for them there waits for ever.
        wait = False
        raise
    except BaseException:
        wait = not apart
        raise
    finally:
        for future in waiting:
            future.cancel()
        pool.shutdown(wait=wait)


class _Threads:
    """Threads that a process does not wait for when it ends, nor anyone else where something went wrong."""

    def __init__(self, count: int) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._count = count
        self._threads: list[Thread] = []

    def submit(self, function: Callable[[T], R], item: T) -> Future[R]:
        """Let the next thread that is free do it."""
        future: Future[R] = Future()

        def task() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(item))
                except BaseException as error:
                    future.set_exception(error)

        if len(self._threads) < self._count:
            self._threads.append(Thread(target=self._work, daemon=True, name="sosie-apart"))
            self._threads[-1].start()
        self._tasks.put(task)
        return future

    def shutdown(self, wait: bool) -> None:
        """Let the threads end when there is nothing left to do, and wait for that if asked to."""
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()


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
