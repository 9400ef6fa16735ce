"""Memory within a limit: pages of mapped files are given back before they push a process beyond it.

A mapped array costs nothing until it is read; then its pages count as memory of the process until the system needs
them elsewhere. They can be given back at any time, because they are still in the file.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

INTERVAL = 0.002  # seconds between two looks at the memory: a fault maps 64 KB, and there are a million in a second
SHARE = 0.5  # of the limit, from which mapped pages are given back


@contextmanager
def within(limit: int | None, arrays: Iterable[NDArray[Any] | None]) -> Iterator[None]:
    """Give back the pages of mapped arrays whenever the process comes near `limit` bytes; what is none is left alone.

    Does nothing without a limit, without a mapped array, or where the system does not say how much memory is used.
    """
    maps = [found for found in map(mapping_of, arrays) if found is not None]
    if limit is None or not maps or resident_bytes() is None or not hasattr(mmap, "MADV_DONTNEED"):
        yield
        return
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(SHARE * limit, maps, done), daemon=True, name="sosie-memory")
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def give_back(array: NDArray[Any]) -> None:
    """Let go of the pages of a mapped array, which are read from its file when they are needed again.

    >>> import numpy as np
    >>> give_back(np.arange(3))  # not mapped: nothing happens
    """
    if (found := mapping_of(array)) is not None and hasattr(mmap, "MADV_DONTNEED"):
        found.madvise(mmap.MADV_DONTNEED)


def mapping_of(array: NDArray[Any] | None) -> mmap.mmap | None:
    """Return the map of a file that an array is a view of, if it is one."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    return owner


def resident_bytes() -> int | None:
    """Return how much memory this process uses now, None where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return None


def physical_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _keep(most: float, maps: list[mmap.mmap], done: threading.Event) -> None:
    while not done.wait(INTERVAL):
        if (resident_bytes() or 0) > most:
            for found in maps:
                found.madvise(mmap.MADV_DONTNEED)
