"""NFL across two languages: Figure 1 (similarities of twins), Table 2 (bits and vectors) and Figure 6 (the window).

usage: python -m experiments.nfl_links [--source FILE --target FILE --dictionary D] [--only PART ...] [--write]

SOURCE and TARGET are Parquet files with columns key, text and package; twins have the same key. Sources are projected
into the language of the targets, as in the paper, and also compared as `sosie link` does: in both directions, and by
letters. True pairs of Table 2 and Figure 6 are those of a sample of 1,064 sources with all targets whose exact vectors
have a similarity of at least .3. Samples are of one seed, signatures of Table 2 of five, those of Figure 6 of one.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise

import numpy as np

from experiments.figure import COLOURS, panels, save
from experiments.nfl_links_data import PROJECTED, SIMILARITIES, Bilingual, add_sides, read_sides, rows_of, worded
from experiments.nfl_table2 import COSINE, TIMED, Join, cpu_seconds, section
from experiments.nfl_window import Measured, Swept, sweep
from experiments.nfl_window_data import BITS, PAPER_ROWS, SAMPLE, Sides
from experiments.nfl_window_plots import draw_recall
from experiments.slice_page import percent, publish, table
from sosie import Signatures, join
from sosie.crosslingual.compared import above, similarities
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import USUAL, Views
from sosie.planner.models.window import chance_within
from sosie.storage.room import Room
from sosie.types import F64, I64

PAGE = "nfl-links.md"
TWINS = 505  # pairs of Figure 1
WINDOWS = (200, 500, 1000)  # of the paper's size
SHOWN = (100, 200, 300, 500, 1000)  # tables
REFERENCE = {"Berkeley aligner": 0.397, "GIZA++": 0.351, "machine translation": 0.449}  # mean cosines, Europarl
PICTURE = "![Recall by the number of tables, with the model](../images/experiments/nfl-links-figure6.png)"
PARTS = ("figure-1", "table-2", "figure-6")


class Across(Join):
    """A sample of the sources, all targets, and their true pairs; documents without a vector are left out."""

    def __init__(self, name: str, views: Views, size: int, room: Room) -> None:
        self.name, self.room = name, room
        self.sources, targets = worded(views.source), worded(views.target)
        draw = np.random.default_rng(0)
        self.drawn: I64 = np.sort(draw.choice(len(self.sources), min(size, len(self.sources)), replace=False))
        self.every = rows_of(views.source, self.sources)
        self.views = replace(views, source=rows_of(self.every, self.drawn), target=rows_of(views.target, targets))
        self.sizes = len(self.drawn), len(targets)
        above(replace(self.views, source=rows_of(self.every, self.drawn[:2])), COSINE, room)  # kernels are compiled
        self.seconds, found = cpu_seconds(lambda: above(self.views, COSINE, room))
        self.true, self.cosines = found.a * self.sizes[1] + found.b, np.minimum(found.similarity, 1.0)

    def signed(self, bits: int, seed: int) -> tuple[Signatures, Signatures]:
        """Sign the sample and the targets."""
        by = Signed(bits, seed)
        return by.sign(self.views.source, self.room)[0], by.sign(self.views.target, self.room)[0]

    def merged(self) -> float:
        """Return the nanoseconds of the similarity of two vectors, over random pairs."""
        draw, count = np.random.default_rng(0), min(TIMED, self.comparisons)
        a, b = (draw.integers(0, size, count) for size in self.sizes)
        similarities(self.views, a[:10], b[:10], 1)
        return 1e9 * cpu_seconds(lambda: similarities(self.views, a, b, 1))[0] / count

    def sides(self) -> Sides:
        """Return the signatures of all sources and targets, and the true pairs of the sample."""
        by = Signed(BITS.width)
        a, b = (by.sign(rows, self.room)[0] for rows in (self.every, self.views.target))
        true = self.drawn[self.true // self.sizes[1]] * self.sizes[1] + self.true % self.sizes[1]
        return Sides(self.name, a, b, true, self.cosines)


def figure_1(task: Bilingual, write: bool) -> str:
    """Return how similar twins are, in bins of a tenth, by each formula; draw it if asked."""
    drawn = np.sort(np.random.default_rng(0).choice(len(task.a), min(TWINS, len(task.a)), replace=False))
    ways = {
        "projected, the paper's formula": task.views(PROJECTED, "paper"),
        "projected, the later formula": task.views(PROJECTED),
        "both directions and letters": task.views(USUAL),
    }
    found = {name: similarities(views, task.a[drawn], task.b[drawn]) for name, views in ways.items()}
    edges = np.linspace(0, 1, 11)
    counts = {name: np.histogram(np.clip(each, 0, 1), edges)[0] for name, each in found.items()}
    if write:
        _draw_histogram(counts, edges)
    rows = [
        [f"{low:.1f} to {high:.1f}", *(counts[name][bin] for name in ways)]
        for bin, (low, high) in enumerate(pairwise(edges))
    ]
    for name, tell in (("mean", np.mean), ("standard deviation", np.std), (f"share >= {COSINE}", _share)):
        rows.append([name, *(f"{tell(found[way]):.3f}" for way in ways)])
    said = ", ".join(f"{name} {mean}" for name, mean in REFERENCE.items())
    text = f"{len(drawn):,} twins of {task.title}, one sample. Mean cosines of 505 pairs of Europarl: {said}."
    return f"{text}\n\n{table(['similarity', *ways], rows)}"


def _share(similarity: F64) -> float:
    return float((similarity >= COSINE).mean())


def _draw_histogram(counts: dict[str, I64], edges: F64) -> None:
    figure, (axes,) = panels()
    width = (edges[1] - edges[0]) / (len(counts) + 1)
    for place, (name, count) in enumerate(counts.items()):
        axes.bar(edges[:-1] + (place + 1) * width, count, width, color=COLOURS[place], label=name)
    axes.set(xlabel="similarity", ylabel="twins", xticks=edges, title="how similar twins are (Figure 1)")
    axes.legend(frameon=False, fontsize=7)
    save(figure, "nfl-links-figure1")


def measure(across: Across, tables: int, step: int) -> Measured:
    """Join by brute force and by each window."""
    sides = across.sides()
    near = sides.numbers(join(sides.a, sides.b, radius=BITS.radius, method="brute"))
    return Measured(sides, near, sides.recall(near), [sweep(sides, paper, tables, step) for paper in WINDOWS])


def figure_6(measured: Measured) -> str:
    """Return the recall and the cost of each window by the number of tables."""
    sides, first = measured.sides, measured.windows[0]
    shown = [tables for tables in SHOWN if tables in first.tables] or first.tables
    rows = [[each.paper, sides.window(each.paper), *_cells(each, shown, sides)] for each in measured.windows]
    model = float(chance_within(sides.cosines, BITS).mean())
    said = (
        f"**{sides.name}**: {len(sides.true):,} true pairs of mean similarity {sides.cosines.mean():.3f}, "
        f"{len(sides.a):,} x {len(sides.b):,} signatures, a {PAPER_ROWS / sides.rows:.0f}th of the paper's; brute "
        f"force finds {measured.bound:.3f} of the true pairs, {model:.3f} by Equation 5, .76 in the paper."
    )
    return f"{said}\n\n{table(['B', 'rows', *(f'Q = {tables}' for tables in shown)], rows)}"


def _cells(swept: Swept, shown: list[int], sides: Sides) -> list[str]:
    cells = []
    for tables in shown:
        at = swept.tables.index(tables)
        low, high = swept.model[at]
        cost = percent(swept.comparisons[at] / (len(sides.a) * len(sides.b)))
        cells.append(f"{swept.recall[at]:.3f} ({low:.3f} to {high:.3f}), {cost}")
    return cells


def main() -> None:
    """Measure, print, and write and draw if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_sides(parser)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="sources whose true pairs are looked for (1,064)")
    parser.add_argument("--tables", type=int, default=1000, help="at most")
    parser.add_argument("--step", type=int, default=100, help="tables that are drawn at a time")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="leave the others out")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    options = parser.parse_args()
    with read_sides(options) as task:
        if "figure-1" in options.only:
            publish(PAGE, "figure-1", figure_1(task, options.write), options.write)
        if set(options.only) == {"figure-1"}:
            return
        every = [Across(name, task.views(weights), options.sample, task.room) for name, weights in SIMILARITIES.items()]
        if "figure-6" in options.only:
            measured = [measure(each, options.tables, options.step) for each in every]
            publish(PAGE, "figure-6", "\n\n".join([PICTURE, *map(figure_6, measured)]), options.write)
            if options.write:
                draw_recall(measured, "nfl-links-figure6")
        if "table-2" in options.only:
            publish(PAGE, "table-2", "\n\n".join(map(section, every)), options.write)


if __name__ == "__main__":
    main()
