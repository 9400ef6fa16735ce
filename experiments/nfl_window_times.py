"""What the sliding window of NFL takes on one thread, by rows of a table and by comparisons."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from experiments.nfl_window_data import BITS, ENGLISH, GERMAN, PAPER_ROWS, Sides
from sosie import Window, join
from sosie.planner.models.window import relative_cost
from sosie.types import F64, Pairs

TIMED = (200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Times:
    """What a window of a width costs, in nanoseconds: a row of a table, a comparison; and one of brute force.

    `seconds` are those of 10, 20 and 30 tables; R2 is the share of their variance that lines over the windows explain.
    """

    row: dict[int, float]
    comparison: dict[int, float]
    brute: float
    seconds: dict[tuple[int, int], float]

    def relative(self, tables: int, window: int) -> float:
        """Return the time at the paper's size, as a share of that of brute force there."""
        row = np.interp(window, [*self.row], [*self.row.values()])
        comparison = np.interp(window, [*self.comparison], [*self.comparison.values()])
        by = Window(tables, window)
        compared = relative_cost(PAPER_ROWS, by) * GERMAN * ENGLISH
        return float((tables * PAPER_ROWS * row + compared * comparison) / (GERMAN * ENGLISH * self.brute))


def take_times(sides: Sides) -> Times:
    """Return what rows and comparisons cost; the better of two runs each."""
    compared = len(sides.a) * len(sides.b)
    brute = 1e9 * _cpu(sides, "brute")[0] / compared
    row, comparison, seconds = {}, {}, {}
    for window in TIMED:
        for tables in (10, 20, 30):
            seconds[tables, window], pairs = _cpu(sides, Window(tables, window))
        done, made = pairs.counters["comparisons"], pairs.counters["making_chunks"]
        making = seconds[30, window] * made / (made + done)
        row[window] = 1e9 * making / (30 * sides.rows)
        comparison[window] = 1e9 * (seconds[30, window] - making) / done
    return Times(row, comparison, brute, seconds)


def _cpu(sides: Sides, method: object) -> tuple[float, Pairs]:
    taken = []
    for _ in range(2):
        start = time.process_time()
        pairs = join(sides.a, sides.b, radius=BITS.radius, method=method, threads=1)
        taken.append(time.process_time() - start)
    return min(taken), pairs


def explained(windows: F64, seconds: F64) -> float:
    """Return the share of the variance that a line explains (R2)."""
    line = np.polyval(np.polyfit(windows, seconds, 1), windows)
    return float(1 - ((seconds - line) ** 2).sum() / ((seconds - seconds.mean()) ** 2).sum())
