"""ISSL Table 1 and Figure 2: expansion up to i bits, new candidates up to j bits.

usage: python -m experiments.issl_breadth [--count 1048576] [--texts FILE.parquet] [--write]

1024 bits in slices of 16, k = 30; ratio and recall at 10; the row that is searched for does not count. One thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.slice_data import BITS, documents, nearest, options, random_signatures, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, Matches, Signatures, SliceIndex, SliceSearch
from sosie.evaluation.ratios import cumulative_distance_ratio, distance_ratios, recall_at

WIDTH, K, CANDIDATES, FARTHEST = 16, 30, 100, 4
CURVES = (0, 1, 2, 3, 4, 5, 8)  # Figure 2
PAPER = {
    (0, 0): (0.040, 0.817),
    (1, 0): (0.112, 0.869),
    (1, 1): (0.193, 0.913),
    (2, 0): (0.568, 0.896),
    (2, 1): (0.703, 0.951),
    (2, 2): (1.399, 0.967),
    (3, 0): (2.242, 0.911),
    (3, 1): (2.452, 0.967),
    (3, 2): (3.251, 0.985),
    (3, 3): (5.080, 0.989),
    (4, 0): (7.011, 0.913),
    (4, 1): (7.258, 0.971),
    (4, 2): (8.517, 0.99),
    (4, 3): (11.483, 0.995),
    (4, 4): (12.744, 0.996),
}


class Run:
    """One collection, and the exact answers."""

    def __init__(self, name: str, rows: Signatures, queries: int) -> None:
        self.name, self.queries = name, some(rows, queries)
        self.exact = nearest(rows, self.queries, K)
        self.index = SliceIndex(rows, WIDTH)
        flat = FlatIndex(rows)
        self.scan = cpu_ms(lambda: flat.search(self.queries, K, threads=1), len(self.queries), 3)[0]

    def search(self, i: int, j: int) -> tuple[float, Matches]:
        """Return the milliseconds of a query, and what was found."""
        effort = SliceSearch(i, CANDIDATES, j=j)
        run = lambda: self.index.search(self.queries, K, effort=effort, exclude_self=True, threads=1)  # noqa: E731
        return cpu_ms(run, len(self.queries), 3 if i < FARTHEST else 1)

    def line(self, i: int, j: int) -> list[str]:
        """Return a row of Table 1."""
        spent, found = self.search(i, j)
        ratio = cumulative_distance_ratio(found, self.exact, 10, BITS)
        return [f"{spent:.3f}", f"{ratio:.3f}", percent(recall_at(found, self.exact, 10))]


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__ or "", 2**16, 64).parse_args()
    name, rows = documents(given)
    runs = [Run(name, rows, given.queries)]
    runs.append(Run(f"{given.count:,} random", random_signatures(given.count), given.queries))
    lines = [
        [i, j, f"{ms:.3f}", f"{ratio:.3f}", *(cell for run in runs for cell in run.line(i, j))]
        for (i, j), (ms, ratio) in PAPER.items()
    ]
    lines.append(["exhaustive", "", "", "1.000", *(c for r in runs for c in (f"{r.scan:.3f}", "1.000", "100 %"))])
    header = ["i", "j", "paper (ms, 20 threads)", "paper's CDR@10"]
    header += [f"{run.name}{what}" for run in runs for what in (" (ms)", ": CDR@10", ": recall@10")]
    publish("issl.md", "issl-table-1", table(header, lines), given.write)
    curves = {}
    for breadth in CURVES:
        ratios = distance_ratios(runs[0].search(breadth, breadth)[1], runs[0].exact, K, BITS)
        curves[breadth] = np.cumsum(np.nanmean(ratios, axis=0)) / np.arange(1, K + 1)
    ranks = (1, 5, 10, 20, 30)
    shown = [[breadth, *(f"{curve[rank - 1]:.3f}" for rank in ranks)] for breadth, curve in curves.items()]
    figure = table(["expansion (bits)", *(f"CDR@{rank}" for rank in ranks)], shown)
    publish("issl.md", "issl-figure-2", f"{name}:\n\n{figure}", given.write)

    def draw(axes: Any) -> None:
        for breadth, curve in curves.items():
            axes.plot(range(1, K + 1), curve, label=f"{breadth}-bit")
        axes.set(xlabel="rank p", ylabel="CDR@p", title=f"ISSL Figure 2: {name}")

    picture("issl-expansion", given.write, draw)


if __name__ == "__main__":
    main()
