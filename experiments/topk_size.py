"""TOPK Figure 5: how time grows with the collection, for slice lists and for an exhaustive search.

usage: python -m experiments.topk_size [--sizes 200000 500000 1000000 2000000] [--width 23] [--write]

Random signatures, breadth 3, the 10 nearest. Both are timed on one thread, the exhaustive search as a batch and for a
single query.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.slice_data import options, random_signatures, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, SliceIndex, SliceSearch
from sosie.evaluation.ratios import recall_at

K, BREADTH = 10, 3
PAPER = {200_000: (39.4, 3.0), 2_000_000: (382.4, 15.2)}  # exhaustive, lists; ms


def measured(count: int, width: int, asked: int) -> tuple[float, float, float, float]:
    """Return the milliseconds of a query, exhaustive in a batch, exhaustive alone, by lists; and the lists' recall."""
    rows = random_signatures(count)
    queries = some(rows, asked)
    one, flat = queries.take(np.arange(1)), FlatIndex(rows)
    batch = cpu_ms(lambda: flat.search(queries, K, threads=1), len(queries), 3)[0]
    single = cpu_ms(lambda: flat.search(one, K, threads=1), 1, 5)[0]
    exact = flat.search(queries, K, exclude_self=True)
    index = SliceIndex(rows, width, SliceSearch(BREADTH, 1001))
    spent, found = cpu_ms(lambda: index.search(queries, K, exclude_self=True, threads=1), len(queries), 3)
    return batch, single, spent, recall_at(found, exact, K)


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__ or "", 0, 64)
    parser.add_argument("--sizes", type=int, nargs="+", default=[25_000, 50_000, 100_000, 200_000])
    parser.add_argument("--width", type=int, default=20)
    given = parser.parse_args()
    times = {size: measured(size, given.width, given.queries) for size in given.sizes}
    lines = []
    for size, (batch, single, lists, recall) in times.items():
        paper = PAPER.get(size)
        theirs = [str(paper[0]), str(paper[1]), f"{paper[0] / paper[1]:.1f}"] if paper else [""] * 3
        ours = [f"{batch:.2f}", f"{single:.2f}", f"{lists:.2f}", percent(recall)]
        lines.append([f"{size:,}", *ours, f"{batch / lists:.1f}", f"{single / lists:.1f}", *theirs])
    header = ["rows", "exhaustive, batch (ms)", "exhaustive, single (ms)", "lists (ms)", "recall@10"]
    header += ["batch / lists", "single / lists", "paper's exhaustive", "paper's lists", "paper's ratio"]
    said = f"Slices of {given.width} bits, {given.queries} searches of each size; times are the best of three to five."
    publish("topk.md", "topk-size", f"{said}\n\n{table(header, lines)}", given.write)

    def draw(axes: Any) -> None:
        columns = list(zip(*times.values(), strict=True))[:3]
        for column, name in zip(columns, ("exhaustive, batch", "exhaustive, single", "slice lists"), strict=True):
            axes.plot(given.sizes, column, "-o", ms=3, label=name)
        for which, (name, mark) in enumerate((("paper, exhaustive", "kx"), ("paper, lists", "k*"))):
            axes.plot(list(PAPER), [ms[which] for ms in PAPER.values()], mark, label=name)
        axes.set(xlabel="rows", ylabel="ms per query", xscale="log", yscale="log", title="TOPK Figure 5")

    picture("topk-size", given.write, draw)


if __name__ == "__main__":
    main()
