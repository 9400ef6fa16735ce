"""The trade-off: what each method takes at the least for a recall, as numbers and as a plot of plain characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sosie.planner.estimate import Candidate
from sosie.planner.limits import held
from sosie.planner.registry import METHODS, Method, candidates
from sosie.shown import show_seconds, show_share
from sosie.storage.size import show_size

if TYPE_CHECKING:
    from sosie.planner.plan import Plan

RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0)
# Where a recall is drawn: what is left to find is what matters, so the axis is wide where little is left.
_TICKS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
_WIDTH, _HEIGHT, _MARGIN = 61, 15, 9  # characters of the plot, and at least of the numbers beside it


@dataclass(frozen=True)
class Curve:
    """A method, and of its settings those that no other setting beats: more recall takes more."""

    method: str
    settings: tuple[Candidate, ...]

    def at(self, recall: float) -> Candidate | None:
        """Return the setting that takes the least and reaches a recall, None if the method does not."""
        return next((each for each in self.settings if each.estimate.recall >= recall), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        points = [
            {"recall": each.estimate.recall, "seconds": each.estimate.seconds, "bytes": held(each)}
            | {"parameters": dict(each.parameters)}
            for each in self.settings
        ]
        return {"method": self.method, "points": points}


def seconds(candidate: Candidate) -> float:
    """Return the time that a candidate takes."""
    return candidate.estimate.seconds


def trade_offs(
    plan: Plan, cost: Callable[[Candidate], float] = seconds, methods: Mapping[str, Method] | None = None
) -> tuple[Curve, ...]:
    """Return the curve of every method that can answer what a plan was asked, by time or another cost, over recall.

    The order is that of the plan's candidates. Its limits of memory and time do not matter here.
    """
    table = METHODS if methods is None else methods
    found: dict[str, list[Candidate]] = {each.method: [each] for each in plan.best}
    for recall in RECALLS:
        for each in candidates(replace(plan.wish, recall=recall), plan.facts, plan.machine, table):
            found.setdefault(each.method, []).append(each)
    for each in plan.candidates:
        found[each.method].append(each)
    return tuple(Curve(name, _unbeaten(settings, cost)) for name, settings in found.items())


def _unbeaten(settings: Sequence[Candidate], cost: Callable[[Candidate], float]) -> tuple[Candidate, ...]:
    """Return the settings of which none has more recall for less, the least recall first."""
    kept: list[Candidate] = []
    for each in sorted(settings, key=lambda each: (-each.estimate.recall, cost(each))):
        if not kept or cost(each) < cost(kept[-1]):
            kept.append(each)
    return tuple(kept[::-1])


def place(recall: float) -> float:
    """Return where a recall is on the axis, from 0 at .5 to 1 at 1.

    >>> place(0.5), round(place(0.9), 3), place(1.0), place(0.1)
    (0.0, 0.333, 1.0, 0.0)
    """
    for number, (low, high) in enumerate(pairwise(_TICKS)):
        if recall <= high:
            return max(number + (recall - low) / (high - low), 0.0) / (len(_TICKS) - 1)
    return 1.0


def ticks() -> list[tuple[float, str]]:
    """Return the recalls that the axis is marked with: where they are, and what they are called."""
    return [(place(recall), show_share(recall)) for recall in _TICKS]


def plot(curves: Sequence[Curve], cost: Callable[[Candidate], float] = seconds) -> list[str]:
    """Draw curves by letters over recall, time or bytes upwards on a logarithmic scale; the first curve is on top."""
    costs = [cost(each) for curve in curves for each in curve.settings]
    show = show_seconds if cost is seconds else show_size
    low, high = (math.log(max(limit, 1e-9)) for limit in (min(costs), max(costs)))
    low, high = (low, high) if high - low > math.log(4) else (low - math.log(2), high + math.log(2))
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    letters = [chr(ord("a") + number % 26) for number in range(len(curves))]
    for letter, curve in list(zip(letters, curves, strict=True))[::-1]:
        for column, recall in enumerate(_recall_at(column / (_WIDTH - 1)) for column in range(_WIDTH)):
            if (setting := curve.at(recall)) is not None:
                up = (math.log(max(cost(setting), 1e-9)) - low) / (high - low)
                rows[round((1 - up) * (_HEIGHT - 1))][column] = letter
    said = {number: show(math.exp(high + (low - high) * number / (_HEIGHT - 1))) for number in range(0, _HEIGHT, 7)}
    margin = max(_MARGIN, *map(len, said.values()))
    lines = [f"{said.get(number, ''):>{margin}} |{''.join(row)}".rstrip() for number, row in enumerate(rows)]
    axis = [" "] * (_WIDTH + 4)
    for at, name in ticks():
        column = round(at * (_WIDTH - 1)) - len(name) // 2
        axis[max(column, 0) : max(column, 0) + len(name)] = name
    legend = "   ".join(f"{letter} {curve.method}" for letter, curve in zip(letters, curves, strict=True))
    blank = " " * (margin + 1)
    return [*lines, f"{blank}+{'-' * _WIDTH}", f"{blank} {''.join(axis).rstrip()}", f"{blank} recall: {legend}"]


def _recall_at(position: float) -> float:
    """Return the recall at a place of the axis."""
    number = min(int(position * (len(_TICKS) - 1) + 1e-9), len(_TICKS) - 2)
    part = position * (len(_TICKS) - 1) - number
    return _TICKS[number] + part * (_TICKS[number + 1] - _TICKS[number]) if part < 1 - 1e-9 else _TICKS[number + 1]
