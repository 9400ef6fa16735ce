"""ISSL Figure 3: one more bit of width for every doubling of the collection.

usage: python -m experiments.issl_growth [--largest 20] [--write]

Random signatures of 1024 bits, 2^n of them in slices of n bits (the paper's figure has no numbers in its text), beside
slices that stay at 16 bits and an exhaustive search. Breadth 3, k = 10, one thread.
"""

from __future__ import annotations

from typing import Any

from experiments.slice_data import BITS, nearest, options, random_signatures, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, Signatures, SliceIndex, SliceSearch
from sosie.evaluation.ratios import cumulative_distance_ratio, recall_at

K, BREADTH, FIXED, SMALLEST = 10, 3, 16, 14


def by_lists(rows: Signatures, queries: Signatures, width: int) -> tuple[float, float, float]:
    """Return milliseconds, CDR and recall."""
    exact, index = nearest(rows, queries, K), SliceIndex(rows, width, SliceSearch(BREADTH, 1001))
    spent, found = cpu_ms(lambda: index.search(queries, K, exclude_self=True, threads=1), len(queries), 3)
    return spent, cumulative_distance_ratio(found, exact, K, BITS), recall_at(found, exact, K)


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__ or "", 0, 64)
    parser.add_argument("--largest", type=int, default=17, help="log2 of the largest collection (17)")
    given = parser.parse_args()
    sizes, lines = range(SMALLEST, given.largest + 1), []
    for log2 in sizes:
        rows = random_signatures(2**log2)
        queries, flat = some(rows, given.queries), FlatIndex(rows)
        scan = cpu_ms(lambda flat=flat, queries=queries: flat.search(queries, K, threads=1), len(queries), 3)[0]
        lines.append((log2, by_lists(rows, queries, log2), by_lists(rows, queries, FIXED), scan))
    shown = [
        [
            f"2^{log2}",
            log2,
            f"{own[0]:.3f}",
            f"{own[1]:.3f}",
            percent(own[2]),
            f"{fixed[0]:.3f}",
            percent(fixed[2]),
            f"{scan:.3f}",
        ]
        for log2, own, fixed, scan in lines
    ]
    header = ["rows", "width", "ms", "CDR@10", "recall@10", "width 16: ms", "recall@10", "exhaustive, batch (ms)"]
    said = f"{given.queries} searches of each size, one draw of the bits; times are the best of three."
    publish("issl.md", "issl-figure-3", f"{said}\n\n{table(header, shown)}", given.write)

    def draw(axes: Any) -> None:
        axes.plot(sizes, [own[0] for _, own, _, _ in lines], "-o", ms=3, label="width = log2(rows)")
        axes.plot(sizes, [fixed[0] for _, _, fixed, _ in lines], "-o", ms=3, label="width 16")
        axes.plot(sizes, [scan for *_, scan in lines], "k:", label="exhaustive, batch")
        axes.set(xlabel="log2(rows)", ylabel="ms per query", yscale="log", title="ISSL Figure 3")

    picture("issl-growth", given.write, draw)


if __name__ == "__main__":
    main()
