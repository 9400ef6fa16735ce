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
from sosie.kernels.slices.lists import list_bytes, slice_edges

K, BREADTH, BEST, BEST_MS, BEST_MIB = 10, 3, 23, 9.12, 6365.88


def measured(rows: Signatures, queries: Signatures, widths: list[int]) -> list[tuple[int, float, float, float, float]]:
    """Return width, MiB of the lists, milliseconds, CDR and recall."""
    exact, lines = nearest(rows, queries, K), []
    for width in widths:
        index = SliceIndex(rows, width, SliceSearch(BREADTH, 1001))
        spent, found = cpu_ms(
            lambda index=index: index.search(queries, K, exclude_self=True, threads=1), len(queries), 3
        )
        size = list_bytes(slice_edges(BITS, width), len(rows)) / 2**20
        lines.append((width, size, spent, cumulative_distance_ratio(found, exact, K, BITS), recall_at(found, exact, K)))
        del index
    return lines


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__ or "", 2**16, 64)
    parser.add_argument("--widths", type=int, nargs="+", default=[8, 10, 12, 14, 16, 18, 20])
    given = parser.parse_args()
    name, rows = documents(given)
    queries = some(rows, given.queries)
    flat = FlatIndex(rows)
    scan = cpu_ms(lambda: flat.search(queries, K, threads=1), len(queries), 3)[0]
    lines = measured(rows, queries, given.widths)
    shown = [
        [w, f"{mib:,.0f}", f"{ms:.2f}", percent(cdr), percent(recall)]
        + ([f"{BEST_MS} ms, {BEST_MIB:,} MB"] if w == BEST else [""])
        for w, mib, ms, cdr, recall in lines
    ]
    shown.append(["exhaustive", f"{len(rows) * BITS / 8 / 2**20:,.0f}", f"{scan:.2f}", "100 %", "100 %", ""])
    header = ["width", "lists (MiB)", "ms per query", "CDR@10", "recall@10", "paper's best"]
    publish("topk.md", "topk-width", f"{name}, breadth {BREADTH}:\n\n{table(header, shown)}", given.write)

    def draw(axes: Any) -> None:
        axes.plot([line[1] for line in lines], [line[2] for line in lines], "C0-o", ms=3, label=f"{name}, by width")
        for width, mib, ms, *_ in lines:
            axes.annotate(str(width), (mib, ms), textcoords="offset points", xytext=(4, 4), fontsize=7)
        axes.axhline(scan, color="C0", ls=":", label="exhaustive, the same rows")
        axes.plot([BEST_MIB], [BEST_MS], "k*", label="paper's best: 23 bits")
        axes.set(xlabel="MiB of lists", ylabel="ms per query", xscale="log", yscale="log", title="TOPK Figure 4")

    picture("topk-width", given.write, draw)


if __name__ == "__main__":
    main()
