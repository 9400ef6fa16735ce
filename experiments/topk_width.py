"""TOPK Figure 4: how the width of the slices changes memory and time.

usage: python -m experiments.topk_width [--count 1048576] [--widths 16 20 23] [--texts FILE.parquet] [--write]

Breadth 3, the 10 nearest; the exhaustive search of the same rows beside it.
"""

from __future__ import annotations

from typing import Any

from experiments.slice_data import BITS, documents, nearest, options, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, Signatures, SliceIndex, SliceSearch
from sosie.evaluation.ratios import cumulative_distance_ratio, recall_at
from sosie.planner.methods.slices import list_bytes

K, BREADTH, BEST, BEST_MS, BEST_MIB = 10, 3, 23, 9.12, 6365.88


def measured(rows: Signatures, queries: Signatures, widths: list[int]) -> list[tuple[int, float, float, float, float]]:
    """Return width, MiB of the lists, milliseconds, CDR and recall."""
    exact, lines = nearest(rows, queries, K), []
    for width in widths:
        index = SliceIndex(rows, width, SliceSearch(BREADTH, 1001))
        spent, found = cpu_ms(
            lambda index=index: index.search(queries, K, exclude_self=True, threads=1), len(queries), 3
        )
        size = list_bytes(len(rows), BITS, width) / 2**20
        lines.append((width, size, spent, cumulative_distance_ratio(found, exact, K, BITS), recall_at(found, exact, K)))
        del index
    return lines


class Run:
    """One collection, searched in slices of every width, and exhaustively."""

    def __init__(self, name: str, rows: Signatures, asked: int, widths: list[int]) -> None:
        self.name, self.size, queries, flat = name, len(rows), some(rows, asked), FlatIndex(rows)
        self.searches = len(queries)
        self.scan = cpu_ms(lambda: flat.search(queries, K, threads=1), len(queries), 3)[0]
        self.lines = measured(rows, queries, widths)

    def section(self) -> str:
        """Return its table."""
        shown = [
            [w, f"{mib:,.0f}", f"{ms:.2f}", percent(cdr), percent(recall)]
            + ([f"{BEST_MS} ms, {BEST_MIB:,} MB"] if w == BEST else [""])
            for w, mib, ms, cdr, recall in self.lines
        ]
        shown.append(["exhaustive", f"{self.size * BITS / 8 / 2**20:,.0f}", f"{self.scan:.2f}", "100 %", "100 %", ""])
        header = ["width", "lists (MiB)", "ms per query", "CDR@10", "recall@10", "paper's best"]
        said = f"{self.name}, breadth {BREADTH}, {self.searches} searches, times are the best of three:"
        return f"{said}\n\n{table(header, shown)}"


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__ or "", 2**16, 64)
    parser.add_argument("--widths", type=int, nargs="+", default=[8, 10, 12, 14, 16, 18, 20])
    given = parser.parse_args()
    runs = [Run(name, rows, given.queries, given.widths) for name, rows in documents(given)]
    parts = [run.section() for run in runs]
    publish("topk.md", "topk-width", "\n\n".join(parts), given.write)

    def draw(axes: Any) -> None:
        for number, run in enumerate(runs):
            mib, ms = ([line[place] for line in run.lines] for place in (1, 2))
            axes.plot(mib, ms, f"C{number}-o", ms=3, label=f"{run.name}, by width")
            for width, x, y, *_ in run.lines if not number else ():  # the lists of both are as large
                axes.annotate(str(width), (x, y), textcoords="offset points", xytext=(4, 4), fontsize=7)
            axes.axhline(run.scan, color=f"C{number}", ls=":", label=f"exhaustive, {run.name}")
        axes.plot([BEST_MIB], [BEST_MS], "k*", label="paper's best: 23 bits")
        axes.set(xlabel="MiB of lists", ylabel="ms per query", xscale="log", yscale="log", title="TOPK Figure 4")

    picture("topk-width", given.write, draw)


if __name__ == "__main__":
    main()
