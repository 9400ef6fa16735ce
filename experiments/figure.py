"""Plots of the experiments, all in one style, as files of docs/images/experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images" / "experiments"
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93")


def panels(count: int = 1, *, height: float = 3.4) -> tuple[Any, list[Any]]:
    """Return a figure and so many axes side by side."""
    figure, axes = grid(1, count, height=height)
    return figure, axes[0]


def grid(rows: int, columns: int, *, height: float = 3.4) -> tuple[Any, list[list[Any]]]:
    """Return a figure and axes in rows."""
    size = 4.8 * columns, height * rows
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25)
        each.set_prop_cycle(color=COLOURS)
    return figure, axes.tolist()


def save(figure: Any, name: str) -> Path:
    """Write a figure and return where it is."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
