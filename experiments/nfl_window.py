"""NFL, Figures 5 to 8: recall, comparisons and time of the sliding window, beside brute force and the paper's model.

usage: python -m experiments.nfl_window [--texts FILE.parquet] [--rows N] [--tables N] [--step N] [--write]

Rows are a 200th of the paper's, and so are the windows: the share of all rows in a window, on which recall and
relative cost depend, is the paper's. Windows of less than one row are left out. Tables are drawn by seeds, --step of
them at a time, and the pairs of all draws so far are put together. Times are CPU times of one thread, the better of
two runs, of windows as wide as the paper's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.collection import read_texts
from experiments.nfl_window_data import BITS, ENGLISH, GERMAN, PAPER_ROWS, Sides, generated_sides, sides_of_texts
from experiments.nfl_window_plots import draw_comparisons, draw_recall, draw_tradeoff, draw_windows
from experiments.slice_page import percent, publish, table
from sosie import Window, join
from sosie.planner.models.window import chance_within, expected_recall, relative_cost, window_comparisons
from sosie.types import F64, I64, Pairs

WINDOWS = (200, 1000, 2000, 5000)  # of the paper's size
TIMED = (200, 500, 1000, 2000, 5000)
SHOWN = (100, 200, 300, 500, 1000)  # tables
CHUNK = 490_000
WANTED = {0.93: "35 %", 0.95: "40 %", 0.98: "50 %", 0.99: "", 0.995: "100 %"}  # relative recall: the paper's cost
NAME = "nfl-window.md"


@dataclass(frozen=True, eq=False)
class Swept:
    """What was found by one window: recall and comparisons by the number of tables; `seeds` for the fewest."""

    paper: int
    tables: list[int]
    recall: list[float]
    model: list[tuple[float, float]]
    comparisons: list[int]
    seeds: list[float]


@dataclass(frozen=True, eq=False)
class Measured:
    """Both sides, what brute force finds of the true pairs, and each window."""

    sides: Sides
    all_near: I64
    bound: float
    windows: list[Swept]


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


def measure(sides: Sides, tables: int, step: int) -> Measured:
    """Join by every window with ever more tables, and by brute force."""
    near = sides.numbers(join(sides.a, sides.b, radius=BITS.radius, method="brute"))
    swept = [sweep(sides, paper, tables, step) for paper in WINDOWS if sides.fits(paper)]
    return Measured(sides, near, sides.recall(near), swept)


def sweep(sides: Sides, paper: int, tables: int, step: int) -> Swept:
    """Join by a window with ever more tables, and return what all so far have found."""
    found, compared = np.empty(0, np.int64), 0
    swept = Swept(paper, [], [], [], [], [])
    for seed in range(min(tables, _enough(paper)) // step):
        by = Window(step, sides.window(paper), sides.window(CHUNK), seed)
        pairs = join(sides.a, sides.b, radius=BITS.radius, method=by)
        assert pairs.counters["window_comparisons"] == window_comparisons(sides.rows, by)
        compared += pairs.counters["comparisons"]
        found = np.union1d(found, sides.numbers(pairs))
        swept.seeds.append(sides.recall(sides.numbers(pairs)))
        swept.tables.append(step * (seed + 1))
        swept.recall.append(sides.recall(found))
        swept.comparisons.append(compared)
        expected = expected_recall(sides.cosines, BITS, sides.rows, Window(swept.tables[-1], by.window))
        swept.model.append((float(expected[0].mean()), float(expected[1].mean())))
    return swept


def _enough(window: int) -> int:
    """Return how many tables cost a little more than brute force."""
    return int(1.1 / relative_cost(PAPER_ROWS, Window(1, window)))


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


def _explained(windows: F64, seconds: F64) -> float:
    """Return the share of the variance that a line explains (R2)."""
    line = np.polyval(np.polyfit(windows, seconds, 1), windows)
    return float(1 - ((seconds - line) ** 2).sum() / ((seconds - seconds.mean()) ** 2).sum())


def tell_times(times: Times, measured: Measured) -> str:
    """Return Figure 5 as a table: our times, and what they come to at the paper's size."""
    rows, swept = [], {each.paper: each for each in measured.windows}
    for tables in (100, 200, 300):
        for window in TIMED:
            recall = _at(swept[window], tables) if window in swept else None
            share = times.relative(tables, window)
            rows.append(
                [
                    tables,
                    window,
                    f"{times.seconds[tables // 10, window]:.2f}",
                    f"{share * GERMAN * ENGLISH * times.brute / 3.6e12:.2f}",
                    "" if recall is None else f"{recall:.3f}",
                    percent(relative_cost(PAPER_ROWS, Window(tables, window))),
                    percent(share),
                ]
            )
    lines = [
        _explained(np.array(TIMED, float), np.array([times.seconds[q, window] for window in TIMED]))
        for q in (10, 20, 30)
    ]
    head = ["Q", "B", "seconds of Q / 10 tables", "hours at the paper's size", "recall", "cost", "cost in time"]
    costs = table(
        ["B", "a row of a table, ns", "a comparison, ns"],
        [[window, f"{times.row[window]:.0f}", f"{times.comparison[window]:.2f}"] for window in TIMED],
    )
    hours = GERMAN * ENGLISH * times.brute / 3.6e12
    return (
        f"{measured.sides.name}. Brute force: {times.brute:.2f} ns a comparison, {hours:.1f} hours of one core at the "
        f"paper's size. R2 of lines over B: {', '.join(f'{r2:.4f}' for r2 in lines)}; the paper: above .999.\n\n"
        f"{table(head, rows)}\n\n{costs}"
    )


