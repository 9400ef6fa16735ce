"""Progress bars on standard error, with rate and remaining time: in a terminal or a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from sosie.report.timing import Progress, Silent
from sosie.shown import printable


class Rate(ProgressColumn):
    """Units per second since the stage began: the bars' own rate forgets everything when the total is corrected."""

    def render(self, task: Task) -> Text:
        """Show the rate of stages that count."""
        seconds = task.finished_time or task.elapsed
        return Text(f"{task.completed / seconds:,.0f}/s" if seconds and task.completed > 1 else "")


class Remaining(ProgressColumn):
    """The time left at that rate."""

    def render(self, task: Task) -> Text:
        """Show it while a stage that counts is under way."""
        if task.finished or not task.total or not task.elapsed or not task.completed:
            return Text("")
        left = task.elapsed * max(task.total - task.completed, 0) / task.completed
        return Text(f"{timedelta(seconds=round(left))} left")


class ProgressBars:
    """One bar for each stage."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def start(self, stage: str, total: int | None) -> None:
        """Begin a stage."""
        self._task = self._bars.add_task(printable(stage), total=total)

    def expect(self, total: int) -> None:
        """Say how many units there will be, as far as is known now."""
        assert self._task is not None
        self._bars.update(self._task, total=total)

    def advance(self, count: int) -> None:
        """Count units as done."""
        assert self._task is not None
        self._bars.advance(self._task, count)

    def finish(self) -> None:
        """End the stage: whatever was counted was all."""
        assert self._task is not None
        task = self._bars.tasks[self._task]
        self._bars.update(self._task, total=task.completed or 1, completed=task.completed or 1)


@contextmanager
def shown(console: Console | None = None) -> Iterator[Progress]:
    """Yield a progress that shows bars, silent where standard error is neither a terminal nor a notebook."""
    console = console or Console(stderr=True)
    if os.environ.get("TERM") == "dumb" or not (console.is_terminal or console.is_jupyter):
        yield Silent()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<9}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        Remaining(),
    )
    with Bars(*columns, console=console) as bars:
        yield ProgressBars(bars)
