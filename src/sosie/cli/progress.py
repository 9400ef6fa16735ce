"""Progress on a terminal, with rate and remaining time; nothing where nobody looks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click
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
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from sosie.kernels.compile import compiled_before
from sosie.report.stages import Progress, Silent


class Rate(ProgressColumn):
    """Units per second."""

    def render(self, task: Task) -> Text:
        """Show the rate once it is known."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "")


class TerminalProgress:
    """One bar for each stage."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def start(self, stage: str, total: int | None) -> None:
        """Begin a stage."""
        self._task = self._bars.add_task(stage, total=total)

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
def progress(quiet: bool) -> Iterator[Progress]:
    """Yield a progress for the terminal, silent with `quiet` or where standard error is no terminal."""
    if not quiet and not compiled_before():
        click.echo("Compiling the kernels for this machine: once, about a minute.", err=True)
    console = Console(stderr=True)
    if quiet or not console.is_terminal or os.environ.get("TERM") == "dumb":
        yield Silent()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<9}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console) as bars:
        yield TerminalProgress(bars)
