"""Pages of results: each script owns one section between markers, and pictures beside it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

DOCS = Path(__file__).resolve().parent.parent / "docs"
R = TypeVar("R")


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table.

    >>> print(table(["n", "time"], [[1, 0.25]]))
    | n | time |
    |---|---|
    | 1 | 0.25 |
    """
    lines = [header, *([str(cell) for cell in row] for row in rows)]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(header), *text[1:]])


def percent(share: float) -> str:
    """Return a share as the papers print it."""
    return f"{100 * share:.2f} %"


def cpu_ms(run: Callable[[], R], count: int, times: int = 1) -> tuple[float, R]:
    """Return the milliseconds of one thread for each of `count` queries, the best of some times, and the result."""
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        result = run()
        best = min(best, time.thread_time() - start)
    return 1000 * best / count, result


def publish(page: str, section: str, text: str, write: bool) -> None:
    """Print a section, and put it into docs/experiments if asked to."""
    print(text, flush=True)
    if not write:
        return
    path = DOCS / "experiments" / page
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    before, found, rest = path.read_text().partition(begin)
    if not found or end not in rest:
        sys.exit(f"{path}: has no place for {section}: add the lines {begin} and {end}")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")


def picture(name: str, write: bool, draw: Callable[[Any], None]) -> None:
    """Draw with matplotlib into docs/images/experiments, if asked to."""
    if not write:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4), dpi=110, layout="constrained")
    draw(axes)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.savefig(DOCS / "images" / "experiments" / f"{name}.png", metadata={"Software": None})
