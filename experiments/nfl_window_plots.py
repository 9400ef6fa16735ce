"""The plots of the sliding window: NFL Figures 5 to 8, done again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.figure import COLOURS, grid, panels, save
from experiments.nfl_window_data import ENGLISH, GERMAN, PAPER_ROWS
from sosie import Window
from sosie.planner.models.window import relative_cost

if TYPE_CHECKING:
    from experiments.nfl_window import Measured, Times

_PAPER = ((0.35, 0.93), (0.40, 0.95), (0.50, 0.98), (1.0, 0.995))  # relative cost and recall, as its text says


def draw_windows(times: Times) -> None:
    """Figure 5: time by the width of the window, a line for each number of tables."""
    figure, (axes,) = panels()
    windows = sorted({window for _, window in times.seconds})
    for tables in sorted({tables for tables, _ in times.seconds}):
        axes.plot(windows, [times.seconds[tables, window] for window in windows], "o-", label=f"Q = {tables}")
    axes.set(xlabel="window B", ylabel="seconds of one core", ylim=(0, None), title="time (Figure 5)")
    axes.legend(frameon=False, fontsize=8)
    save(figure, "nfl-figure5")


def draw_recall(measured: Sequence[Measured], name: str = "nfl-figure6") -> None:
    """Figure 6: recall by the number of tables, with both bounds of the model."""
    figure, all_axes = panels(len(measured))
    for axes, each in zip(all_axes, measured, strict=True):
        for colour, swept in zip(COLOURS, each.windows, strict=False):
            axes.plot(swept.tables, swept.recall, "o-", ms=3, color=colour, label=f"B = {swept.paper}")
            for bound in zip(*swept.model, strict=True):
                axes.plot(swept.tables, bound, ":", color=colour)
        axes.axhline(each.bound, color="0.4", label="brute force")
        axes.set(xlabel="tables Q", ylabel="recall", ylim=(0, 1), title=each.sides.name)
        axes.title.set_fontsize(8)
    all_axes[0].plot([], [], ":", color="0.3", label="model, floor and ceil")
    all_axes[0].legend(frameon=False, fontsize=7, ncols=2, loc="lower right")
    save(figure, name)


def draw_comparisons(measured: Sequence[Measured]) -> None:
    """Figure 7: comparisons at the paper's size, with the recall beside each point."""
    figure, all_axes = panels(len(measured), height=4.2)
    brute = GERMAN * ENGLISH
    for axes, each in zip(all_axes, measured, strict=True):
        for colour, swept in zip(COLOURS, each.windows, strict=False):
            compared = [brute * relative_cost(PAPER_ROWS, Window(tables, swept.paper)) for tables in swept.tables]
            axes.plot(swept.tables, compared, "o-", ms=3, color=colour, label=f"B = {swept.paper}")
            for place in range(0, len(compared), 3):
                at = swept.tables[place], compared[place]
                axes.annotate(f"{swept.recall[place]:.2f}", at, fontsize=6, xytext=(2, 3), textcoords="offset points")
        axes.axhline(brute, color="0.4", lw=3, label="brute force")
        axes.set(xlabel="tables Q", ylabel="comparisons", yscale="log", title=each.sides.name)
        axes.title.set_fontsize(8)
    all_axes[0].legend(frameon=False, fontsize=7, ncols=2, loc="lower right")
    save(figure, "nfl-figure7")


def draw_tradeoff(measured: Sequence[Measured], times: Times) -> None:
    """Figure 8: relative recall by relative cost, in comparisons and in time."""
    figure, all_axes = grid(len(measured), 2)
    for (by_comparisons, by_time), each in zip(all_axes, measured, strict=True):
        _tradeoff(by_comparisons, each, lambda tables, window: relative_cost(PAPER_ROWS, Window(tables, window)))
        _tradeoff(by_time, each, times.relative)
        by_comparisons.set(xlabel="comparisons, as a share of brute force")
        by_time.set(xlabel="time at the paper's size, as a share of brute force")
        by_comparisons.plot(*zip(*_PAPER, strict=True), "kx", label="the paper's text")
        for axes in (by_comparisons, by_time):
            axes.set_title(each.sides.name, fontsize=8)
    all_axes[0][0].legend(frameon=False, fontsize=7, loc="lower right")
    save(figure, "nfl-figure8")


def _tradeoff(axes: Any, measured: Measured, cost: Any) -> None:
    for colour, swept in zip(COLOURS, measured.windows, strict=False):
        costs = [cost(tables, swept.paper) for tables in swept.tables]
        shares = [recall / measured.bound for recall in swept.recall]
        axes.plot(costs, shares, "o-", ms=3, color=colour, label=f"B = {swept.paper}")
    axes.axvline(1, color="0.4", lw=2)
    axes.set(ylabel="recall, as a share of brute force", xlim=(0, 1.6), ylim=(0.5, 1.005))
