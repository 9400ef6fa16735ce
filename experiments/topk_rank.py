"""TOPK Figure 1: how HDR evolves as more of the results are compared, with a neighbourhood of 0 and of 3 bits.

usage: python -m experiments.topk_rank [--texts FILE.parquet] [--queries 50] [--write]

Slices of 16 bits, the 100 nearest; the row that is searched for does not count. Texts are signed by TopSig, as in the
paper, and by simhash. One draw of the rows that are searched for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.slice_data import documents, options, some
from experiments.slice_page import percent, picture, publish, table
from sosie import Signatures, SliceIndex, SliceSearch
from sosie.evaluation.index_quality import IndexQuality, evaluate_index

WIDTH, K, BREADTHS, CANDIDATES = 16, 100, (0, 3), 1001
RANKS = (1, 2, 5, 10, 20, 50, 100)


def evolved(rows: Signatures, asked: int) -> dict[int, IndexQuality]:
    """Return what searches of each breadth find, by rank."""
    queries, index = some(rows, asked), SliceIndex(rows, WIDTH)
    return {
        breadth: evaluate_index(index, queries, K, effort=SliceSearch(breadth, CANDIDATES), exclude_self=True)
        for breadth in BREADTHS
    }


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__ or "", 2**16, 50).parse_args()
    found = {name: evolved(rows, given.queries) for name, rows in documents(given)}
    lines = [
        [name, breadth, *(f"{each.ratios[min(rank, each.k) - 1]:.3f}" for rank in RANKS), percent(each.recall)]
        for name, by_breadth in found.items()
        for breadth, each in by_breadth.items()
    ]
    header = ["rows", "breadth", *(f"HDR@{rank}" for rank in RANKS), f"recall@{K}"]
    publish("topk.md", "topk-figure-1", f"{given.queries} searches:\n\n{table(header, lines)}", given.write)

    def draw(axes: Any) -> None:
        for number, (name, by_breadth) in enumerate(found.items()):
            for style, (breadth, each) in zip("-:", by_breadth.items(), strict=True):
                axes.plot(np.arange(1, each.k + 1), each.ratios, f"C{number}{style}", label=f"{breadth}-bit, {name}")
        axes.axhline(1, color="k", lw=0.8, label="exhaustive")
        axes.set(xlabel="results compared", ylabel="HDR", title="TOPK Figure 1")

    picture("topk-rank", given.write, draw)


if __name__ == "__main__":
    main()
