"""Line plots without a plotting library: SVG, drawn to a PNG by a Chromium that runs without a screen."""

from __future__ import annotations

import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a5a9e", "#c99700")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 470, 340, 62, 14, 42, 50


@dataclass(frozen=True)
class Line:
    """One curve: its name and its points; NaN leaves a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its curves; x goes from 0 to 1, and y from 0 to `top`."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    top: float


def draw(panels: Sequence[Panel], target: Path, browser: str = "chromium") -> None:
    """Draw panels side by side, with one legend below them."""
    names = [line.name for line in panels[0].lines]
    shown = "".join(f'<g transform="translate({i * WIDTH},0)">{_axes(panel)}</g>' for i, panel in enumerate(panels))
    width, height = WIDTH * len(panels), HEIGHT + 34
    step = (width - LEFT) / len(names)
    legend = "".join(_entry(LEFT + i * step, i, name) for i, name in enumerate(names))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="13" fill="#222"><rect width="100%" height="100%" fill="white"/>{shown}{legend}</svg>'
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "plot.html"
        page.write_text(f'<meta charset="utf-8"><body style="margin:0">{svg}', "utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *(f"--user-data-dir={folder}/profile", f"--window-size={width},{height}"),
                *(f"--screenshot={target}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )


def _axes(panel: Panel) -> str:
    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x * (WIDTH - LEFT - RIGHT)
        return across, TOP + (1 - min(y / panel.top, 1.02)) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="{(WIDTH + LEFT) / 2}" y="24" text-anchor="middle" font-size="15">{panel.title}</text>']
    for i in range(6):
        y = panel.top * i / 5
        across, down = place(0, y)
        parts.append(f'<path d="M{across} {down}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{across - 8}" y="{down + 4}" text-anchor="end">{y:.2g}</text>')
        x = i / 5
        parts.append(f'<text x="{place(x, 0)[0]}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:.2g}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{panel.x_label}</text>')
    parts.append(f'<text transform="translate(16,{middle}) rotate(-90)" text-anchor="middle">{panel.y_label}</text>')
    for i, line in enumerate(panel.lines):
        style = f'fill="none" stroke="{COLOURS[i]}" stroke-width="2.2" stroke-dasharray="{DASHES[i]}"'
        parts.append(f'<path d="{_path([place(x, y) for x, y in zip(line.x, line.y, strict=True)])}" {style}/>')
    return "".join(parts)


def _path(points: Sequence[tuple[float, float]]) -> str:
    steps, pen_up = [], True
    for x, y in points:
        if math.isnan(y):
            pen_up = True
            continue
        steps.append(f"{'M' if pen_up else 'L'}{x:.1f} {y:.1f}")
        pen_up = False
    return "".join(steps)


def _entry(x: float, i: int, name: str) -> str:
    y = HEIGHT + 16
    style = f'stroke="{COLOURS[i]}" stroke-width="2.2" stroke-dasharray="{DASHES[i]}"'
    return f'<path d="M{x} {y}h30" {style}/><text x="{x + 38}" y="{y + 4}">{name}</text>'
