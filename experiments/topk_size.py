"""TOPK Figure 5: how time grows with the collection, for slice lists and for an exhaustive search.

usage: python -m experiments.topk_size [--sizes 200000 500000 1000000 2000000] [--width 23] [--write]

Random signatures, breadth 3, the 10 nearest. Both are timed on one thread, the exhaustive search as a batch and for a
single query.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.slice_data import options, random_signatures, some
from experiments.slice_page import cpu_ms, picture, publish, table
from sosie import FlatIndex, SliceIndex, SliceSearch

K, BREADTH = 10, 3
PAPER = {200_000: (39.4, 3.0), 2_000_000: (382.4, 15.2)}  # exhaustive, lists; ms


def measured(count: int, width: int, asked: int) -> tuple[float, float, float]:
    """Return the milliseconds of a query: exhaustive in a batch, exhaustive alone, by lists."""
    rows = random_signatures(count)
    queries = some(rows, asked)
    one, flat = queries.take(np.arange(1)), FlatIndex(rows)
    batch = cpu_ms(lambda: flat.search(queries, K, threads=1), len(queries), 3)[0]
    single = cpu_ms(lambda: flat.search(one, K, threads=1), 1, 5)[0]
    flat = None  # type: ignore[assignment]
    index = SliceIndex(rows, width, SliceSearch(BREADTH))
    return batch, single, cpu_ms(lambda: index.search(queries, K, threads=1), len(queries), 3)[0]


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__ or "", 0, 64)
    parser.add_argument("--sizes", type=int, nargs="+", default=[25_000, 50_000, 100_000, 200_000])
    parser.add_argument("--width", type=int, default=20)
    given = parser.parse_args()
    times = {size: measured(size, given.width, given.queries) for size in given.sizes}
    lines = [
        [
            f"{size:,}",
            *(f"{ms:.2f}" for ms in spent),
            f"{spent[0] / spent[2]:.1f}",
            f"{spent[1] / spent[2]:.1f}",
            *(
                (f"{PAPER[size][0]}", f"{PAPER[size][1]}", f"{PAPER[size][0] / PAPER[size][1]:.1f}")
                if size in PAPER
                else [""] * 3
            ),
        ]
        for size, spent in times.items()
    ]
    header = [
        "rows",
        "exhaustive, batch (ms)",
        "exhaustive, single (ms)",
        "lists (ms)",
        "batch / lists",
        "single / lists",
    ]
    header += ["paper's exhaustive", "paper's lists", "paper's ratio"]
    publish("topk.md", "topk-size", f"Slices of {given.width} bits:\n\n{table(header, lines)}", given.write)

    def draw(axes: Any) -> None:
        columns = zip(*times.values(), strict=True)
        for column, name in zip(columns, ("exhaustive, batch", "exhaustive, single", "slice lists"), strict=True):
            axes.plot(given.sizes, column, "-o", ms=3, label=name)
        for which, (name, mark) in enumerate((("paper, exhaustive", "kx"), ("paper, lists", "k*"))):
            axes.plot(list(PAPER), [ms[which] for ms in PAPER.values()], mark, label=name)
        axes.set(xlabel="rows", ylabel="ms per query", xscale="log", yscale="log", title="TOPK Figure 5")

    picture("topk-size", given.write, draw)


if __name__ == "__main__":
    main()
