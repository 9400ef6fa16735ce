"""Line charts as SVG, and as PNG where a browser is at hand."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLOURS = ("#1f5fa8", "#c2410c", "#2f7d4f", "#7c3aed")
WIDTH, HEIGHT = 380, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 34, 46


@dataclass(frozen=True)
class LineChart:
    """Lines through points: for each name its y at every x. `y_range` are the ends of the y axis."""

    title: str
    x_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    y_range: tuple[float, float] = (0.0, 1.0)

    def drawn(self, left: int, top: int) -> str:
        """Return the chart as SVG elements, its upper left corner at a place."""
        low, high = self.y_range
        low_x, high_x = min(self.x), max(self.x)

        def place(x: float, y: float) -> tuple[float, float]:
            across = (x - low_x) / (high_x - low_x or 1)
            up = (min(max(y, low), high) - low) / (high - low or 1)
            return (
                left + LEFT + across * (WIDTH - LEFT - RIGHT),
                top + HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
            )

        parts = [_text(left + LEFT, top + 18, self.title, "start", "bold")]
        for i in range(6):
            y = low + (high - low) * i / 5
            (x1, at), (x2, _) = place(low_x, y), place(high_x, y)
            parts.append(f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
            parts.append(_text(x1 - 8, at + 4, f"{y:.3g}", "end"))
        shown: list[float] = []
        for x in self.x:
            if shown and place(x, low)[0] - place(shown[-1], low)[0] < 24:
                continue
            shown.append(x)
            parts.append(
                _text(
                    place(x, low)[0],
                    top + HEIGHT - BOTTOM + 17,
                    f"{x:,g}" if x < 1000 else f"{x:,.0f}",
                    "middle",
                    size=10,
                )
            )
        parts.append(_text(left + (LEFT + WIDTH - RIGHT) / 2, top + HEIGHT - 10, self.x_label, "middle"))
        for colour, values in zip(COLOURS, self.lines.values(), strict=False):
            points = [place(x, y) for x, y in zip(self.x, values, strict=True) if y == y]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        return "".join(parts)


def figure(rows: Sequence[Sequence[LineChart]]) -> tuple[str, int, int]:
    """Return rows of charts as one SVG with a legend, and its width and height."""
    width, height = WIDTH * max(map(len, rows)), HEIGHT * len(rows) + 30
    names = list(dict.fromkeys(name for row in rows for chart in row for name in chart.lines))
    parts = [f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (colour, name) in enumerate(zip(COLOURS, names, strict=False)):
        at = LEFT + i * 260
        parts.append(
            f'<rect x="{at}" y="9" width="22" height="4" fill="{colour}"/>' + _text(at + 30, 16, name, "start")
        )
    for j, row in enumerate(rows):
        parts += [chart.drawn(i * WIDTH, 30 + j * HEIGHT) for i, chart in enumerate(row)]
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'
    return svg, width, height


def save_png(rows: Sequence[Sequence[LineChart]], path: Path, browser: str = "chromium") -> None:
    """Draw rows of charts into a PNG by a browser without a window."""
    svg, width, height = figure(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "figure.html"
        page.write_text(f'<body style="margin:0">{svg}</body>', "utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/user"]
        shot = [f"--screenshot={path}", f"--window-size={width},{height}", page.as_uri()]
        subprocess.run([browser, *options, *shot], check=True, capture_output=True, timeout=300)


def _text(x: float, y: float, text: str, anchor: str, weight: str = "normal", size: int = 12) -> str:
    style = f'font-family="sans-serif" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'