def _at(swept: Swept, tables: int) -> float | None:
    return swept.recall[swept.tables.index(tables)] if tables in swept.tables else None


def tell(measured: Measured, times: Times) -> str:
    """Return Figures 6 to 8 as tables."""
    sides, model = measured.sides, float(chance_within(measured.sides.cosines, BITS).mean())
    first = measured.windows[0]
    shown = [tables for tables in SHOWN if tables in first.tables] or first.tables
    head = ["B", *(f"Q = {tables}" for tables in shown)]
    recall = table(head, ([each.paper, *_cells(each, shown)] for each in measured.windows))
    draws = [(each.paper, each.seeds) for each in measured.windows if len(each.seeds) > 1]
    spread = ", ".join(f"{np.std(seeds, ddof=1):.3f} (B = {paper}, {len(seeds)} draws)" for paper, seeds in draws)
    return (
        f"{sides.name}: {len(sides.true):,} true pairs of mean cosine {sides.cosines.mean():.3f}; brute force finds "
        f"{measured.bound:.3f} of them, {model:.3f} by the model, .76 in the paper.\n\n"
        "Recall (in brackets the model, with the larger and the smaller number of bits), and comparisons as a share "
        f"of those of brute force:\n\n{recall}\n\n"
        f"Standard deviation of the recall by {first.tables[0]} tables: {spread}.\n\n"
        f"The least cost of a share of what brute force finds:\n\n{_crossing(measured, times)}\n\n"
        f"What the join says of its share of all {len(measured.all_near):,} pairs within the radius, one seed:\n\n"
        f"{_stated(measured, first.tables[-1])}"
    )


def _cells(swept: Swept, shown: list[int]) -> Iterator[str]:
    for tables in shown:
        if tables not in swept.tables:
            yield ""
            continue
        at = swept.tables.index(tables)
        low, high = swept.model[at]
        cost = relative_cost(PAPER_ROWS, Window(tables, swept.paper))
        yield f"{swept.recall[at]:.3f} ({low:.3f} to {high:.3f}), {percent(cost)}"


def _crossing(measured: Measured, times: Times) -> str:
    """Return for shares of brute force's recall the cheapest setting, by comparisons and by time."""
    rows = []
    for wanted, paper in WANTED.items():
        reached = [
            (each.paper, tables)
            for each in measured.windows
            for tables, recall in zip(each.tables, each.recall, strict=True)
            if recall >= wanted * measured.bound
        ]
        row = [percent(wanted), paper]
        for cost in (lambda q, b: relative_cost(PAPER_ROWS, Window(q, b)), times.relative):
            best = min(((cost(tables, window), tables, window) for window, tables in reached), default=None)
            row.append("not reached" if best is None else f"{percent(best[0])} (Q = {best[1]}, B = {best[2]})")
        rows.append(row)
    return table(["share", "paper, comparisons", "ours, comparisons", "ours, time"], rows)


def _stated(measured: Measured, most: int) -> str:
    rows, sides = [], measured.sides
    for window, tables in ((1000, 300), (2000, 100), (2000, 300)):
        if not sides.fits(window):
            continue
        by = Window(min(tables, most), sides.window(window), seed=99)
        found = join(sides.a, sides.b, radius=BITS.radius, method=by)
        said = "nothing" if found.recall is None else f"{found.recall:.3f}"
        interval = "" if found.interval is None else f"{found.interval[0]:.3f} to {found.interval[1]:.3f}"
        rows.append([by.tables, window, said, interval, f"{len(found) / max(len(measured.all_near), 1):.3f}"])
    return table(["Q", "B", "stated", "interval", "measured"], rows)


def main() -> None:
    """Measure, print, and write and draw if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", help="a Parquet file with a column text, beside the generated signatures")
    parser.add_argument("--rows", type=int, default=PAPER_ROWS // 200, help="on both sides")
    parser.add_argument("--tables", type=int, default=1300, help="at most")
    parser.add_argument("--step", type=int, default=100, help="tables that are drawn at a time")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    options = parser.parse_args()
    sides = [generated_sides(options.rows)]
    if options.texts:
        sides.append(sides_of_texts(read_texts(options), options.rows))
    times = take_times(sides[0])
    measured = []
    for each, section in zip(sides, ("generated", "texts"), strict=False):
        measured.append(measure(each, options.tables, options.step))
        if section == "generated":
            publish(NAME, "time", tell_times(times, measured[0]), options.write)
        publish(NAME, section, tell(measured[-1], times), options.write)
    if options.write:
        draw_windows(times)
        draw_recall(measured)
        draw_comparisons(measured)
        draw_tradeoff(measured, times)


if __name__ == "__main__":
    main()
