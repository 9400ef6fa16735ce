"""Line charts as inline SVG: values from 0 to 1 over an axis, one line for each name."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

WIDTH, HEIGHT = 500, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 14, 46
COLOURS = ("#2c7399", "#d9822b", "#2e8b57", "#a33a3a", "#7a5ea8", "#8a8d1f", "#4f6d7a", "#c05a8a", "#5b5b5b", "#1f9e9e")


@dataclass(frozen=True)
class Line:
    """A name, and the points of its line; points that are not numbers interrupt it."""

    label: str
    x: Any
    y: Any


def line_chart(lines: list[Line], name: str, axis: str) -> str:
    """Draw lines from 0 to 1 in both directions, with a legend below.

    >>> "<polyline" in line_chart([Line("recall", [0, 1], [0, 0.5])], "Recall", "radius")
    True
    """
    floor, height, width = HEIGHT - _BOTTOM, HEIGHT - _BOTTOM - _TOP, WIDTH - _LEFT - _RIGHT
    parts = []
    for step in range(5):
        x, y = _LEFT + width * step / 4, floor - height * step / 4
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"></line>'
            f'<text class="label" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{step / 4:g}</text>'
            f'<text class="label" x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{step / 4:g}</text>'
        )
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(lines))]
    for colour, line in zip(colours, lines, strict=True):
        for run in _runs(line):
            points = " ".join(f"{_LEFT + width * x:.1f},{floor - height * y:.1f}" for x, y in run)
            parts.append(
                f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}">'
                f"<title>{escape(line.label)}</title></polyline>"
            )
    centre = _LEFT + width / 2
    parts.append(f'<text class="axis" x="{centre}" y="{HEIGHT - 8}" text-anchor="middle">{escape(axis)}</text>')
    chart = "".join(parts)
    keys = "".join(
        f'<span style="white-space: nowrap"><span class="key" style="background: {colour}"></span>'
        f"{escape(line.label)}</span> "
        for colour, line in zip(colours, lines, strict=True)
    )
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(name)}">{chart}</svg>'
        f'<p class="legend">{keys}</p>'
    )


def _runs(line: Line) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if np.isfinite(x) and np.isfinite(y):
            runs[-1].append((float(x), float(y)))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
