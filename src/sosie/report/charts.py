"""Charts as inline SVG, bars and lines: coloured by the page's style sheet, readable without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import dropwhile, pairwise
from typing import Any

import numpy as np

from sosie.types import F64, I64

WIDTH = 500
_LABEL, _VALUE, _ROW = 112, 140, 26  # of a chart of rows: room for labels, for values, and the height of a row
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 52, 12, 14, 46, 250  # of a histogram
_PER_UNIT = (20, 50, 100, 200, 500, 1000, 2000)  # bars of a histogram from 0 to 1; the finest that gives BARS or fewer
BARS = 25
_LINES_LEFT, _LINES_HEIGHT = 44, 270  # of a chart of lines
COLOURS = ("#2c7399", "#d9822b", "#2e8b57", "#a33a3a", "#7a5ea8", "#8a8d1f", "#4f6d7a", "#c05a8a", "#5b5b5b", "#1f9e9e")


@dataclass(frozen=True)
class Bar:
    """One bar: what it counts, and how many."""

    label: str
    count: int


def size_bars(sizes: I64) -> list[Bar]:
    """Count clusters by size: single sizes up to 4, then from 5, 10, 20, 50 and so on; the smallest come first.

    >>> size_bars(np.array([2, 2, 3, 5, 9, 10]))
    [Bar(label='2', count=2), Bar(label='3', count=1), Bar(label='4', count=0), Bar(label='5 to 9', count=2),
     Bar(label='10 to 19', count=1)]
    """
    if not len(sizes):
        return []
    edges = [2]
    while (edge := edges[-1]) <= sizes.max():
        edges.append(edge + 1 if edge < 5 else edge * (5 if str(edge)[0] == "2" else 4) // 2)
    counts = np.histogram(sizes, np.array(edges) - 0.5)[0].tolist()
    labels = [f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(edges)]
    bars = [Bar(label, count) for label, count in zip(labels, counts, strict=True)]
    return list(dropwhile(lambda bar: not bar.count, bars))


def similarity_bars(similarity: F64, threshold: float) -> list[Bar]:
    """Count pairs by similarity from the threshold to 1; a similarity of exactly 1 is a bar of its own.

    >>> similarity_bars(np.array([0.9, 0.95, 0.95, 1.0]), 0.9)[::10]
    [Bar(label='0.900', count=1), Bar(label='0.950', count=2), Bar(label='1', count=1)]
    """
    if not len(similarity):
        return []
    low = min(threshold, float(similarity.min()))
    per_unit = max((n for n in _PER_UNIT if (1 - low) * n < BARS + 0.5), default=_PER_UNIT[0])
    edges = np.arange(int(low * per_unit + 1e-9), per_unit + 1) / per_unit
    below = similarity[similarity < 1]
    counts = np.histogram(below, edges)[0].tolist() if len(edges) > 1 else []
    digits = 2 if per_unit <= 100 else 3 if per_unit <= 1000 else 4
    bars = [Bar(f"{edge:.{digits}f}", count) for edge, count in zip(edges.tolist(), counts, strict=False)]
    return [*bars, Bar("1", len(similarity) - len(below))]


def row_chart(bars: list[Bar], name: str) -> str:
    """Draw bars as rows, with label and count beside each: for few bars of any size."""
    top = max((bar.count for bar in bars), default=0) or 1
    room = WIDTH - _LABEL - _VALUE
    total = sum(bar.count for bar in bars) or 1
    parts = []
    for index, bar in enumerate(bars):
        y = index * _ROW
        length = max(bar.count / top * room, 2 if bar.count else 0)
        share = f"{bar.count:,} ({100 * bar.count / total:.1f} %)" if bar.count else "0"
        parts.append(
            f'<text class="label" x="{_LABEL - 10}" y="{y + 17}" text-anchor="end">{escape(bar.label)}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{y + 4}" width="{length:.1f}" height="{_ROW - 8}" rx="2"></rect>'
            f'<text class="value" x="{_LABEL + length + 8:.1f}" y="{y + 17}">{share}</text>'
        )
    return _svg("".join(parts), len(bars) * _ROW + 2, name)


def histogram(bars: list[Bar], name: str, axis: str) -> str:
    """Draw bars side by side over an axis whose ticks are the labels: the lower edges of what each counts."""
    top = _round_up(max((bar.count for bar in bars), default=0))
    floor, height = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    step = (WIDTH - _LEFT - _RIGHT) / max(len(bars), 1)
    every = max(1, round(len(bars) / 5))
    parts = _grid(top)
    for index, bar in enumerate(bars):
        x, length = _LEFT + index * step, bar.count / top * height
        length = max(length, 1.5 if bar.count else 0)
        last = index == len(bars) - 1
        upper = "" if last else f" to {bars[index + 1].label}"
        parts.append(
            f'<rect class="bar{" whole" if last else ""}" x="{x + 1.5:.1f}" y="{floor - length:.1f}"'
            f' width="{max(step - 3, 1):.1f}" height="{length:.1f}" rx="1.5">'
            f"<title>{escape(bar.label + upper)}: {bar.count:,}</title></rect>"
        )
        if last or (index % every == 0 and index < len(bars) - 2):
            middle = x + step / 2 if last else x + 1.5
            label = escape(bar.label)
            parts.append(f'<text class="label" x="{middle:.1f}" y="{floor + 17}" text-anchor="middle">{label}</text>')
    return _svg("".join([*parts, _axis(axis)]), _HEIGHT, name)


def tenth_bars(similarity: F64) -> list[Bar]:
    """Count similarities in bins of 0.1, as Figure 1 of NFL has them: from 0, or from the least below it, to 1.

    >>> [bar.count for bar in tenth_bars(np.array([0.05, 0.3, 0.39, 1.0]))]
    [1, 0, 0, 2, 0, 0, 0, 0, 0, 1]
    >>> tenth_bars(np.array([-0.05, 0.5]))[0]
    Bar(label='-0.1', count=1)
    """
    known = np.clip(similarity[~np.isnan(similarity)], -1, 1)
    if not len(known):
        return []
    edges = np.arange(min(0, int(np.floor(10 * known.min()))), 11) / 10
    counts = np.histogram(known, edges)[0].tolist()
    return [Bar(f"{edge:.1f}", count) for edge, count in zip(edges.tolist(), counts, strict=False)]


def tenth_chart(bars: list[Bar], name: str, axis: str, mark: tuple[str, float] | None = None) -> str:
    """Draw bars of `tenth_bars` up to 1 with all edges below them; a line with a label marks one similarity."""
    top = _round_up(max((bar.count for bar in bars), default=0))
    floor, height = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    step = (WIDTH - _LEFT - _RIGHT) / max(len(bars), 1)
    edges, every = [*(bar.label for bar in bars), "1.0"], 1 if len(bars) <= 12 else 2
    parts = _grid(top)
    for index, bar in enumerate(bars):
        x, length = _LEFT + index * step, max(bar.count / top * height, 1.5 if bar.count else 0)
        parts.append(
            f'<rect class="bar" x="{x + 1.5:.1f}" y="{floor - length:.1f}" width="{step - 3:.1f}"'
            f' height="{length:.1f}" rx="1.5"><title>{bar.label} to {edges[index + 1]}: {bar.count:,}</title></rect>'
        )
    for index, edge in list(enumerate(edges))[::-every]:
        x = _LEFT + index * step
        parts.append(f'<text class="label" x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{edge}</text>')
    if mark is not None and bars:
        label, value = mark
        x = _LEFT + (10 * value - 10 * float(bars[0].label)) * step
        anchor = "middle" if _LEFT + 60 < x < WIDTH - 60 else "start" if x < WIDTH / 2 else "end"
        parts.append(
            f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{floor}"></line>'
            f'<text class="label" x="{x:.1f}" y="{_TOP - 4}" text-anchor="{anchor}">{escape(label)}</text>'
        )
    return _svg("".join([*parts, _axis(axis)]), _HEIGHT, name)


def nearest_chart(
    bars: list[Bar], name: str, axis: str, mark: tuple[str, float], shade: tuple[float, float] | None = None
) -> str:
    """Draw bars of equal width up to 1, labelled by their lower edges; a line marks one value, a band a stretch.

    >>> chart = nearest_chart([Bar("0.8", 2), Bar("0.9", 3)], "two", "similarity", ("here", 0.9), (0.8, 0.9))
    >>> 'class="threshold"' in chart, 'class="valley"' in chart
    (True, True)
    """
    top, lowest = _round_up(max((bar.count for bar in bars), default=0)), float(bars[0].label)
    floor, height, width = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP, WIDTH - _LEFT - _RIGHT
    step, edges = width / len(bars), [*(bar.label for bar in bars), "1"]

    def across(value: float) -> float:
        return _LEFT + (value - lowest) / (1 - lowest) * width

    parts = _grid(top)
    if shade is not None:
        left, right = map(across, shade)
        parts.insert(
            0,
            f'<rect class="valley" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" height="{height}">'
            f"<title>valley: {shade[0]:g} to {shade[1]:g}</title></rect>",
        )
    for index, bar in enumerate(bars):
        x, length = _LEFT + index * step, max(bar.count / top * height, 1.5 if bar.count else 0)
        parts.append(
            f'<rect class="bar" x="{x + 1.5:.1f}" y="{floor - length:.1f}" width="{step - 3:.1f}"'
            f' height="{length:.1f}" rx="1.5"><title>{escape(bar.label)} to {edges[index + 1]}: {bar.count:,}</title>'
            "</rect>"
        )
    for index, edge in list(enumerate(edges))[::2]:
        x = _LEFT + index * step
        label = f'<text class="label" x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{escape(edge)}</text>'
        parts.append(label)
    said, value = mark
    x = across(value)
    anchor = "middle" if _LEFT + 60 < x < WIDTH - 60 else "start" if x < WIDTH / 2 else "end"
    parts.append(
        f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{floor}"></line>'
        f'<text class="label" x="{x:.1f}" y="{_TOP - 4}" text-anchor="{anchor}">{escape(said)}</text>'
    )
    return _svg("".join([*parts, _axis(axis)]), _HEIGHT, name)


def _grid(top: int) -> list[str]:
    """Draw the four steps up to a count, each with its number."""
    parts, floor, height = [], _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    for part in range(0, 5):
        y = floor - height * part / 4
        tick = top * part / 4
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"></line>'
            f'<text class="label" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_compact(tick)}</text>'
        )
    return parts


def _axis(name: str) -> str:
    centre = (_LEFT + WIDTH - _RIGHT) / 2
    return f'<text class="axis" x="{centre}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(name)}</text>'


def proportion(parts: list[tuple[str, Bar]], name: str) -> str:
    """Draw one bar that is divided among its parts, each with the class that colours it."""
    total = sum(bar.count for _, bar in parts) or 1
    drawn, x = [], 0.0
    for kind, bar in parts:
        length = 100 * bar.count / total
        title = f"<title>{escape(bar.label)}: {bar.count:,}</title>"
        drawn.append(f'<rect class="{kind}" x="{x:.3f}" y="0" width="{length:.3f}" height="10">{title}</rect>')
        x += length
    return (
        f'<svg class="proportion" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(name)}">{"".join(drawn)}</svg>'
    )


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
    floor, height, width = _LINES_HEIGHT - _BOTTOM, _LINES_HEIGHT - _BOTTOM - _TOP, WIDTH - _LINES_LEFT - _RIGHT
    parts = []
    for step in range(5):
        x, y = _LINES_LEFT + width * step / 4, floor - height * step / 4
        parts.append(
            f'<line class="grid" x1="{_LINES_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"></line>'
            f'<text class="label" x="{_LINES_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{step / 4:g}</text>'
            f'<text class="label" x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{step / 4:g}</text>'
        )
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(lines))]
    for colour, line in zip(colours, lines, strict=True):
        for run in _runs(line):
            points = " ".join(f"{_LINES_LEFT + width * x:.1f},{floor - height * y:.1f}" for x, y in run)
            parts.append(
                f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}">'
                f"<title>{escape(line.label)}</title></polyline>"
            )
    centre = _LINES_LEFT + width / 2
    parts.append(f'<text class="axis" x="{centre}" y="{_LINES_HEIGHT - 8}" text-anchor="middle">{escape(axis)}</text>')
    chart = "".join(parts)
    keys = "".join(
        f'<span style="white-space: nowrap"><span class="key" style="background: {colour}"></span>'
        f"{escape(line.label)}</span> "
        for colour, line in zip(colours, lines, strict=True)
    )
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {_LINES_HEIGHT}" role="img" aria-label="{escape(name)}">{chart}</svg>'
        f'<p class="legend">{keys}</p>'
    )


def _svg(content: str, height: int, name: str) -> str:
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(name)}">{content}</svg>'


def _round_up(count: int) -> int:
    """Return the next number above that makes four round steps."""
    size = 4
    while size < count:
        leading = int(str(size // 4)[0])
        size = size * (5 if leading == 2 else 4) // 2
    return size


def _compact(number: float) -> str:
    for unit, name in ((1_000_000, " M"), (1_000, " k")):
        if number >= unit:
            return f"{number / unit:g}{name}"
    return f"{number:g}"


def _runs(line: Line) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if np.isfinite(x) and np.isfinite(y):
            runs[-1].append((float(x), float(y)))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
