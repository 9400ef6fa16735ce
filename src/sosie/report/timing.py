"""How far a job is, and what each of its stages took: time, and the most memory while it ran."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from sosie.storage.resident import resident_bytes

INTERVAL = 0.02  # seconds between two looks at the memory


class Progress(Protocol):
    """Shows how far a stage is; `total` is None where it is not known."""

    def start(self, stage: str, total: int | None) -> None:
        """Begin a stage."""

    def expect(self, total: int) -> None:
        """Say how many units there will be, as far as is known now."""

    def advance(self, count: int) -> None:
        """Count units as done."""

    def finish(self) -> None:
        """End the stage."""


class Silent:
    """A progress that shows nothing."""

    def start(self, stage: str, total: int | None) -> None:
        """Begin a stage."""

    def expect(self, total: int) -> None:
        """Say how many units there will be, as far as is known now."""

    def advance(self, count: int) -> None:
        """Count units as done."""

    def finish(self) -> None:
        """End the stage."""


@dataclass(frozen=True)
class StageCost:
    """What a stage took. The memory is that of the whole process, most of which may be the host's own.

    The system keeps the highest use of a process since it began. Where a stage raised it, that is the stage's peak, to
    the byte; where it did not, the peak is the highest use seen while looking every 20 ms, which a short rise escapes.
    The system's own counter is left as it is: it belongs to whoever runs the process. Where the system does not say
    how much is used now, the peak is that of the process so far.
    """

    stage: str
    seconds: float
    peak_memory_bytes: int


@dataclass
class Timing:
    """Collects what every stage of a run took.

    >>> timing = Timing()
    >>> with timing.stage("read", total=10) as progress:
    ...     progress.advance(10)
    >>> [cost.stage for cost in timing.finished]
    ['read']
    """

    progress: Progress = field(default_factory=Silent)
    finished: list[StageCost] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Progress]:
        """Measure one stage; one that fails is not counted."""
        with _Peak() as peak:
            self.progress.start(name, total)
            start = time.perf_counter()
            try:
                yield self.progress
            finally:
                self.progress.finish()
            seconds = time.perf_counter() - start
        self.finished.append(StageCost(name, round(seconds, 3), peak.bytes))

    def described(self) -> list[dict[str, Any]]:
        """Return what every stage took, as data."""
        return [dict(vars(cost)) for cost in self.finished]


class _Peak:
    """The most memory of this process while a block runs, as `StageCost` says."""

    def __enter__(self) -> _Peak:
        self._before, self._seen = _highest(), resident_bytes()
        self._done = threading.Event()
        self._watcher: threading.Thread | None = None
        if self._seen is not None:
            self._watcher = threading.Thread(target=self._watch, daemon=True, name="sosie-peak")
            self._watcher.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        if self._watcher is not None:
            self._watcher.join()
        highest = _highest()
        raised = highest > self._before or self._seen is None
        self.bytes = highest if raised else max(self._seen or 0, resident_bytes() or 0)

    def _watch(self) -> None:
        while not self._done.wait(INTERVAL):
            self._seen = max(self._seen or 0, resident_bytes() or 0)


def _highest() -> int:
    """Return the most memory that this process ever used."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
