"""ISSL Table 1 and Figure 2: expansion up to i bits, new candidates up to j bits.

usage: python -m experiments.issl_breadth [--count 1048576] [--texts FILE.parquet] [--write]

1024 bits in slices of 16, k = 30; ratio and recall at 10; the row that is searched for does not count. One thread.
Texts are signed by TopSig, as in the paper, and by simhash. One draw of the rows that are searched for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from experiments.slice_data import BITS, documents, nearest, options, random_signatures, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, Matches, Signatures, SliceIndex, SliceSearch
from sosie.evaluation.ratios import cumulative_distance_ratio, distance_ratios, recall_at
from sosie.types import F64

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

    @cached_property
    def curves(self) -> dict[int, F64]:
        """CDR@p for every rank p, by breadth."""
        found = {}
        for breadth in CURVES:
            ratios = distance_ratios(self.search(breadth, breadth)[1], self.exact, K, BITS)
            found[breadth] = np.cumsum(np.nanmean(ratios, axis=0)) / np.arange(1, K + 1)
        return found

    def line(self, i: int, j: int) -> list[str]:
        """Return a row of Table 1."""
        spent, found = self.search(i, j)
        ratio = cumulative_distance_ratio(found, self.exact, 10, BITS)
        return [f"{spent:.3f}", f"{ratio:.3f}", percent(recall_at(found, self.exact, 10))]


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__ or "", 2**16, 64).parse_args()
    texts = [Run(name, rows, given.queries) for name, rows in documents(given)]
    runs = [*texts]
    runs.append(Run(f"{given.count:,} random", random_signatures(given.count), given.queries))
    lines = [
        [i, j, f"{ms:.3f}", f"{ratio:.3f}", *(cell for run in runs for cell in run.line(i, j))]
        for (i, j), (ms, ratio) in PAPER.items()
    ]
    lines.append(["exhaustive", "", "", "1.000", *(c for r in runs for c in (f"{r.scan:.3f}", "1.000", "100 %"))])
    header = ["i", "j", "paper (ms, 20 threads)", "paper's CDR@10"]
    header += [f"{run.name}{what}" for run in runs for what in (" (ms)", ": CDR@10", ": recall@10")]
    rate = given.count * BITS / 8 / 1e6 / runs[-1].scan
    said = f"{len(runs[0].queries)} searches. The exhaustive search of random bits goes through {rate:.0f} GB a second."
    publish("issl.md", "issl-table-1", f"{said}\n\n{table(header, lines)}", given.write)
    ranks, parts = (1, 5, 10, 20, 30), []
    for run in texts:
        shown = [[breadth, *(f"{curve[rank - 1]:.3f}" for rank in ranks)] for breadth, curve in run.curves.items()]
        figure = table(["expansion (bits)", *(f"CDR@{rank}" for rank in ranks)], shown)
        parts.append(f"{run.name}, {len(run.queries)} searches:\n\n{figure}")
    publish("issl.md", "issl-figure-2", "\n\n".join(parts), given.write)

    def draw(axes: Any) -> None:
        for run, style in zip(texts, ("-", ":"), strict=False):
            for number, (breadth, curve) in enumerate(run.curves.items()):
                axes.plot(range(1, K + 1), curve, f"C{number}{style}", label=f"{breadth}-bit, {run.name}")
        axes.set(xlabel="rank p", ylabel="CDR@p", title="ISSL Figure 2")

    picture("issl-expansion", given.write, draw)


if __name__ == "__main__":
    main()
