"""NFL, Figures 5 to 8: recall, comparisons and time of the sliding window, beside brute force and the paper's model.

usage: python -m experiments.nfl_window [--texts FILE] [--rows N] [--tables N] [--step N] [--only PART] [--write]

Rows are a 200th of the paper's, and so are the windows: the share of all rows in a window, on which recall and
relative cost depend, is the paper's. Windows of less than one row are left out. Tables are drawn by seeds, --step of
them at a time, and the pairs of all draws so far are put together. Times are CPU times of one thread, the better of
two runs, of windows as wide as the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.collection import read_texts
from experiments.nfl_window_data import BITS, ENGLISH, GERMAN, PAPER_ROWS, Sides, generated_sides, sides_of_texts
from experiments.nfl_window_model import planned_recall, tell_model
from experiments.nfl_window_plots import draw_comparisons, draw_modelled, draw_recall, draw_tradeoff, draw_windows
from experiments.nfl_window_times import TIMED, Times, explained, take_times
from experiments.slice_page import percent, publish, table
from sosie import Window, join
from sosie.planner.models.window import chance_within, recall_of_similar, relative_cost, window_comparisons
from sosie.types import I64

WINDOWS = (200, 1000, 2000, 5000)  # of the paper's size
SHOWN = (100, 200, 300, 500, 1000)  # tables
CHUNK = 490_000
WANTED = {0.93: "35 %", 0.95: "40 %", 0.98: "50 %", 0.99: "", 0.995: "100 %"}  # relative recall: the paper's cost
NAME = "nfl-window.md"
PARTS = ("time", "model")


@dataclass(frozen=True, eq=False)
class Swept:
    """What was found by one window: recall and comparisons by the number of tables; `seeds` for the fewest.

    `model` are both bounds of NFL's, `planned` is what the planner goes by.
    """

    paper: int
    tables: list[int]
    recall: list[float]
    model: list[tuple[float, float]]
    planned: list[float]
    comparisons: list[int]
    seeds: list[float]


@dataclass(frozen=True, eq=False)
class Measured:
    """Both sides, what brute force finds of the true pairs, and each window."""

    sides: Sides
    all_near: I64
    bound: float
    windows: list[Swept]


def measure(sides: Sides, tables: int, step: int) -> Measured:
    """Join by every window with ever more tables, and by brute force."""
    near = sides.numbers(join(sides.a, sides.b, radius=BITS.radius, method="brute"))
    swept = [sweep(sides, paper, tables, step) for paper in WINDOWS if sides.fits(paper)]
    return Measured(sides, near, sides.recall(near), swept)


def sweep(sides: Sides, paper: int, tables: int, step: int) -> Swept:
    """Join by a window with ever more tables, and return what all so far have found."""
    found, compared = np.empty(0, np.int64), 0
    swept = Swept(paper, [], [], [], [], [], [])
    planned = planned_recall(sides, sides.window(paper))
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
        every = Window(swept.tables[-1], by.window)
        swept.model.append(recall_of_similar(sides.similar, BITS, sides.rows, every))
        swept.planned.append(planned(every.tables))
    return swept


def _enough(window: int) -> int:
    """Return how many tables cost a little more than brute force."""
    return int(1.1 / relative_cost(PAPER_ROWS, Window(1, window)))


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
        explained(np.array(TIMED, float), np.array([times.seconds[q, window] for window in TIMED]))
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
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="leave the other out: times, or models")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    options = parser.parse_args()
    sides = [generated_sides(options.rows)]
    if options.texts:
        sides.append(sides_of_texts(read_texts(options), options.rows))
    times = take_times(sides[0]) if "time" in options.only else None
    measured = []
    for each, section in zip(sides, ("generated", "texts"), strict=False):
        measured.append(measure(each, options.tables, options.step))
        if times and section == "generated":
            publish(NAME, "time", tell_times(times, measured[0]), options.write)
        if times:
            publish(NAME, section, tell(measured[-1], times), options.write)
    if "model" in options.only:
        publish(NAME, "model", tell_model(measured), options.write)
    if options.write and times:
        draw_windows(times)
        draw_comparisons(measured)
        draw_tradeoff(measured, times)
    if options.write and "model" in options.only:
        draw_recall(measured)
        draw_modelled(measured)


if __name__ == "__main__":
    main()
