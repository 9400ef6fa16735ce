"""How long each stage took and how much memory it needed, measured while it ran."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol


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


@dataclass
class Stages:
    """Collects what every stage of a run measured.

    >>> stages = Stages()
    >>> with stages.run("read", total=10) as stage:
    ...     stage.advance(10)
    >>> stages.finished[0]["stage"]
    'read'
    """

    progress: Progress = field(default_factory=Silent)
    finished: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return float(round(sum(stage["seconds"] for stage in self.finished), 3))

    @contextmanager
    def run(self, stage: str, total: int | None = None) -> Iterator[Progress]:
        """Measure one stage."""
        _reset_peak()
        self.progress.start(stage, total)
        start = time.perf_counter()
        try:
            yield self.progress
        finally:
            self.progress.finish()
        seconds = time.perf_counter() - start
        self.finished.append({"stage": stage, "seconds": round(seconds, 3), "peak_memory_bytes": _peak()})


def _reset_peak() -> None:
    """Let Linux forget the highest memory use so far, so that each stage has a peak of its own."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass  # elsewhere the peak is that of the whole run so far


def _peak() -> int:
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
