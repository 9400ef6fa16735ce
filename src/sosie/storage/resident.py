"""Memory within a limit: how much there is, how much is used, and pages of mapped files given back in time.

A mapped array costs nothing until it is read; then its pages count as memory of the process until the system needs
them elsewhere. They can be given back at any time, because they are still in the file.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

INTERVAL = 0.002  # seconds between two looks at the memory: a fault maps 64 KB, and there are a million in a second
SHARE = 0.5  # of the limit, from which mapped pages are given back
PROC, CGROUPS = (
    "/proc/self",
    "/sys/fs/cgroup",
)  # which control groups a process is in, and their limits


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


def return_freed() -> None:
    """Let the system have the memory that was freed and that the allocator keeps for later, where it can be asked to.

    Arrays of some megabytes that come and go on several threads leave gaps, which count as memory of the process.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


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


def physical_memory(proc: str | os.PathLike[str] = PROC, cgroups: str | os.PathLike[str] = CGROUPS) -> int:
    """Return how many bytes of memory this process can have: those of the machine, or of its container if fewer.

    A container is a control group with a limit, of version 2 (the least `memory.max` and `memory.high` of the group
    and of those that it is in) or 1 (`memory.limit_in_bytes`). What cannot be read is no limit.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_group_limits(Path(proc) / "cgroup", Path(cgroups))])


def _group_limits(listed: Path, cgroups: Path) -> Iterator[int]:
    """Yield the limits of the groups in a list like /proc/self/cgroup: lines of number, controllers and path."""
    for line in _lines(listed):
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            for root in (cgroups, cgroups / "unified"):  # the latter where both versions are mounted
                yield from _limits_along(root, path, ("memory.max", "memory.high"))
        elif "memory" in controllers.split(","):
            yield from _limits_along(cgroups / "memory", path, ("memory.limit_in_bytes",))


def _limits_along(root: Path, path: str, names: tuple[str, ...]) -> Iterator[int]:
    """Yield the limits of a group and of all that it is in, up to the root.

    The path may be that of the host, where the container sees its own group as the root: then only that is there. One
    that begins with `..` leads out of what the container sees.
    """
    parts = [part for part in path.split("/") if part]
    inside = [] if ".." in parts else parts
    for depth in range(len(inside), -1, -1):
        for name in names:
            for line in _lines(root.joinpath(*inside[:depth], name)):
                if line.isdecimal():  # not "max"; that of version 1 without a limit is beyond any machine
                    yield int(line)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _keep(most: float, maps: list[mmap.mmap], done: threading.Event) -> None:
    while not done.wait(INTERVAL):
        if (resident_bytes() or 0) > most:
            for found in maps:
                found.madvise(mmap.MADV_DONTNEED)
