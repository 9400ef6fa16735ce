"""The trade-off curves of a plan as a picture: time and memory over recall, in one SVG that stands by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from sosie.planner.curve import Curve, place, seconds, ticks, trade_offs
from sosie.planner.estimate import Candidate
from sosie.planner.explain import asked, parameters, wanted
from sosie.planner.limits import held
from sosie.planner.plan import Plan
from sosie.report.charts import COLOURS
from sosie.shown import show_seconds, show_share
from sosie.storage.size import show_size

WIDTH, _LEFT, _RIGHT = 720, 76, 24
_HEAD, _PANEL, _GAP, _LINE = 82, 240, 78, 20  # heights: of the titles, a panel, what is between, and a line of words
_TIMES = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, *(86_400 * 10**power for power in range(9)))
_STYLE = (
    "text { font: 13px system-ui, sans-serif; fill: #333 } .title { font-size: 16px; font-weight: 600 }"
    " .soft { fill: #666 } .grid { stroke: #ddd } .limit { stroke: #a33a3a; stroke-dasharray: 5 4 }"
)


def picture(plan: Plan) -> str:
    """Draw the curves of a plan: each method's least time, and its least memory, over the recall that it reaches."""
    panels: tuple[tuple[str, Callable[[Candidate], float], Callable[[float], str], float | None], ...] = (
        ("time", seconds, show_seconds, plan.wish.seconds),
        ("memory", held, show_size, plan.wish.memory),
    )
    drawn, names, top = [], list(dict.fromkeys(each.method for each in plan.candidates)), _HEAD
    for name, cost, show, limit in panels:
        curves = trade_offs(plan, cost)
        names += [curve.method for curve in curves if curve.method not in names]
        colours = {method: COLOURS[number % len(COLOURS)] for number, method in enumerate(names)}
        panel = _Panel(top, [cost(each) for curve in curves for each in curve.settings], limit)
        drawn += [*panel.axes(name, show), *panel.limits(plan.wish.recall, limit)]
        for curve in curves[::-1]:
            drawn += panel.curve(curve, cost, show, colours[curve.method])
        if plan.chosen is not None:
            x, y = panel.x(plan.chosen.estimate.recall), panel.y(cost(plan.chosen))
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="#333" stroke-width="1.5"/>')
        top += _PANEL + _GAP
    legend, height = _legend(names, colours, top - 18)
    chosen = plan.chosen and f"Circled: {plan.chosen.method} {parameters(plan.chosen)}".rstrip()
    words = [("title", 26, asked(plan.wish)), ("soft", 46, f"{wanted(plan.wish)}. {chosen or 'This cannot be had.'}")]
    titles = [f'<text class="{kind}" x="16" y="{y}">{escape(said)}</text>' for kind, y, said in words]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="white"/>'
        f"{''.join([*titles, *drawn, *legend])}</svg>\n"
    )


class _Panel:
    """One panel: recall to the right, a cost upwards on a logarithmic scale."""

    def __init__(self, top: int, costs: Sequence[float], limit: float | None) -> None:
        low, high = min(costs), max(costs)
        if limit is not None and low / 10 < limit < high * 10:
            low, high = min(low, limit), max(high, limit)
        self.top, self.low, self.high = top, math.log(low / 1.3), math.log(high * 1.3)

    def x(self, recall: float) -> float:
        return _LEFT + place(recall) * (WIDTH - _LEFT - _RIGHT)

    def y(self, cost: float) -> float:
        return self.top + _PANEL * (self.high - math.log(cost)) / (self.high - self.low)

    def axes(self, name: str, show: Callable[[float], str]) -> Iterator[str]:
        """Yield the lines of both axes with what they are called."""
        floor = self.top + _PANEL
        for at, said in ticks():
            x = _LEFT + at * (WIDTH - _LEFT - _RIGHT)
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{floor}"/>'
            yield f'<text x="{x:.1f}" y="{floor + 18}" text-anchor="middle">{said}</text>'
        for cost in _round(math.exp(self.low), math.exp(self.high), _TIMES if show is show_seconds else ()):
            y = self.y(cost)
            yield f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{show(cost)}</text>'
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        yield f'<text class="soft" x="{middle}" y="{floor + 38}" text-anchor="middle">recall</text>'
        yield f'<text class="soft" x="{_LEFT}" y="{self.top - 8}">{name}</text>'

    def limits(self, recall: float, limit: float | None) -> Iterator[str]:
        """Yield lines for what was asked."""
        x = self.x(recall)
        yield f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{self.top + _PANEL}"/>'
        if limit is not None and self.low <= math.log(limit) <= self.high:
            y = self.y(limit)
            yield f'<line class="limit" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'

    def curve(
        self, curve: Curve, cost: Callable[[Candidate], float], show: Callable[[float], str], colour: str
    ) -> Iterator[str]:
        """Yield the steps of a curve, and a dot for each of its settings."""
        steps, x = [], float(_LEFT)
        for each in curve.settings:
            to, y = self.x(each.estimate.recall), self.y(cost(each))
            steps += [f"{x:.1f},{y:.1f}", f"{to:.1f},{y:.1f}"]
            x = to
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(steps)}"/>'
        for each in curve.settings:
            said = f"{curve.method} {parameters(each)}: {show_share(each.estimate.recall)}, {show(cost(each))}"
            to, y = self.x(each.estimate.recall), self.y(cost(each))
            yield f'<circle cx="{to:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>{escape(said)}</title></circle>'


def _round(low: float, high: float, known: Sequence[float] = ()) -> list[float]:
    """Return round numbers between two: of those `known`, or powers of ten; 2 and 5 of each where these are few.

    >>> _round(7.0, 4000.0, _TIMES), _round(3.0, 40.0)
    ([10, 60, 600, 3600], [5.0, 10.0, 20.0])
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [each for each in known or [10.0**power for power in decades] if low <= each <= high]
    if len(found) >= 3:
        return found[:: math.ceil(len(found) / 8)]
    return [each * 10.0**power for power in decades for each in (1, 2, 5) if low <= each * 10.0**power <= high]


def _legend(names: Sequence[str], colours: dict[str, str], top: int) -> tuple[list[str], int]:
    """Return a legend in as many lines as it takes, and where it ends."""
    drawn, x, y = [], 16, top
    for name in names:
        room = 38 + 7 * len(name)
        if x + room > WIDTH:
            x, y = 16, y + _LINE
        drawn.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" rx="2" fill="{colours[name]}"/>')
        drawn.append(f'<text x="{x + 18}" y="{y}">{escape(name)}</text>')
        x += room
    return drawn, y + _LINE
